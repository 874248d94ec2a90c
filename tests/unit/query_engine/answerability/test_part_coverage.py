"""A part that is not covered is reworded: by names that were found, or by what is missing."""

import pytest

from query_engine.answerability.classifier import Confidence
from query_engine.answerability.part_coverage import keep_what_is_missing, name_what_was_found
from query_engine.schema.passage import Passage
from tests.fakes.engines import a_passage
from tests.fakes.words import FakeWords

PART = "what is its capacity"
QUESTION = "Which plant took the record from Bath County, and what is its capacity?"


def named(*texts: str) -> str | None:
    passages: list[Passage] = [a_passage(text=text) for text in texts]
    return name_what_was_found(PART, QUESTION, passages, FakeWords())


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("In 2021 the record went to Fengning when it passed Bath County. Unit One of Sihwa is older.", "Fengning"),
        ("Fengning took the record.", "Fengning"),
        ("The record was Three Gorges of Hubei and nobody else held it.", "Three Gorges Hubei"),
    ],
    ids=["in the sentence that shares most words", "where the sentence begins", "of several words"],
)
def test_the_names_of_the_best_sentence_are_added(text: str, name: str) -> None:
    assert named(text) == f"{PART} {name}"


@pytest.mark.parametrize(
    "texts",
    [(), ("The record went to another plant.",), ("Bath County held the record.",), ("Sihwa is a bay.",)],
    ids=["no evidence", "no name", "the question's own names", "nothing that was asked for"],
)
def test_without_news_there_is_no_other_wording(texts: tuple[str, ...]) -> None:
    assert named(*texts) is None


@pytest.mark.parametrize(
    ("missing", "expected"),
    [(("mass",), "mass"), (("mass", "mars"), "mass mars"), ((), None), (("the", "mass", "of", "mars"), None)],
)
def test_what_no_passage_held_is_kept(missing: tuple[str, ...], expected: str | None) -> None:
    assert keep_what_is_missing("the mass of mars", Confidence(0.1, 0.5, 0.5, missing), FakeWords()) == expected
