import math

import pytest

from query_engine.retrieval.lexical_scoring import LAMBDA, ModelName, jelinek_mercer, judge, tfidf_cosine
from tests.fakes.words import FakeWords

BM25 = {"long": 3.0, "short": 2.0, "half": 1.0}
TEXTS = {
    "long": "wind turbine and many many more words of no use at all".split(),
    "short": "wind turbine".split(),
    "half": "wind wind wind wind".split(),
}
QUERY = {"wind": 1.0, "turbine": 1.0}
idf = FakeWords({"turbine": 3.0}).weight


def test_tfidf_is_the_cosine_of_weighted_terms() -> None:
    wind, turbine = 1.0, 3.0
    many = (1 + math.log(2)) * 1.0
    length = math.hypot(wind, turbine)

    scores = tfidf_cosine(QUERY, [TEXTS["short"], TEXTS["half"], "wind turbine many many".split(), ["rain"], []], idf)

    assert scores == pytest.approx([1.0, wind / length, (wind + turbine**2) / length / math.hypot(1, 3, many), 0, 0])


def test_jelinek_mercer_is_the_log_likelihood_above_the_corpuss() -> None:
    texts = [TEXTS["short"], TEXTS["half"], [], ["rain"]]
    distinct = (2 + 1 + 0 + 1) / 4

    def part(share_of_text: float, rarity: float) -> float:
        return math.log(1 + (1 - LAMBDA) * share_of_text / (LAMBDA * math.exp(-rarity) / distinct))

    scores = jelinek_mercer(QUERY, texts, idf)

    assert scores == pytest.approx([part(1 / 2, 1) + part(1 / 2, 3), part(1, 1), 0, 0])


@pytest.mark.parametrize("model", [tfidf_cosine, jelinek_mercer])
def test_a_weightier_term_of_the_question_counts_for_more(model: type) -> None:
    texts = [["wind", "rain"], ["turbine", "rain"]]

    wind, turbine = model({"wind": 5.0, "turbine": 0.5}, texts, idf)

    assert wind > turbine


@pytest.mark.parametrize(
    ("model", "order"),
    [
        ("bm25", ["long", "short", "half"]),
        ("tfidf", ["short", "long", "half"]),
        ("jelinek_mercer", ["short", "long", "half"]),
        ("fused", ["short", "long", "half"]),
    ],
)
def test_candidates_are_ordered_by_the_model_and_keep_how_bm25_falls(model: ModelName, order: list[str]) -> None:
    judged = judge(model, BM25, TEXTS, QUERY, idf)

    assert list(judged.lexical.items()) == list(zip(order, [3.0, 2.0, 1.0], strict=True))


def test_every_model_that_judged_shows_its_own_scores() -> None:
    assert judge("bm25", BM25, TEXTS, QUERY, idf).by_model == {}
    assert set(judge("tfidf", BM25, TEXTS, QUERY, idf).by_model) == {"bm25", "tfidf"}

    fused = judge("fused", BM25, TEXTS, QUERY, idf).by_model

    assert set(fused) == {"bm25", "tfidf", "jelinek_mercer"}
    assert fused["bm25"] == BM25
    assert all(list(scores.values()) == sorted(scores.values(), reverse=True) for scores in fused.values())


@pytest.mark.parametrize("model", ["bm25", "tfidf", "jelinek_mercer", "fused"])
def test_no_candidates_give_an_empty_order(model: ModelName) -> None:
    assert judge(model, {}, {}, QUERY, idf).lexical == {}
