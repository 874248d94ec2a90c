"""LoRA of a tiny Llama: learns, goes on after a kill as if nothing had been, and is served by the provider."""

import argparse
import json
import shutil
from pathlib import Path

import pytest

from settings import LLMSettings, Settings, load_settings
from tests.fakes.language_models import make_language_model
from training.unfinished import TrainingError

pytest.importorskip("torch")
pytest.importorskip("peft")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing` is deprecated")]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_language_model(tmp_path_factory.mktemp("tiny") / "model")


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rows") / "rows.jsonl"
    lines = [
        {
            "question": f"When was number {n}?",
            "passages": [{"title": "T", "text": f"It was {n}."}],
            "answer": f"{n} [1].",
        }
        for n in range(24)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def _settings(model: Path) -> Settings:
    llm = LLMSettings(provider="huggingface", model=str(model), max_new_tokens=16, temperature=0)
    return load_settings().model_copy(update={"llm": llm})


def _arguments(rows: Path, out: Path, **changes: object) -> argparse.Namespace:
    values: dict[str, object] = {
        "rows": rows,
        "questions": None,
        "corpus": None,
        "adapter": False,
        "rank": 4,
        "max_tokens": 3000,
    }
    values |= {"held_out": 0.25, "out": out, "epochs": 2.0, "limit": None, "batch": 4, "rate": 1e-3, "seed": 0}
    return argparse.Namespace(**(values | {"threads": 1, "save_steps": 2} | changes))


def test_a_resumed_run_equals_an_unbroken_one_and_lowers_the_loss(
    model: Path, rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from safetensors.torch import load_file  # noqa: PLC0415
    from transformers import TrainerState  # noqa: PLC0415

    from training.lora.train import train  # noqa: PLC0415

    shown = train(_arguments(rows, tmp_path / "whole"), _settings(model))
    losses = json.loads((tmp_path / "whole" / "training.json").read_text())["loss"]
    assert losses["after"] < losses["before"]
    assert f"{losses['after']:.3f} after" in shown

    written = TrainerState.save_to_json

    def save(self: TrainerState, path: str) -> None:
        if self.global_step >= 6:
            raise KeyboardInterrupt  # before the checkpoint's last file
        written(self, path)

    monkeypatch.setattr(TrainerState, "save_to_json", save)
    with pytest.raises(KeyboardInterrupt):
        train(_arguments(rows, tmp_path / "broken"), _settings(model))
    monkeypatch.undo()
    assert not (tmp_path / "broken").exists()
    left = sorted(path.name for path in (tmp_path / "broken.unfinished" / "checkpoints").iterdir())
    assert "checkpoint-6" in left

    train(_arguments(rows, tmp_path / "broken"), _settings(model))
    ours, theirs = (load_file(tmp_path / name / "model.safetensors") for name in ("broken", "whole"))
    assert ours.keys() == theirs.keys()
    assert all(bool((ours[name] == theirs[name]).all()) for name in ours)
    assert not (tmp_path / "broken.unfinished").exists()


@pytest.mark.parametrize("adapter", [False, True])
def test_what_is_saved_is_served(model: Path, rows: Path, tmp_path: Path, adapter: bool) -> None:
    from query_engine.llms.huggingface import load_huggingface  # noqa: PLC0415
    from training.lora.train import train  # noqa: PLC0415

    train(_arguments(rows, tmp_path / "tuned", adapter=adapter, limit=8), _settings(model))

    assert (tmp_path / "tuned" / "adapter_config.json").is_file() == adapter
    loaded = load_huggingface(_settings(tmp_path / "tuned").llm)
    assert isinstance(loaded.llm.complete("When?").text, str)


def test_too_long_rows_are_not_learnt(model: Path, rows: Path, tmp_path: Path) -> None:
    from training.lora.train import train  # noqa: PLC0415

    with pytest.raises(TrainingError, match="0 rows to learn from and 0 to measure on fit 300 tokens"):
        train(_arguments(rows, tmp_path / "tuned", max_tokens=300), _settings(model))
    shutil.rmtree(tmp_path / "tuned.unfinished")


def test_the_prompt_is_the_one_that_is_served(model: Path, rows: Path) -> None:
    from llama_index.core.base.llms.types import ChatMessage  # noqa: PLC0415

    from query_engine.llms.huggingface import load_huggingface  # noqa: PLC0415
    from training.lora.base_model import load_base  # noqa: PLC0415
    from training.lora.rows import read_rows  # noqa: PLC0415
    from training.lora.tokens import IGNORED, encode  # noqa: PLC0415

    settings = _settings(model)
    tokenizer = load_base(settings.llm).tokenizer
    (tokens, *_) = encode(read_rows(rows), tokenizer, settings, 3000)

    answer = [label for label in tokens.labels if label != IGNORED]
    prompt = tokenizer.decode(tokens.input_ids[: -len(answer)])
    assert tokenizer.decode(answer) == "0 [1].<|im_end|>"
    assert "[1] T\nIt was 0.\n" in prompt
    served = load_huggingface(settings.llm).llm
    question = prompt.split("<|im_start|>user\n")[-1].split("<|im_end|>")[0]
    assert prompt.endswith(served.templated([ChatMessage(content=question)]))  # type: ignore[attr-defined]
