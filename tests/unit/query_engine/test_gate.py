"""The gate: what raises and lowers the confidence that an answer is there."""

from dataclasses import replace

import pytest

from query_engine.gate import assess
from query_engine.passages import Passage
from tests.fakes.embedding import WordHashEmbedding
from tests.fakes.engines import a_passage
from tests.unit.query_engine.test_extractive import PlainWords

QUESTION = "Who published the rotor limit?"


def found(text: str, **scores: float) -> Passage:
    return replace(a_passage(text=text), scores=scores)


def confidence(*passages: Passage) -> float:
    return assess(QUESTION, passages, PlainWords(), WordHashEmbedding()).value


def test_without_passages_there_is_no_confidence() -> None:
    assert confidence() == 0


def test_nearer_meaning_and_more_of_the_words_raise_it() -> None:
    near, far = 0.8, 0.1
    all_words, no_words = "Betz published the rotor limit.", "Nothing of the kind."

    assert confidence(found(all_words, dense=near)) > confidence(found(all_words, dense=far))
    assert confidence(found(all_words, dense=near)) > confidence(found(no_words, dense=near))


@pytest.mark.parametrize(("similarity", "answered"), [(0.7, True), (0.1, False)])
def test_the_default_threshold_separates_near_from_far(similarity: float, answered: bool) -> None:
    assert (confidence(found("Betz published the rotor limit.", dense=similarity)) >= 0.5) is answered


def test_words_that_no_passage_holds_are_named() -> None:
    judged = assess(QUESTION, [found("Betz published it.", dense=0.5)], PlainWords(), WordHashEmbedding())

    assert set(judged.missing) == {"rotor", "limit"}
    assert judged.coverage == pytest.approx(1 / 3)


def test_passages_found_by_words_alone_are_compared_in_meaning_too() -> None:
    same, other = "Who published the rotor limit?", "Zebras graze."
    near = assess(QUESTION, [found(same, lexical=9.0)], PlainWords(), WordHashEmbedding())
    far = assess(QUESTION, [found(other, lexical=9.0)], PlainWords(), WordHashEmbedding())

    assert near.similarity > 0.8 > far.similarity
