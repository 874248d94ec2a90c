"""Queries in other words, by rule."""

import pytest

from query_engine.answerability.classifier import Confidence
from research.wording import is_same_query, reworded, was_asked, without_interrogative
from tests.fakes.llm import passage
from tests.fakes.words import FakeWords


@pytest.mark.parametrize(
    ("question", "bare"),
    [
        ("What is the melting point of solar salt?", "the melting point of solar salt"),
        ("How many turbines did the first farm have?", "turbines did the first farm have"),
        ("Please tell me why gearboxes wear out.", "gearboxes wear out"),
        ("In which year did Betz publish the limit?", "year did Betz publish the limit"),
        ("Is solar or wind power better?", "solar or wind power better"),
        ("Who?", None),
        ("rotor limit", None),
    ],
)
def test_the_interrogative_is_stripped(question: str, bare: str | None) -> None:
    assert without_interrogative(question) == bare


def test_wordings_come_in_order_and_none_twice() -> None:
    confidence = Confidence(0.1, 0.2, 0.3, ("salt",))
    others = [passage("The tower of Noor Ouarzazate runs in Morocco.")]
    asked = ["What salt does the tower use?"]
    for expected in (
        "What salt does the tower use? Noor Ouarzazate Morocco",
        "salt",
        "salt does the tower use",
        None,
    ):
        wording = reworded(asked[0], asked[0], confidence, others, words=FakeWords(), asked=asked)
        assert wording == expected
        if wording:
            asked.append(wording)


def test_queries_are_the_same_but_for_case_and_punctuation() -> None:
    assert is_same_query("Rotor limit?", "rotor  LIMIT")
    assert not is_same_query("rotor limit", "limit rotor")
    assert was_asked("wind!", ["water", "Wind"])
