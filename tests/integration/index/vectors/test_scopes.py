"""Searches within some documents find what a search over these documents alone would find."""

from collections.abc import Iterator

import pytest
from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.core.vector_stores import MetadataFilter, MetadataFilters
from llama_index.core.vector_stores.types import FilterOperator, VectorStoreQuery

from errors import FilterError
from index.corpus import Corpus
from index.documents.span_tree import split_node_id
from tests.fakes.corpora import make_corpus
from tests.fakes.embedding import WordHashEmbedding, word_vector
from tests.fakes.filters import one

# Only the first ten documents hold the question's words: filtering after the search finds nothing in the others.
NEAR = {f"near{number}.md": f"Betz limits rotor power {number}. Betz limits turbines." for number in range(10)}
FAR = {f"far{number}.md": f"Fish climb ladders {number}. Betz swims {number}." for number in range(30)}
QUESTION = word_vector("Betz limits rotor power")
TERMS = {"betz": 1.0, "limit": 1.0, "rotor": 1.0}
# More than Chroma takes in one condition; names that nobody has cost nothing else.
MANY = [f"{number:020x}" for number in range(40_000)]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    corpus = make_corpus(tmp_path_factory.mktemp("scopes") / "books", NEAR | FAR, WordHashEmbedding())
    yield corpus
    corpus.close()


@pytest.fixture(scope="module")
def far(corpus: Corpus) -> frozenset[str]:
    return corpus.catalogue.versions(one("doc_id", "text_match", "far"))


def best_of(hits: list[tuple[str, float]], versions: frozenset[str], top_k: int) -> list[float]:
    return [score for name, score in hits if split_node_id(name)[0] in versions][:top_k]


def test_meaning_is_searched_among_the_named_documents_only(corpus: Corpus, far: frozenset[str]) -> None:
    everything = corpus.vectors.search(QUESTION, 80)
    hits = corpus.vectors.search(QUESTION, 2, far)

    assert best_of(everything[:16], far, 2) == []
    assert {split_node_id(name)[0] for name, _ in hits} <= far
    assert [score for _, score in hits] == pytest.approx(best_of(everything, far, 2), abs=1e-5)


def test_words_are_searched_among_the_named_documents_only_and_score_the_same(
    corpus: Corpus, far: frozenset[str]
) -> None:
    everything = corpus.lexical_index.search(TERMS, [], 80)
    hits = corpus.lexical_index.search(TERMS, [], 5, far)

    assert best_of(everything[:5], far, 5) == []
    assert {split_node_id(name)[0] for name, _ in hits} <= far
    assert [score for _, score in hits] == best_of(everything, far, 5)


def test_leaves_that_hold_all_words_are_all_found(corpus: Corpus, far: frozenset[str]) -> None:
    assert len(corpus.lexical_index.holding("betz")) == 50
    assert len(corpus.lexical_index.holding("Betz limited")) == 20
    assert corpus.lexical_index.holding("Betz limited", far) == corpus.lexical_index.holding("?!") == []


def test_nothing_is_found_in_no_documents(corpus: Corpus) -> None:
    assert corpus.vectors.search(QUESTION, 5, frozenset()) == []
    assert corpus.lexical_index.search(TERMS, [], 5, frozenset()) == []


@pytest.mark.parametrize("top_k", [1, 2, 80])
def test_more_documents_than_chroma_takes_at_once_are_searched_all(
    corpus: Corpus, far: frozenset[str], top_k: int
) -> None:
    scope = far | frozenset(MANY)

    assert corpus.vectors.search(QUESTION, top_k, scope) == corpus.vectors.search(QUESTION, top_k, far)
    assert corpus.lexical_index.search(TERMS, [], top_k, scope) == corpus.lexical_index.search(TERMS, [], top_k, far)


def test_chroma_is_given_no_condition_where_more_neighbours_are_enough(
    corpus: Corpus, far: frozenset[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    few = corpus.vectors.search(QUESTION, 3, far)
    monkeypatch.setattr("index.vectors.chroma.Collection.nearest_of", None)

    assert corpus.vectors.search(QUESTION, 20, far)[:3] == few


def test_llamaindex_filters_say_which_documents_may_be_found(corpus: Corpus) -> None:
    index = VectorStoreIndex.from_vector_store(
        corpus.vector_store,
        embed_model=WordHashEmbedding(),
        storage_context=StorageContext.from_defaults(docstore=corpus.docstore, vector_store=corpus.vector_store),
    )
    filters = MetadataFilters(
        filters=[
            MetadataFilter(key="doc_id", operator=FilterOperator.IN, value=["far3.md", "far4.md", "near1.md"]),
            MetadataFilters(
                filters=[MetadataFilter(key="doc_id", operator=FilterOperator.TEXT_MATCH, value="near")],
                condition="not",
            ),
        ]
    )

    found = index.as_retriever(similarity_top_k=9, filters=filters).retrieve("Betz limits rotor power")

    assert {result.node.metadata["doc_id"] for result in found} == {"far3.md", "far4.md"}


def test_llamaindex_document_ids_are_a_filter_too(corpus: Corpus) -> None:
    found = corpus.vector_store.query(
        VectorStoreQuery(query_embedding=QUESTION, doc_ids=["far7.md", "gone.md"], similarity_top_k=9)
    )

    assert {node.metadata["doc_id"] for node in found.nodes or []} == {"far7.md"}


def test_what_the_store_cannot_filter_by_is_refused(corpus: Corpus) -> None:
    with pytest.raises(ValueError, match="filtered by documents only"):
        corpus.vector_store.query(VectorStoreQuery(query_embedding=QUESTION, node_ids=["x"]))
    with pytest.raises(FilterError, match="is empty"):
        corpus.vector_store.query(VectorStoreQuery(query_embedding=QUESTION, filters=MetadataFilters(filters=[])))
