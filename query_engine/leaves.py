"""Find leaves: dense search in Chroma, BM25 in tantivy, weighed by the tree's evidence.

Flow: query -> **here** (`evidence.py` weighs) -> reranking, `merging.py`. A LlamaIndex retriever, so its events are
LlamaIndex's.

The two searches run side by side: while the question is embedded, its words are looked up, and read in what they found.
"""

import asyncio
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from index.corpus import Corpus
from index.documents import StoredDocument
from index.lexical import MAX_FREQUENCY_FACTOR, content_words
from index.names import Called, document_names, question_names
from index.nodes import split_node_id
from query_engine.evidence import Found, fuse_plainly, score_leaves
from query_engine.hits import LeafHit
from query_engine.lexical_models import Judged, judge, note_models
from query_engine.query import Query, Vector
from settings import RetrievalSettings

# A longer question is a text; its first words say what it is about.
MAX_NAMES = 64


@dataclass(frozen=True, slots=True)
class _ByWords:
    """What the lexical search found; empty in dense mode."""

    terms: Mapping[str, float]
    judged: Judged
    held: Mapping[str, frozenset[str]]
    named: list[tuple[frozenset[str], int]]


class LeafRetriever(BaseRetriever):
    """Hybrid search over the leaves of one corpus.

    Args:
        corpus: what to search.
        embedder: embeds the question; the model the corpus was built with.
        options: mode, candidates a search, how both are fused.
    """

    def __init__(self, corpus: Corpus, embedder: BaseEmbedding, options: RetrievalSettings) -> None:
        super().__init__()
        self._corpus = corpus
        self._embedder = embedder
        self._options = options

    def search(self, query: Query) -> list[LeafHit]:
        """Return the leaves that any search found and their neighbours, best first; `[]` when none did."""
        found = self.find(query)
        if self._options.fusion == "plain":
            hits = fuse_plainly(found, self._options.dense_share)
        else:
            hits = score_leaves(found)
        note_models(hits, found.by_model)
        return hits

    def find(self, query: Query) -> Found:
        """Search, and gather what the evidence is weighed from."""
        with ThreadPoolExecutor(1) as beside:
            words = beside.submit(self._by_words, query)
            embedding = self.embedding(query)
            dense = self._by_meaning(embedding, query)
            by_words = words.result()
        versions = {split_node_id(name)[0] for name in (*dense, *by_words.judged.lexical)}
        documents = self._corpus.documents.get_versions(versions)
        weights = {term: weight * self._corpus.words.weight(term) for term, weight in by_words.terms.items()}
        return Found(
            documents=documents,
            dense=dense,
            lexical=by_words.judged.lexical,
            by_model=by_words.judged.by_model,
            most_lexical=MAX_FREQUENCY_FACTOR * sum(weights.values()) or 1.0,
            terms=by_words.held,
            term_weights=weights,
            parents=self._parents(documents, embedding),
            names={version: self._called(document, by_words.named) for version, document in documents.items()},
        )

    def embedding(self, query: Query) -> Vector | None:
        """Return what the dense search looks near; None in lexical mode."""
        if self._options.mode == "lexical" or query.embedding is not None:
            return query.embedding
        return np.asarray(self._embedder.get_query_embedding(query.text), np.float32)

    def terms(self, query: Query) -> Mapping[str, float]:
        """Return what the lexical search looks for."""
        return (
            query.terms if query.terms is not None else dict.fromkeys(self._corpus.words.query_terms(query.text), 1.0)
        )

    def _by_meaning(self, embedding: Vector | None, query: Query) -> dict[str, float]:
        if embedding is None or self._options.mode == "lexical":
            return {}
        return dict(self._corpus.vectors.search(embedding, self._options.candidates_k, versions=query.versions))

    def _by_words(self, query: Query) -> _ByWords:
        if self._options.mode == "dense":
            return _ByWords({}, Judged({}), {}, [])
        words, terms = self._corpus.words, self.terms(query)
        called = [(self._forms(name), name.count) for name in question_names(content_words(query.text)[:MAX_NAMES])]
        names = frozenset[str]().union(*(forms for forms, _ in called))
        hits = dict(words.search(terms, sorted(names), self._options.candidates_k, versions=query.versions))
        documents = self._corpus.documents.get_versions(split_node_id(name)[0] for name in hits)
        texts = {name: words.terms(_text(name, documents)) for name in hits}
        judged = judge(self._options.lexical_model, hits, texts, terms, words.weight)
        held = {name: frozenset(terms.keys() & text) for name, text in texts.items() if text}
        return _ByWords(terms, judged, held, called)

    def _forms(self, name: Called) -> frozenset[str]:
        return frozenset(term for word in name.words for term in self._corpus.words.terms(word))

    def _called(self, document: StoredDocument, named: list[tuple[frozenset[str], int]]) -> float:
        """Return how much of the question names the document: the rarity of each thing that does."""
        words = self._corpus.words
        names = set(words.terms(document_names(document.title, document.doc_id)))
        return sum(
            count * max((words.name_weight(term) for term in forms & names), default=0.0) for forms, count in named
        )

    def _parents(
        self, documents: Mapping[str, StoredDocument], embedding: Vector | None
    ) -> dict[str, dict[int, float]]:
        if embedding is None:
            return {}
        vectors = self._corpus.documents.parent_vectors(documents)
        return {
            version: dict(enumerate((rows.astype(np.float32) @ embedding).tolist()))
            for version, rows in vectors.items()
        }

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [
            NodeWithScore(node=TextNode(id_=hit.node_id, metadata={"scores": hit.scores}), score=hit.score)
            for hit in self.search(Query.of(query_bundle))
        ]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        # The embedder and both stores are synchronous: one thread hop keeps the event loop free.
        return await asyncio.to_thread(self._retrieve, query_bundle)


def _text(name: str, documents: Mapping[str, StoredDocument]) -> str:
    """Return a leaf's text below its document's title, as it was embedded; empty if it is being replaced."""
    version, position = split_node_id(name)
    document = documents.get(version)
    if document is None or position >= len(document.tree):
        return ""
    span = document.tree[position]
    return f"{document.title}\n{document.text[span.start : span.end]}"
