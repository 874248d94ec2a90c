"""Facts found, quotes on the topic, and what follows from both."""

import json
from typing import Any

import pytest

from bench.quality.helpful.asking import CitedQuote, SystemAnswer
from bench.quality.helpful.nuggets import NuggetCase, Region, check_regions, fold, is_on_topic, score
from eval.cases import BadCasesError

TEXT = "Salt pans. The sun dries the pans in June; workers rake the salt by hand. Tickets cost four pounds."
DOCUMENTS = {"salt.md": fold(TEXT)}
TOPIC = "The sun dries the pans in June; workers rake the salt by hand."
OFF_TOPIC = "Tickets cost four pounds."


def case(**changes: Any) -> NuggetCase:
    row = {
        "id": "1",
        "question": "How is salt made?",
        "answer": "The sun dries it, workers rake it.",
        "corpus": "salt",
        "form": "how",
        "nuggets": [
            {"text": "sun", "vital": True, "any": ["sun dries"]},
            {"text": "rake", "vital": True, "any": ["rake the salt", "raked"]},
            {"text": "June", "vital": False, "any": ["in june"]},
        ],
        "regions": [{"doc": "guides/salt.md", "quote_start": "The sun dries", "quote_end": "by hand."}],
    }
    return NuggetCase.model_validate_json(json.dumps(row | changes))


def quoting(*quotes: str, text: str | None = None) -> SystemAnswer:
    citations = tuple(
        CitedQuote("guides/salt.md", TEXT.index(quote), TEXT.index(quote) + len(quote), quote) for quote in quotes
    )
    return SystemAnswer(text or " ".join(f"{quote} [1]" for quote in quotes), citations)


def test_an_answer_that_quotes_the_topic_and_nothing_else_is_helpful() -> None:
    assert score(case(), quoting(TOPIC), DOCUMENTS) == {
        "helpful": 1.0,
        "vital recall": 1.0,
        "all recall": 1.0,
        "declined answerable": 0.0,
        "precision": 1.0,
        "words": 14.0,
        "runs": 1.0,
    }


def test_half_of_the_vital_facts_suffice_but_a_third_of_the_quotes_off_the_topic_does_not() -> None:
    half = score(case(), quoting("The sun dries the pans"), DOCUMENTS)
    mixed = score(case(), quoting("The sun dries the pans in June", OFF_TOPIC), DOCUMENTS)

    assert (half["vital recall"], half["all recall"], half["helpful"]) == (0.5, 1 / 3, 1.0)
    assert mixed["precision"] == pytest.approx(30 / (30 + 25))
    assert (mixed["vital recall"], mixed["helpful"], mixed["runs"]) == (0.5, 0.0, 2.0)


def test_facts_are_found_through_bold_and_line_breaks() -> None:
    assert score(case(), quoting(TOPIC, text="The **sun** dries\nit"), DOCUMENTS)["vital recall"] == 0.5


def test_text_that_no_citation_backs_is_on_no_topic() -> None:
    text = "The sun dries them." + " More is said than quoted." * 10
    precision = score(case(), quoting("The sun dries", text=text), DOCUMENTS)["precision"]

    assert precision == pytest.approx(13 / (0.8 * len(text)))
    assert score(case(), SystemAnswer("The sun dries them."), DOCUMENTS)["precision"] == 0.0


def test_a_declined_question_finds_nothing_and_has_no_length() -> None:
    assert score(case(), SystemAnswer(None), DOCUMENTS) == {
        "helpful": 0.0,
        "vital recall": 0.0,
        "all recall": 0.0,
        "declined answerable": 1.0,
    }


def test_of_a_near_miss_only_declining_counts() -> None:
    near_miss = case(answer=None, nuggets=[], regions=[])

    assert score(near_miss, SystemAnswer(None), {}) == {"declined near misses": 1.0}
    assert score(near_miss, quoting(TOPIC), {}) == {"declined near misses": 0.0}


def test_quotes_that_nearly_touch_are_one_run_in_any_order() -> None:
    first, second = "The sun dries the pans in June;", "workers rake the salt by hand."

    assert score(case(), quoting(second, first), DOCUMENTS)["runs"] == 1.0
    assert score(case(), quoting("The sun", "by hand."), DOCUMENTS)["runs"] == 2.0


REGIONS = case().regions


@pytest.mark.parametrize(
    ("quote", "on_topic"),
    [
        ("the PANS in june: workers", True),
        ("rake the salt by hand. Tickets cost", True),
        ("by hand. Tickets cost four pounds.", False),
        ("Workers sell salt, tickets, tea.", False),
        ("Sun dries pans; workers rake", True),
        ("—", False),
    ],
    ids=["case and punctuation", "most inside", "most outside", "few words shared", "most words shared", "no word"],
)
def test_half_of_a_quote_must_lie_in_a_region(quote: str, on_topic: bool) -> None:
    assert is_on_topic(quote, DOCUMENTS["salt.md"], REGIONS) is on_topic


def test_overlapping_regions_count_once() -> None:
    doubled = [Region(doc="salt.md", quote_start="by", quote_end="hand")] * 2

    assert not is_on_topic("by hand. Tickets cost four pounds", DOCUMENTS["salt.md"], doubled)


def test_quotes_of_a_pdf_are_compared_with_the_text_of_the_region() -> None:
    regions = [Region(doc="salt.pdf", quote_start="The sun", quote_end="June", text="The sun dries the pans in June")]

    assert is_on_topic("The sun dries the p\u00adans", None, regions)
    assert not is_on_topic("Tickets cost four pounds", None, regions)


def test_a_region_ends_where_its_last_words_first_follow_and_may_not_be_long() -> None:
    far = {"salt.md": fold(f"The sun dries {'x ' * 2000} by hand. The sun dries all by hand.")}
    check_regions([case()], far)

    assert is_on_topic("The sun dries all", far["salt.md"], REGIONS)
    assert not is_on_topic("x x x x x x x x", far["salt.md"], REGIONS)


@pytest.mark.parametrize("documents", [{}, {"salt.md": " nothing of it "}], ids=["no document", "other text"])
def test_a_region_that_is_not_in_its_document_is_named(documents: dict[str, str]) -> None:
    with pytest.raises(BadCasesError, match="Question '1' has a region in guides/salt"):
        check_regions([case()], documents)


@pytest.mark.parametrize("field", ["nuggets", "regions"])
def test_nuggets_and_regions_come_together(field: str) -> None:
    with pytest.raises(ValueError, match="a vital nugget and a region, or neither"):
        case(**{field: []})
