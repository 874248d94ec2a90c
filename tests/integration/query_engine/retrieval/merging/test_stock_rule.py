"""`merge_rule: stock` is LlamaIndex's own merging, over real stores."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.core.retrievers import AutoMergingRetriever
from llama_index.core.schema import MetadataMode, NodeWithScore

from index.corpus import Corpus
from index.documents.docstore import SpanDocstore, UnknownNodeError
from query_engine.retrieval.hybrid import LeafRetriever
from query_engine.retrieval.merging.retriever import NOT_MERGED, MergingRetriever
from query_engine.schema.query import Query
from settings import RetrievalSettings
from tests.fakes.corpora import make_corpus
from tests.fakes.embedding import WordHashEmbedding

# Middles of three sentences each.
TEXTS = {
    "wind.md": "Turbines turn wind. Turbines have blades. Blades are long. Towers are tall. Towers carry turbines.",
    "water.md": "Dams hold water. Water turns turbines. Rivers carry water. Fish swim. Boats sail. Otters dive.",
    "sun.md": "Cells take light. Roofs carry cells. Deserts are sunny.",
    "note.md": "Turbines.",
}
QUESTIONS = ["Do turbines have blades?", "water turbines", "What carries towers?", "cells on roofs in deserts", "fish"]
UNCUT = {"merge_rule": "stock", "top_k": 200, "budget_chars": 200_000}


@pytest.fixture
def corpus(tmp_path: Path) -> Iterator[Corpus]:
    corpus = make_corpus(tmp_path / "books", TEXTS, WordHashEmbedding())
    yield corpus
    corpus.close()


def ours(corpus: Corpus, **options: Any) -> MergingRetriever:
    chosen = RetrievalSettings(**UNCUT | options)
    return MergingRetriever(corpus, LeafRetriever(corpus, WordHashEmbedding(), chosen), chosen)


def stock(corpus: Corpus, **options: Any) -> AutoMergingRetriever:
    leaves: Any = LeafRetriever(corpus, WordHashEmbedding(), RetrievalSettings(**options))
    return AutoMergingRetriever(leaves, StorageContext.from_defaults(docstore=corpus.docstore))


def shown(found: list[NodeWithScore]) -> list[tuple[str, float, str]]:
    return [(hit.node_id, hit.get_score(), hit.node.get_content(MetadataMode.NONE)) for hit in found]


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("candidates_k", [2, 5, 100])
def test_it_returns_the_nodes_and_scores_of_the_stock_class(corpus: Corpus, question: str, candidates_k: int) -> None:
    expected = shown(stock(corpus, candidates_k=candidates_k).retrieve(question))

    assert shown(ours(corpus, candidates_k=candidates_k).retrieve(question)) == expected
    assert expected


def test_some_of_those_are_merged_and_some_are_not(corpus: Corpus) -> None:
    levels = {
        hit.metadata["level"] for question in QUESTIONS for hit in ours(corpus, candidates_k=3).retrieve(question)
    }

    assert levels == {"root", "middle", "leaf"}


def test_the_stock_class_over_the_vectors_alone_gives_the_same_as_dense_search(corpus: Corpus) -> None:
    index = VectorStoreIndex.from_vector_store(corpus.vectors, embed_model=WordHashEmbedding())
    vectors: Any = index.as_retriever(similarity_top_k=4)
    expected = AutoMergingRetriever(vectors, StorageContext.from_defaults(docstore=corpus.docstore)).retrieve(
        "turbines"
    )

    found = ours(corpus, mode="dense", fusion="plain", dense_share=1.0, candidates_k=4).retrieve("turbines")

    assert [hit.node_id for hit in found] == [hit.node_id for hit in expected]
    assert [hit.get_score() for hit in found] == pytest.approx([hit.get_score() for hit in expected])


def test_budget_places_and_documents_cut_what_it_returns(corpus: Corpus) -> None:
    every = shown(ours(corpus).retrieve("water turbines"))
    assert len(every) > 2

    assert shown(ours(corpus, top_k=2).retrieve("water turbines")) == every[:2]
    # Two middles of the same document are shown at most once.
    capped = ours(corpus, candidates_k=2, max_per_document=1).retrieve("water turbines")
    assert len({hit.metadata["doc_id"] for hit in capped}) == len(capped)
    short = ours(corpus, budget_chars=200).retrieve("water turbines")
    assert shown(short) == every[: len(short)]
    assert sum(len(hit.text) for hit in short) <= 200 < sum(len(text) for _, _, text in every)


def test_a_merged_passage_names_the_leaves_it_was_merged_for(corpus: Corpus) -> None:
    (middle,) = [hit for hit in ours(corpus, candidates_k=3).retrieve("cells on roofs") if "cells" in hit.text]

    assert middle.metadata["merged"] == f"more than half of it matched ({len(middle.metadata['hits'])} leaves)"
    scores = [hit.score for hit in middle.metadata["hits"]]
    assert scores == sorted(scores, reverse=True)


def test_a_missing_parent_leaves_single_leaves_and_a_warning(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(_: SpanDocstore, doc_id: str) -> None:
        raise UnknownNodeError(f"There is no node {doc_id}.")

    monkeypatch.setattr(SpanDocstore, "get_document", nothing)

    found = ours(corpus).search(Query("Do turbines have blades?"))

    assert {passage.level for passage in found.passages} == {"leaf"}
    assert found.warnings == (NOT_MERGED,)
