"""A question is moved as far as the weights say, and its words stay."""

import numpy as np
import pytest

from query_engine.retrieval.steering import Steering
from query_engine.schema.query import Query, Vector
from tests.fakes.embedding import WordHashEmbedding, word_vector

EMBEDDER = WordHashEmbedding()
QUESTION = Query("wind power", terms={"wind": 1.0}, versions=frozenset({"v"}))


def vector(text: str) -> Vector:
    return np.asarray(word_vector(text), np.float32)


def cosine(query: Query, text: str) -> float:
    assert query.embedding is not None
    assert np.linalg.norm(query.embedding) == pytest.approx(1, abs=1e-5)
    return float(query.embedding @ vector(text))


def test_full_weight_moves_halfway() -> None:
    steered = Steering(move_to="sea", move_to_weight=1).steer(QUESTION, EMBEDDER)

    assert cosine(steered, "sea") == pytest.approx(cosine(steered, "wind power"), abs=1e-5)


@pytest.mark.promise("C04")
def test_more_weight_moves_further_to_the_one_and_away_from_the_other() -> None:
    weights = [0.0, 0.25, 0.5, 1.0]
    nearer = [cosine(Steering(move_to="sea", move_to_weight=w).steer(QUESTION, EMBEDDER), "sea") for w in weights]
    farther = [
        cosine(Steering(move_away_from="wind", move_away_from_weight=w).steer(QUESTION, EMBEDDER), "wind")
        for w in weights
    ]

    assert nearer == sorted(set(nearer))
    assert farther == sorted(set(farther), reverse=True)


def test_without_weight_nothing_moves() -> None:
    steered = Steering(move_to="sea", move_away_from="wind").steer(QUESTION, EMBEDDER)

    assert cosine(steered, QUESTION.text) == pytest.approx(1, abs=1e-5)


def test_an_embedding_that_is_there_already_is_moved_on_and_the_rest_stays() -> None:
    steered = Steering(move_to="sea", move_to_weight=1).steer(
        Query("wind", vector("tide"), QUESTION.terms, QUESTION.versions), EMBEDDER
    )

    assert cosine(steered, "tide") > 0.5
    assert (steered.text, steered.terms, steered.versions) == ("wind", QUESTION.terms, QUESTION.versions)


def test_opposites_that_cancel_out_leave_the_question_where_it_was() -> None:
    against = Query("wind", -vector("sea"))
    steered = Steering(move_to="sea", move_to_weight=1).steer(against, EMBEDDER)

    assert cosine(steered, "sea") == pytest.approx(-1, abs=1e-5)
