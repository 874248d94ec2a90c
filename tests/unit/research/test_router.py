"""Which way a question takes in mode `auto`."""

import pytest

from errors import LLMError
from query_engine.runtime.deadline import Deadline
from research.router import route
from tests.fakes.llm import FakeLLM, asker

LONG = "At which temperature does the solar salt of a tower plant freeze?"


@pytest.mark.parametrize(
    ("question", "mode"),
    [
        ("Who published the rotor limit?", "single"),
        ("How hot is solar salt?", "single"),
        ("Who published the rotor limit, and when was it published?", "agent"),
    ],
)
def test_where_the_form_is_clear_no_model_is_asked(question: str, mode: str) -> None:
    llm = FakeLLM(says=["COMPLEX"])

    assert route(question, asker(llm), Deadline(9)).mode == mode
    assert not llm.asked


@pytest.mark.parametrize(
    ("reply", "mode"),
    [("COMPLEX", "agent"), ("Simple.", "single"), ("Hm.", "single"), (LLMError("It died.", "Restart it."), "single")],
)
def test_else_the_model_says(reply: str | Exception, mode: str) -> None:
    found = route(LONG, asker(FakeLLM(says=[reply])), Deadline(9))

    assert found.mode == mode
    assert ("It died." in found.why) == isinstance(reply, Exception)
