import pytest

from api.schemas.replies.research import ResearchStats
from research.topic.citation_numbers import CitationNumbers
from research.topic.findings import Finding, each_in_its_place, numbered
from research.topic.statements import statements_of
from tests.fakes.answers import Quote, quoted
from tests.fakes.engines import a_done

WIND, SUN, SEA = ("wind.md", "Wind turns blades."), ("sun.md", "Sun warms cells."), ("sea.md", "The sea is salt.")


def finding(*quotes: Quote, question: str = "What?", retried: str | None = None) -> Finding:
    done = quoted(*quotes) if quotes else a_done(None)
    return Finding(question, done, tuple(statements_of(done)), retried)


@pytest.mark.parametrize(
    ("quotes", "confidence"),
    [
        ((), 0.0),
        ((WIND,), 0.4),
        ((WIND, ("wind.md", "Blades are long.")), 0.6),
        ((WIND, SUN), 0.8),
        ((WIND, SUN, SEA), 1.0),
        ((WIND, SUN, SEA, ("moon.md", "The moon pulls.")), 1.0),
    ],
)
def test_confidence_is_the_sources_formula(quotes: tuple[Quote, ...], confidence: float) -> None:
    assert finding(*quotes).confidence == pytest.approx(confidence)


def test_the_status_tells_how_it_ended() -> None:
    found = [finding(WIND), finding(), finding(WIND, retried="About wind"), finding(retried="About wind")]

    assert [(one.status, one.attempts) for one in found] == [
        ("answered", 1),
        ("gap", 1),
        ("answered_after_retry", 2),
        ("gap", 2),
    ]
    stats = ResearchStats.build(found)
    assert (stats.answered_count, stats.answered_after_retry_count, stats.gap_count) == (1, 1, 2)
    assert stats.avg_confidence == pytest.approx(0.2)
    assert ResearchStats.build([]).avg_confidence == 0


def test_a_gap_gives_the_reason_without_the_words_that_all_gaps_begin_with() -> None:
    assert finding().reason == "The passages found do not answer this."
    assert Finding("What?", quoted(WIND), (), unused="It is about the sea.").reason == "It is about the sea."


def test_numbers_go_through_all_answers() -> None:
    numbers = CitationNumbers()

    first, second = numbered([finding(WIND, SUN), finding(SUN, SEA)], numbers)

    assert first.answer == "Wind turns blades. [1] Sun warms cells. [2]"
    assert second.answer == "Sun warms cells. [2] The sea is salt. [3]"
    assert [one.number for one in numbers.all()] == [1, 2, 3]


def test_a_sentence_stays_where_it_answers_best() -> None:
    found = each_in_its_place([finding(WIND, SUN), finding(SUN, SEA)])

    assert [[one.text for one in each.statements] for each in found] == [[WIND[1]], [SUN[1], SEA[1]]]


def test_an_answer_that_only_repeats_stays_unless_it_must_not() -> None:
    repeated = [finding(WIND), finding(WIND)]

    assert [one.status for one in each_in_its_place(repeated)] == ["answered", "answered"]
    assert [one.status for one in each_in_its_place(repeated, strict=True)] == ["answered", "gap"]
