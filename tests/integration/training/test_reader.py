"""Train the reader for a few steps on a handful of examples."""

import random
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer

from index.embedding.model import load_embedding_model
from query_engine.reader.model import SHIPPED, PassageText, encode, read_tokenizer, scores_of, shipped_reader
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

    reader = fit(rows, rows[: len(examples)], folder, target, epochs=10, rate=2e-4, seed=1)

    assert measure(reader, rows[: len(examples)])["own"]["mrr"] > 0.9
    assert target.exists()


@pytest.mark.slow
def test_the_weights_of_an_export_are_recovered() -> None:
    import torch  # noqa: PLC0415

    from training.reader.model import Reader  # noqa: PLC0415  # imports torch
    from training.reader.weights import read_weights  # noqa: PLC0415

    encoder = load_embedding_model("minilm").folder
    recovered = Reader(encoder)
    recovered.load_state_dict(read_weights(SHIPPED, encoder))
    passage = PassageText("Houses", HOUSES.text, tuple(HOUSES.units))
    questions = [f"What belongs to the {colour} house?" for colour in (*COLOURS, "white")]

    wanted, found = [], []
    for question in questions:
        (encoding,) = encode(read_tokenizer(SHIPPED / "tokenizer.json"), question, [passage])
        ids, mask, types = (torch.tensor([kind]) for kind in (encoding.ids, encoding.attention_mask, encoding.type_ids))
        with torch.inference_mode():
            logits = recovered(ids, mask, types)[0].numpy()
        found.append(scores_of(passage, encoding, logits).units)
        wanted.append(shipped_reader().read(question, [passage])[0].units)

    assert np.corrcoef(np.ravel(wanted), np.ravel(found))[0, 1] > 0.99


def test_weights_are_averaged() -> None:
    import torch  # noqa: PLC0415

    from training.reader.weights import mean_weights  # noqa: PLC0415  # imports torch

    assert mean_weights([{"bias": torch.tensor([1.0, 2.0])}, {"bias": torch.tensor([3.0, 6.0])}])["bias"].tolist() == [
        2.0,
        4.0,
    ]
