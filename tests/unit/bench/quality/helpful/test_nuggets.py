"""Facts found, quotes on the topic, and what follows from both."""

import json
from typing import Any

import pytest

from bench.quality.helpful.nuggets import NuggetCase, check_regions
from eval.cases import BadCasesError
from eval.nuggets import fold
from eval.rows import Row
from tests.fakes.rows import answered, quote

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


def quoting(*quotes: str) -> Row:
    citations = [quote("guides/salt.md", TEXT.index(one), TEXT.index(one) + len(one), one) for one in quotes]
    return answered(" ".join(f"{one} [1]" for one in quotes), citations)


def test_an_answer_that_quotes_the_topic_and_nothing_else_is_helpful() -> None:
    assert case().score(quoting(TOPIC), DOCUMENTS) == {
        "helpful": 1.0,
        "vital recall": 1.0,
        "all recall": 1.0,
        "first screen": 1.0,
        "declined answerable": 0.0,
        "precision": 1.0,
        "words": 14.0,
        "runs": 1.0,
    }


def test_half_of_the_vital_facts_suffice_but_a_third_of_the_quotes_off_the_topic_does_not() -> None:
    half = case().score(quoting("The sun dries the pans"), DOCUMENTS)
    mixed = case().score(quoting("The sun dries the pans in June", OFF_TOPIC), DOCUMENTS)

    assert (half["vital recall"], half["all recall"], half["helpful"]) == (0.5, 1 / 3, 1.0)
    assert mixed["precision"] == pytest.approx(30 / (30 + 25))
    assert (mixed["vital recall"], mixed["helpful"], mixed["runs"]) == (0.5, 0.0, 2.0)


def test_a_declined_question_finds_nothing_and_has_no_length() -> None:
    assert case().score(answered(None), DOCUMENTS) == {
        "helpful": 0.0,
        "vital recall": 0.0,
        "all recall": 0.0,
        "first screen": 0.0,
        "declined answerable": 1.0,
    }


@pytest.mark.parametrize(
    ("row", "below", "seen"),
    [
        (answered(None), [OFF_TOPIC, TOPIC], 1.0),
        (quoting(OFF_TOPIC), [TOPIC], 1.0),
        (quoting(TOPIC), [], 1.0),
        (quoting(OFF_TOPIC), [OFF_TOPIC], 0.0),
    ],
    ids=["below a declined question", "below another answer", "in the answer", "nowhere"],
)
def test_the_first_screen_is_the_answer_and_the_places_below_it(row: Row, below: list[str], seen: float) -> None:
    shown = row.model_copy(update={"nearest": tuple(below)})

    assert case().score(shown, DOCUMENTS)["first screen"] == seen


def test_of_a_near_miss_only_declining_counts() -> None:
    near_miss = case(answer=None, nuggets=[], regions=[])

    assert near_miss.score(answered(None), {}) == {"declined near misses": 1.0}
    assert near_miss.score(quoting(TOPIC), {}) == {"declined near misses": 0.0}


def test_quotes_that_nearly_touch_are_one_run_in_any_order() -> None:
    first, second = "The sun dries the pans in June;", "workers rake the salt by hand."

    assert case().score(quoting(second, first), DOCUMENTS)["runs"] == 1.0
    assert case().score(quoting("The sun", "by hand."), DOCUMENTS)["runs"] == 2.0


@pytest.mark.parametrize("documents", [{}, {"salt.md": " nothing of it "}], ids=["no document", "other text"])
def test_a_region_that_is_not_in_its_document_is_named(documents: dict[str, str]) -> None:
    with pytest.raises(BadCasesError, match="Question '1' has a region in guides/salt"):
        check_regions([case()], documents)


@pytest.mark.parametrize("field", ["nuggets", "regions"])
def test_nuggets_and_regions_come_together(field: str) -> None:
    with pytest.raises(ValueError, match="a vital nugget and a region, or neither"):
        case(**{field: []})
