"""Train the reader for a few steps on a handful of examples."""

import random
from pathlib import Path

import pytest
from tokenizers import Tokenizer

from index.embedding.model import load_embedding_model
from training.reader.examples import SourceText, of_question

pytest.importorskip("torch")

COLOURS = ("red", "green", "blue", "black")
HOUSES = SourceText("houses.md", "Houses", " ".join(f"The {colour} house has a small garden." for colour in COLOURS))


@pytest.mark.slow
def test_a_few_steps_teach_which_sentence_answers(tmp_path: Path) -> None:
    from training.reader.fit import encode, fit, measure  # noqa: PLC0415  # imports torch

    rng, target = random.Random(1), tmp_path / "reader.safetensors"
    examples = [
        example
        for colour, span in zip(COLOURS, HOUSES.units, strict=True)
        for example in of_question("own", HOUSES, f"What belongs to the {colour} house?", [span], rng)
    ]
    folder = load_embedding_model("minilm").folder
    rows = encode(examples, Tokenizer.from_file(str(folder / "tokenizer.json"))) * 8

    reader = fit(rows, rows[: len(examples)], folder, target, epochs=20, rate=2e-4, seed=1)

    assert measure(reader, rows[: len(examples)])["own"]["mrr"] > 0.9
    assert target.exists()
