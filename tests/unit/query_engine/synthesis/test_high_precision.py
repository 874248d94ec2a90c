"""a synthesizer who has to be sure says nothing where the quote does not show what is asked for."""

import threading
from collections.abc import Iterator, Sequence

import pytest

from query_engine.schema.citations import Citations
from query_engine.schema.passage import Passage
from query_engine.synthesis.high_precision import HighPrecisionSynthesizer
from query_engine.synthesis.quoting import Quote, QuotingSynthesizer
from tests.fakes.engines import a_passage
from tests.fakes.words import FakeWords


class Quoting(QuotingSynthesizer):
    """Quotes each passage in turn."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, list[str]]] = []

    def quotes(self, question: str, passages: Sequence[Passage], _stop: threading.Event) -> Iterator[Quote]:
        self.asked.append((question, [passage.text for passage in passages]))
        for passage in passages:
            yield Quote(passage, passage.start, passage.end, passage.text, passage.text)


def said(question: str, *texts: str) -> tuple[str, int]:
    citations = Citations()
    passages = [a_passage(doc_id=f"{number}.md", text=text) for number, text in enumerate(texts)]
    synthesizer = HighPrecisionSynthesizer(Quoting(), FakeWords())
    return "".join(synthesizer.write(question, passages, citations, threading.Event())), len(citations.all())


def test_a_quote_that_shows_what_is_asked_for_is_given_with_all_that_follow() -> None:
    text = "Albert Betz published the rotor limit in 1919."

    assert said("When did Betz publish the rotor limit?", text, "More.") == (f"{text} [1] More. [2]", 2)


def test_a_thing_that_is_no_date_number_or_name_needs_the_words_alone() -> None:
    text = "Betz called the rotor limit a law of nature."

    assert said("What did Betz call the rotor limit?", text)[1] == 1


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("When did Betz publish the rotor limit?", "Betz would publish the rotor limit."),
        ("When did Betz publish the rotor limit?", "Gearboxes were first built in 1950."),
        ("Is the rotor limit higher than Betz said in 1919?", "The rotor limit is what Betz said in 1919."),
        ("Who set the rotor limit, Betz or Lanchester?", "Betz or Lanchester set the rotor limit."),
        ("Which rotor limit is higher: Betz", "Which rotor limit is higher: Betz."),
        ("Why did Betz publish what the rotor limit is?", "Betz did publish what the rotor limit is."),
        ("What rotor limits did Betz publish?", "Betz did publish rotor limits."),
        ("What is the rotor limit today?", "The rotor limit is known today."),
    ],
    ids=[
        "no date in it",
        "too few of the words",
        "whether",
        "which of several",
        "a part of a comparison",
        "why",
        "which ones",
        "today",
    ],
)
def test_otherwise_nothing_is_said_and_nothing_cited(question: str, text: str) -> None:
    assert said(question, text) == ("", 0)


def test_without_quotes_nothing_is_said() -> None:
    assert said("When did Betz publish the rotor limit?") == ("", 0)
