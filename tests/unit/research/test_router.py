"""Which way a question takes in mode `auto`."""

import pytest

from errors import LLMError
from query_engine.runtime.deadline import Deadline
from research.router import route
from tests.fakes.llm import FakeLLM, asker


@pytest.mark.parametrize(
    ("question", "mode"),
    [
        ("Who published the rotor limit?", "single"),
        ("How hot is solar salt?", "single"),
        ("At which temperature does the solar salt of a tower plant freeze?", "single"),
        ("Who published the rotor limit, and when was it published?", "agent"),
        ("What are the advantages of pumped storage?", "agent"),
        ("Why do gearboxes wear out?", "agent"),
        ("word " * 30, "agent"),
    ],
)
def test_the_form_decides_without_a_model(question: str, mode: str) -> None:
    assert route(question, None, Deadline(9)).mode == mode


UNCLEAR = "At which temperature does the solar salt of a tower plant freeze?"


def test_a_model_is_asked_only_where_the_form_is_unclear() -> None:
    llm = FakeLLM(says=["COMPLEX"])

    assert route("Who published the rotor limit?", asker(llm), Deadline(9)).mode == "single"
    assert route("Who published the limit, and when was it published?", asker(llm), Deadline(9)).mode == "agent"
    assert not llm.asked
    assert route(UNCLEAR, asker(llm), Deadline(9)).mode == "agent"
    assert route(UNCLEAR, asker(FakeLLM(says=["Simple."])), Deadline(9)).mode == "single"


def test_a_model_that_fails_or_rambles_leaves_it_to_the_form() -> None:
    assert route(UNCLEAR, asker(FakeLLM(says=["Hm."])), Deadline(9)).mode == "single"
    failed = route(UNCLEAR, asker(FakeLLM(says=[LLMError("It died.", "Restart it.")])), Deadline(9))
    assert (failed.mode, "It died." in failed.why) == ("single", True)
