from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from query_engine.retrieval.expansion.pseudo_relevance import Feedback
from query_engine.retrieval.expansion.query_encoder import QuestionReader
from query_engine.schema.hit import LeafHit
from query_engine.schema.query import Query, Vector
from settings import ExpansionSettings
from tests.fakes.embedding import WordHashEmbedding, word_vector
from tests.fakes.words import FakeWords

TEXTS = {
    "a": "the turbine turns and the turbine hums",
    "b": "turbine blades",
    "c": "rivers and rain",
}
HITS = [LeafHit("a", 0.6), LeafHit("b", 0.6), LeafHit("c", 0.1)]


def texts_of(node_ids: Sequence[str]) -> list[str]:
    return [TEXTS[node_id] for node_id in node_ids]


def vectors_of(node_ids: Sequence[str]) -> Mapping[str, Vector]:
    return {node_id: np.asarray(word_vector(TEXTS[node_id]), np.float32) for node_id in node_ids}


def feedback(**options: Any) -> Feedback:
    reader = QuestionReader(WordHashEmbedding(), FakeWords())
    return Feedback(reader, texts_of, vectors_of, ExpansionSettings(feedback=True, **options))


def cosine(query: Query, text: str) -> float:
    assert query.embedding is not None
    return float(query.embedding @ np.asarray(word_vector(text)))


def test_the_embedding_moves_towards_what_was_found() -> None:
    moved = feedback(feedback_leaves=2).expand(Query("what is wind"), lambda _: HITS)

    assert moved.embedding is not None
    assert np.linalg.norm(moved.embedding) == pytest.approx(1)
    assert cosine(moved, TEXTS["a"]) > float(np.dot(word_vector("what is wind"), word_vector(TEXTS["a"])))
    assert cosine(moved, "what is wind") > 0.7


def test_frequent_words_of_the_leaves_join_the_questions_words_in_their_share() -> None:
    moved = feedback(feedback_leaves=2, feedback_terms=2, feedback_weight=0.4).expand(
        Query("wind turbine"), lambda _: HITS
    )

    assert moved.terms is not None
    # By frequency over length: turbine 2/4 + 1/2, blades 1/2, all others 1/4.
    assert moved.terms == pytest.approx({"wind": 0.6, "turbine": 0.6 + 0.8 * 2 / 3, "blades": 0.8 / 3})
    assert sum(moved.terms.values()) == pytest.approx(2)


def test_a_leaf_counts_by_its_score_and_stop_words_not_at_all() -> None:
    moved = feedback(feedback_leaves=3, feedback_terms=50).expand(Query("wind"), lambda _: HITS)

    assert moved.terms is not None
    assert moved.terms["blades"] > moved.terms["rivers"] > 0
    assert not {"the", "and"} & moved.terms.keys()


def test_only_the_first_leaves_are_asked() -> None:
    moved = feedback(feedback_leaves=2, feedback_terms=50).expand(Query("wind"), lambda _: HITS)

    assert moved.terms is not None
    assert "rivers" not in moved.terms


def test_without_terms_only_the_embedding_moves() -> None:
    moved = feedback(feedback_terms=0).expand(Query("wind"), lambda _: HITS)

    assert moved.terms == {"wind": 1.0}
    assert cosine(moved, "wind") < 0.999


def test_what_another_expansion_made_of_the_query_is_its_beginning() -> None:
    embedding = np.asarray(word_vector("storm"), np.float32)

    moved = feedback(feedback_weight=0.1, feedback_leaves=1).expand(
        Query("wind", embedding, {"storm": 2.0}), lambda _: HITS
    )

    assert cosine(moved, "storm") > 0.9
    assert moved.terms is not None
    assert moved.terms["storm"] == pytest.approx(1.8)
    assert "wind" not in moved.terms


def test_nothing_found_changes_nothing() -> None:
    query = Query("wind")

    assert feedback().expand(query, lambda _: []) is query


def test_the_scope_stays() -> None:
    moved = feedback().expand(Query("wind", versions=frozenset({"v1"})), lambda _: HITS)

    assert (moved.text, moved.versions) == ("wind", frozenset({"v1"}))
