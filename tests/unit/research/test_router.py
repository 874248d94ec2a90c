"""Which questions mode `auto` searches for in rounds."""

import pytest

from errors import LLMError
from query_engine.runtime.deadline import Deadline
from research.router import takes_rounds
from tests.fakes.llm import FakeLLM, asker

LONG = "At which temperature does the solar salt of a tower plant freeze?"


@pytest.mark.parametrize(
    ("question", "rounds"),
    [
        ("Who published the rotor limit?", False),
        ("How hot is solar salt?", False),
        ("Who published the rotor limit, and when was it published?", True),
    ],
)
def test_where_the_form_is_clear_no_model_is_asked(question: str, rounds: bool) -> None:
    llm = FakeLLM(says=["COMPLEX"])

    assert takes_rounds(question, asker(llm), Deadline(9)) is rounds
    assert not llm.asked


@pytest.mark.parametrize(
    ("reply", "rounds"),
    [("COMPLEX", True), ("Simple.", False), ("Hm.", False), (LLMError("It died.", "Restart it."), False)],
)
def test_else_the_model_says(reply: str | Exception, rounds: bool) -> None:
    assert takes_rounds(LONG, asker(FakeLLM(says=[reply])), Deadline(9)) is rounds
