"""Every leaf has its true similarity to the question, whichever search brought it, and the reader takes it as that."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from index.corpus import Corpus
from index.joined import JoinedCorpus
from query_engine.reader.leaves import prepared_leaves, stored_documents
from query_engine.retrieval.pipeline import RetrievalPipeline
from query_engine.schema.passage import Passage
from query_engine.search import CorpusSearch
from settings import RetrievalSettings
from tests.fakes.corpora import make_corpus
from tests.fakes.embedding import WordHashEmbedding, word_vector

# Every bolt is nearer to a question about a bolt's thread than the one with the asked number, whose row says more.
BOLTS = [f"Bolt BQ{number} thread of the bolt is M{number % 7}." for number in range(100, 140)]
ASKED = "Bolt ZX777 stored beside seventeen galvanised washers in crate nine under a lamp, thread M4."
TEXTS = {
    "bolts.md": " ".join([*BOLTS[:20], ASKED, *BOLTS[20:]]),
    "notes.md": "Crates stand in the yard. A yard has ZX778. Lamps are dim.",
}
QUESTIONS = [
    "What is the thread of the bolt ZX777?",
    "Which thread of the bolt has ZX777 and which BQ131?",
    "Where is ZX778?",
]


@pytest.fixture
def corpus(tmp_path: Path) -> Iterator[Corpus]:
    corpus = make_corpus(tmp_path / "bolts", TEXTS, WordHashEmbedding())
    yield corpus
    corpus.close()


def passages(corpus: Corpus, question: str, **options: Any) -> tuple[Passage, ...]:
    settings = RetrievalSettings(candidates_k=4, **options)
    search = CorpusSearch(corpus, WordHashEmbedding(), settings, RetrievalPipeline())
    return search.passages(question).passages


def true_similarity(question: str, text: str) -> float:
    return float(np.dot(word_vector(question), word_vector(text)))


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("options", [{}, {"mode": "dense"}, {"dense_share": 0.5}], ids=str)
@pytest.mark.parametrize("joined", [False, True])
def test_the_reader_is_told_the_true_similarity(
    corpus: Corpus, question: str, options: dict[str, Any], joined: bool
) -> None:
    searched = JoinedCorpus([corpus]) if joined else corpus
    found = passages(searched, question, **options)
    texts = {
        hit.node_id: passage.text[hit.start - passage.start : hit.end - passage.start]
        for passage in found
        for hit in passage.hits
    }

    assert texts
    for hit in (hit for passage in found for hit in passage.hits):
        assert hit.scores["dense"] == pytest.approx(true_similarity(question, texts[hit.node_id]), abs=0.01)
    told = {round(hit.scores["dense"], 6) for passage in found for hit in passage.hits}
    read = list(prepared_leaves(found, stored_documents(corpus.documents)))
    assert {round(leaf.similarity, 6) for leaf in read} <= told


def test_the_row_with_the_asked_number_is_found_by_words_alone(corpus: Corpus) -> None:
    best = passages(corpus, QUESTIONS[0])[0]
    hits = {hit.node_id: hit for hit in best.hits}

    assert ASKED in best.text
    assert any("dense" not in hit.ranks and "dense" in hit.scores for hit in hits.values())


def test_without_the_search_by_meaning_no_similarity_is_known(corpus: Corpus) -> None:
    found = passages(corpus, QUESTIONS[0], mode="lexical")

    assert found
    assert all("dense" not in hit.scores for passage in found for hit in passage.hits)
