"""A tiny Llama becomes an OpenVINO model that computes the same, and one with rounded weights that is served."""

import json
from pathlib import Path

import numpy as np
import pytest

from errors import ModelError
from query_engine.llms.openvino import load_openvino
from settings import LLMSettings, Settings, load_settings
from tests.fakes.language_models import make_language_model

pytest.importorskip("torch")
pytestmark = pytest.mark.slow

TEXT = "Albert Betz published his limit for wind turbines in the year 1919. " * 8


def _settings(model: Path) -> Settings:
    llm = LLMSettings(provider="openvino", model=str(model), max_new_tokens=16, temperature=0)
    return load_settings().model_copy(update={"llm": llm})


@pytest.mark.parametrize("bits", ["int8", "int4"])
def test_a_model_is_converted_measured_and_served(tmp_path: Path, bits: str) -> None:
    from training.quantize.run import quantize  # noqa: PLC0415

    settings = _settings(make_language_model(tmp_path / "tiny"))
    shown = quantize(tmp_path / "made", bits, TEXT, tokens=300, settings=settings, threads=1)  # type: ignore[arg-type]

    figures = json.loads((tmp_path / "made" / "training.json").read_text())
    exact, rounded = figures["forms"]
    assert exact["loss"] == pytest.approx(figures["torch_loss"], abs=0.01)
    assert exact["agreement"] > 0.95
    assert rounded["size_mb"] < exact["size_mb"]
    assert f"OpenVINO, {bits}" in shown
    assert sorted(path.name for path in tmp_path.iterdir()) == ["made", "tiny"]
    loaded = load_openvino(_settings(tmp_path / "made").llm, tmp_path)
    assert isinstance(loaded.llm.complete("When?").text, str)


def test_a_conversion_that_computes_something_else_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from training.quantize import run  # noqa: PLC0415

    def other(_model: object, ids: list[int]) -> object:
        return np.random.default_rng(0).normal(size=(len(ids), 259)).astype(np.float32)

    monkeypatch.setattr(run, "torch_logits", other)
    settings = _settings(make_language_model(tmp_path / "tiny", layers=1))
    with pytest.raises(ModelError, match="its logits deviate by"):
        run.quantize(tmp_path / "made", "int8", TEXT, tokens=64, settings=settings, threads=1)
    assert not (tmp_path / "made").exists()


def test_a_model_with_another_kind_of_cache_is_refused() -> None:
    from transformers import MistralConfig, MistralForCausalLM  # noqa: PLC0415

    from training.base_model import BaseModel  # noqa: PLC0415
    from training.quantize.convert import convert  # noqa: PLC0415

    config = MistralConfig(
        vocab_size=64,
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=1,
        sliding_window=8,
    )
    base = BaseModel("sliding", MistralForCausalLM(config), None, from_gguf=False)
    with pytest.raises(ModelError, match="not one of plain keys and values"):
        convert(base)
