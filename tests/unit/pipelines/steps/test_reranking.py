import math

import pytest

from pipelines.row_cache import RowCache
from pipelines.running import FailedStepError
from pipelines.steps.lexical_reranking import analyzer, bm25, manhattan, rarity, tfidf_cosine
from tests.fakes.pipelines import body_of, fake_services, run_body
from tests.fakes.reranking import BrokenReranker, LengthReranker

QUERY = "Which rain falls on salt?"


@pytest.mark.parametrize("metric", ["Cosine", "Euclidean", "Manhattan", "BM25", "cosine-similarity", "Manhatten"])
def test_each_measure_ranks_the_text_with_the_words_first(metric: str) -> None:
    step = ("tf_idf_reranker", {"similarity_metric": metric})

    state = run_body(body_of("fake_source", step, query=QUERY))

    assert state.values("id") == ["c", "b", "a"]
    assert state.values("_reranking_rank_1_") == [1, 2, 3]
    assert state.values("_original_ranking_") == [3, 2, 1]


def test_measures_by_hand() -> None:
    texts = [["salt", "sun", "sun"], ["rain"]]
    idf = rarity(texts)
    rare = math.log(1 + 1.5 / 1.5)

    assert idf("salt") == idf("rain") == pytest.approx(rare)
    assert idf("snow") == pytest.approx(math.log(1 + 2.5 / 0.5))
    dampened = 1.2 * (1 - 0.75 + 0.75 * 3 / 2)
    assert bm25({"salt": 1}, texts, idf) == pytest.approx([rare * 2.2 / (1 + dampened), 0])
    salt, sun = 1 / math.hypot(1, 1 + math.log(2)), (1 + math.log(2)) / math.hypot(1, 1 + math.log(2))
    assert manhattan({"salt": 1}, texts, idf) == pytest.approx([-(1 - salt + sun), -2])
    assert tfidf_cosine({"salt": 1}, texts, idf) == pytest.approx([salt, 0])


def test_terms_are_those_of_the_search() -> None:
    assert analyzer().terms("Turbines turned") == ["turbin", "turn"]


@pytest.mark.promise("D21")
def test_an_optional_query_takes_the_place_of_the_pipelines() -> None:
    state = run_body(body_of("fake_source", ("embedding_reranker", {"query": "the sun heats salt"}), query=QUERY))

    assert state.values("id")[0] == "b"


@pytest.mark.promise("D13")
def test_each_reranker_adds_a_rank_column_of_its_own() -> None:
    state = run_body(body_of("fake_source", "embedding_reranker", ("tf_idf_reranker", {"similarity_metric": "BM25"})))

    assert state.rank_columns == ["_original_ranking_", "_reranking_rank_1_", "_reranking_rank_2_"]
    assert {"score_2_embedding", "score_3_bm25"} <= set(state.columns)


def test_embeddings_are_kept_by_query() -> None:
    cache = RowCache(None, 1_000_000)

    first = run_body(body_of("fake_source", "embedding_reranker", query="sun"), cache=cache)
    again = run_body(body_of("fake_source", "embedding_reranker", query="sun"), cache=cache)
    other = run_body(body_of("fake_source", "embedding_reranker", query="rain"), cache=cache)

    assert again.rows() == first.rows()
    assert [state.history[-1].found for state in (first, again, other)] == [0, 3, 0]


def test_the_cross_encoder_of_the_service_ranks() -> None:
    state = run_body(
        body_of("fake_source", "cross_encoder_reranker"), services=fake_services(reranker=LengthReranker())
    )

    assert state.values("id") == ["a", "b", "c"]
    assert state.values("score_2_cross_encoder") == [-18.0, -19.0, -24.0]


def test_a_cross_encoder_that_fails_is_named() -> None:
    with pytest.raises(FailedStepError, match=r"ModelError in step 2 \(cross_encoder_reranker\): .* out of memory"):
        run_body(body_of("fake_source", "cross_encoder_reranker"), services=fake_services(reranker=BrokenReranker()))
