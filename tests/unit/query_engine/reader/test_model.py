"""The shipped reader, and what is made of a reader's scores."""

import math

import numpy as np
import pytest

from query_engine.reader.model import SHIPPED, PassageText, encode, read_tokenizer, scores_of, shipped_reader

TEXT = "Albert Betz published the limit of a rotor in 1919. Towers are made of steel or concrete."
UNITS = ((0, 51), (52, len(TEXT)))
PASSAGE = PassageText("Wind", TEXT, UNITS)


def test_the_shipped_reader_finds_the_sentence_that_answers() -> None:
    asked, other = shipped_reader().read(
        "Who published the rotor limit?", [PASSAGE, PassageText("Cooking", TEXT[52:], ((0, 37),))]
    )

    assert asked.units[0] > 0 > asked.units[1]
    assert asked.passage > other.passage


def test_what_is_read_does_not_depend_on_what_is_read_beside_it() -> None:
    long = PassageText("Long", TEXT * 5, tuple((start, start + 50) for start in range(0, 400, 60)))
    alone = shipped_reader().read("Who published the rotor limit?", [PASSAGE])[0]
    beside = shipped_reader().read("Who published the rotor limit?", [long, PASSAGE])[1]

    assert beside.units == pytest.approx(alone.units, abs=0.05)


@pytest.mark.parametrize("question", ["What is the limit" + "?" * 280, "租" * 300])
def test_a_long_question_leaves_room_for_the_passage(question: str) -> None:
    scores = shipped_reader().read(question, [PASSAGE])[0]

    assert all(map(math.isfinite, scores.units))


@pytest.mark.parametrize("filler", [0, 1, 2])
def test_the_length_of_a_passage_does_not_decide(filler: int) -> None:
    around = " Most turbines have three blades and face the wind. Gearboxes raise the speed for the generator." * filler

    scores = shipped_reader().read(
        "Who published the rotor limit?", [PassageText("Wind", TEXT + around * filler, UNITS)]
    )[0]

    assert scores.units[0] > 0


def test_nothing_is_read_of_nothing() -> None:
    assert shipped_reader().read("Who?", []) == []


def test_a_unit_scores_the_mean_of_its_tokens_and_one_beyond_the_window_is_not_scored() -> None:
    tokenizer = read_tokenizer(SHIPPED / "tokenizer.json")
    passage = PassageText("Wind", "one two. three four.", ((0, 8), (9, 20), (30, 40)))
    encoding = encode(tokenizer, "what?", [passage])[0]
    logits = np.zeros((len(encoding), 3), np.float32)
    for place, token in enumerate(encoding.tokens):
        logits[place, 0] = {"one": 1.0, "two": 3.0, "three": -2.0}.get(token, 0.0)
    logits[0, 0] = 0.7
    scores = scores_of(passage, encoding, logits)

    assert scores.passage == pytest.approx(0.7)
    assert scores.units[:2] == pytest.approx((4 / 3, -2 / 3))
    assert scores.units[2] == -math.inf
