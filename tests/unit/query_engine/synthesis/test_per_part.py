"""Each part of a question gets its own quotes, or a line that says that nothing was found for it."""

import re
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace

from query_engine.answerability.classifier import Confidence, PartEvidence
from query_engine.schema.citations import Citations
from query_engine.schema.passage import Passage
from query_engine.synthesis.per_part import PerPartSynthesizer
from query_engine.synthesis.quoting import Quote, QuotingSynthesizer
from tests.fakes.engines import a_passage

MARS = replace(a_passage("mars.md", "Mars is red."), node_id="m.1")
VENUS = replace(a_passage("venus.md", "Venus is hot."), node_id="v.1")
AGAIN = replace(a_passage("copy.md", "Mars is red."), node_id="c.1")
MOON = replace(a_passage("moon.md", "The Moon is a long way off and grey."), node_id="o.1")


class Quoting(QuotingSynthesizer):
    """Quotes each passage in turn."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, list[str]]] = []

    def quotes(self, question: str, passages: Sequence[Passage], _stop: threading.Event) -> Iterator[Quote]:
        self.asked.append((question, [passage.text for passage in passages]))
        for passage in passages:
            yield Quote(passage, passage.start, passage.end, passage.text, passage.text)


def covered(name: str, *passages: Passage, sufficient: bool = True) -> PartEvidence:
    return PartEvidence(f"about {name}", passages, Confidence(0.9, 0.5, 0.5, ()), sufficient)


def written(synthesizer: Quoting, *parts: PartEvidence, passages: Sequence[Passage] = (MARS, VENUS)) -> str:
    """Return what is written, once it is sure that its marks and its citations are the same."""
    citations = Citations()
    per_part = PerPartSynthesizer(synthesizer, parts)
    text = "".join(per_part.write("Whole?", passages, citations, threading.Event()))
    marks = list(dict.fromkeys(int(mark) for mark in re.findall(r"\[(\d+)\]", text)))
    assert marks == list(range(1, len(marks) + 1)), "numbers rise through the text, without gaps"
    assert [citation.number for citation in citations.all()] == marks
    for citation in citations.all():
        assert f"{citation.quote} [{citation.number}]" in text
    return text


def test_each_part_is_asked_for_and_reads_its_own_passages() -> None:
    synthesizer = Quoting()

    text = written(synthesizer, covered("mars", MARS), covered("venus", VENUS))

    assert text == "Mars is red. [1]\n\nVenus is hot. [2]"
    assert synthesizer.asked == [
        ("about mars", ["Mars is red."]),
        ("about venus", ["Venus is hot."]),
    ]


def test_a_part_whose_passages_were_merged_into_a_larger_one_reads_that_one() -> None:
    synthesizer, larger = (
        Quoting(),
        replace(MARS, node_id="m.0", text="Mars is red. It has two moons.", end=MARS.start + 30),
    )

    written(synthesizer, covered("mars", MARS), covered("moon", MOON), passages=(larger, VENUS))

    assert synthesizer.asked == [
        ("about mars", ["Mars is red. It has two moons."]),
        ("about moon", ["Mars is red. It has two moons.", "Venus is hot."]),
    ]


def test_a_sentence_that_was_said_before_takes_no_number() -> None:
    parts = covered("mars", MARS), covered("copy", AGAIN, VENUS)

    assert written(Quoting(), *parts, passages=(MARS, AGAIN, VENUS)) == "Mars is red. [1]\n\nVenus is hot. [2]"


def test_a_sentence_within_a_longer_quote_was_said_words_that_only_begin_alike_were_not() -> None:
    longer = replace(a_passage("all.md", "Venus is hot. Mars is red."), node_id="a.1")
    redder = replace(a_passage("red.md", "Mars is red.5 times as red."), node_id="r.1")

    passages = (longer, redder, MARS)
    assert (
        written(Quoting(), covered("all", longer), covered("mars", MARS), passages=passages)
        == "Venus is hot. Mars is red. [1]"
    )
    text = written(Quoting(), covered("red", redder), covered("mars", MARS), passages=passages)
    assert text == "Mars is red.5 times as red. [1]\n\nMars is red. [2]"


def test_a_part_that_nothing_covers_is_not_quoted_for_unless_nothing_covers_any() -> None:
    synthesizer = Quoting()
    text = written(synthesizer, covered("mars", MARS, sufficient=False), covered("venus", VENUS))
    assert text.startswith("Venus is hot. [1]\n\n")
    assert text.endswith("mars")
    assert "red" not in text

    synthesizer = Quoting()
    written(synthesizer, covered("mars", MARS, sufficient=False), covered("venus", VENUS, sufficient=False))
    assert [question for question, _ in synthesizer.asked] == ["about mars", "about venus"]


def test_a_part_that_is_not_covered_but_whose_best_place_is_shown_is_not_called_missing() -> None:
    text = written(Quoting(), covered("mars", MARS, sufficient=False), covered("venus", MARS), passages=(MARS,))

    assert text == "Mars is red. [1]"


def test_it_goes_by_the_name_of_its_author() -> None:
    assert PerPartSynthesizer(Quoting(), [covered("mars", MARS)]).name == "extractive"


def test_a_quote_that_does_not_say_what_it_is_about_stands_below_the_name_of_that() -> None:
    class UnderHeadings(Quoting):
        def quotes(self, question: str, passages: Sequence[Passage], stop: threading.Event) -> Iterator[Quote]:
            for quote in super().quotes(question, passages, stop):
                yield replace(quote, headings=("Planets", quote.passage.doc_id.partition(".")[0].title()))

    text = written(UnderHeadings(), covered("the colour of mars", MARS), covered("the colour of venus", VENUS))
    unnamed = replace(VENUS, text="It is hot.")
    named = written(
        UnderHeadings(), covered("heat of mars", MARS), covered("heat of venus", unnamed), passages=(MARS, unnamed)
    )

    assert text == "Mars is red. [1]\n\nVenus is hot. [2]"
    assert named == "Mars is red. [1]\n\n**Venus**\n\nIt is hot. [2]"
