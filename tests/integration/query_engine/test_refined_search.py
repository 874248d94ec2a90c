"""What is done to a query before the search and to its leaves after it, over real stores with a fake embedder."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from index.corpus import Corpus
from query_engine.leaves import LeafRetriever
from query_engine.query import Query
from settings import RetrievalSettings
from tests.fakes.corpora import make_corpus
from tests.fakes.embedding import WordHashEmbedding

TEXTS = {
    "wind.md": "Turbines turn wind into power. Albert Betz published the rotor limit in 1919. Gearboxes wear out.",
    "water.md": "Dams hold water back. Rivers run turbines too.",
    "rotor.md": "A rotor.",
}


@pytest.fixture
def corpus(tmp_path: Path) -> Iterator[Corpus]:
    corpus = make_corpus(tmp_path / "books", TEXTS, WordHashEmbedding())
    yield corpus
    corpus.close()


def search(corpus: Corpus, **options: Any) -> list[dict[str, float]]:
    found = LeafRetriever(corpus, WordHashEmbedding(), RetrievalSettings(**options)).search(Query("rotor limit"))
    for name in ("bm25", "tfidf", "jelinek_mercer"):
        scored = sorted((hit for hit in found if name in hit.scores), key=lambda hit: -hit.scores[name])
        assert [hit.ranks[name] for hit in scored] == list(range(1, len(scored) + 1))
    return [hit.scores for hit in found]


@pytest.mark.parametrize("fusion", ["evidence", "plain"])
def test_another_model_of_words_orders_the_lexical_candidates_and_shows_its_scores(corpus: Corpus, fusion: str) -> None:
    plain = [scores for scores in search(corpus, fusion=fusion) if "lexical" in scores]
    fused = [scores for scores in search(corpus, fusion=fusion, lexical_model="fused") if "lexical" in scores]

    assert len(plain) == len(fused) == 2
    assert not any({"bm25", "tfidf", "jelinek_mercer"} & scores.keys() for scores in plain)
    assert all({"bm25", "tfidf", "jelinek_mercer"} <= scores.keys() for scores in fused)
    assert sorted(scores["bm25"] for scores in fused) == sorted(scores["lexical"] for scores in plain)
    assert all(0 < scores["tfidf"] <= 1 for scores in fused)
