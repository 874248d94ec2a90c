"""LoRA of a tiny Llama: learns, in the prompt that is served, and is served by the provider."""

import json
from pathlib import Path

import pytest

from settings import LLMSettings, load_settings
from tests.fakes.language_models import make_language_model
from training.lora import main
from training.prompts import IGNORED, encoded, read_rows

pytest.importorskip("torch")
pytest.importorskip("peft")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing` is deprecated")]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_language_model(tmp_path_factory.mktemp("tiny") / "model")


@pytest.fixture
def rows(tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RAG_LLM__MODEL", str(model))
    lines = [
        {
            "question": f"When was number {n}?",
            "passages": [{"title": "T", "text": f"It was {n}."}],
            "answer": f"{n} [1].",
        }
        for n in range(24)
    ]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.mark.promise("B19")
def test_a_training_lowers_the_loss_and_its_model_is_served(
    rows: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from query_engine.llms.huggingface import load_huggingface  # noqa: PLC0415

    options = ["--rate", "1e-3", "--rank", "4", "--max-tokens", "3000"]

    assert main([str(rows), "--out", str(tmp_path / "tuned"), *options]) == 0

    told = capsys.readouterr().out.splitlines()[-1].split()
    assert float(told[-2]) < float(told[-4])
    served = LLMSettings(provider="huggingface", model=str(tmp_path / "tuned"), max_new_tokens=16, temperature=0)
    assert isinstance(load_huggingface(served).llm.complete("When?").text, str)


def test_too_long_rows_are_not_learnt(rows: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(rows), "--out", str(tmp_path / "tuned"), "--max-tokens", "300"]) == 1

    assert "0 rows to learn from and 0 to measure on" in capsys.readouterr().err


def test_a_line_that_is_not_a_row_is_named(rows: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows.write_text(rows.read_text() + '{"question": "When?", "passages": []}\n')

    assert main([str(rows), "--out", str(tmp_path / "tuned")]) == 1

    assert "Line 25 of" in capsys.readouterr().err


def test_the_prompt_is_the_one_that_is_served(model: Path, rows: Path) -> None:
    from llama_index.core.base.llms.types import ChatMessage  # noqa: PLC0415
    from transformers import AutoTokenizer  # noqa: PLC0415

    from query_engine.llms.huggingface import load_huggingface  # noqa: PLC0415

    tokenizer = AutoTokenizer.from_pretrained(model)
    tokens = next(encoded(read_rows(rows), tokenizer, load_settings(), 3000))

    answer = [label for label in tokens["labels"] if label != IGNORED]
    prompt = str(tokenizer.decode(tokens["input_ids"][: -len(answer)]))
    assert tokenizer.decode(answer) == "0 [1].<|im_end|>"
    assert "[1] T\nIt was 0.\n" in prompt
    served = load_huggingface(LLMSettings(provider="huggingface", model=str(model))).llm
    question = prompt.rpartition("<|im_start|>user\n")[2].partition("<|im_end|>")[0]
    assert prompt.endswith(served.templated([ChatMessage(content=question)]))  # type: ignore[attr-defined]
