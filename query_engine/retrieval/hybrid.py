"""Find leaves: dense search in Chroma, BM25 in tantivy, weighed by the tree's evidence.

Flow: query -> **here** (`fusion.py` weighs) -> reranking, `retrieval/merging/retriever.py`. A LlamaIndex retriever, so
its events are LlamaIndex's.

The two searches run in parallel: while the question is embedded, its words are looked up, then read in what both found.
"""

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.schema import NodeWithScore, QueryBundle

from index.corpus import Corpus
from index.documents.span_tree import split_node_id
from index.documents.store import StoredDocument
from index.embedding.cached import is_multilingual
from index.lexical.document_names import Called, question_names
from index.lexical.foreign_words import ForeignWords
from index.lexical.language import question_language
from index.lexical.tantivy_index import MAX_FREQUENCY_FACTOR, LexicalIndex, search_words
from query_engine.question.exact import leaves_naming, named_shares
from query_engine.question.identifiers import Identifier, has_one_dot, identifiers
from query_engine.retrieval.copies import Search, editions_in_order, search_distinct, without_repeats
from query_engine.retrieval.fusion import Candidates, fuse_plainly, identified_first, score_leaves
from query_engine.schema.hit import LeafHit
from query_engine.schema.query import Query, Vector
from query_engine.text.dictionary import in_dictionary
from query_engine.text.words import WORD
from settings import RetrievalSettings

# A longer question is a whole text; its first words say what it is about.
MAX_NAMES = 64


@dataclass(frozen=True, slots=True)
class _ByWords:
    """What the lexical search found; empty in dense mode.

    Attributes:
        terms: what was looked for, with weights.
        leaves: leaf -> BM25, best first.
        held: leaf -> which of the terms its own text holds.
        named: for each thing that may be a document's name, the rarity of its forms among names, its words' number,
            and the everyday word that it is, else "". Such words count only in a question for a section, where a name
            has them as they are: "require" does not name "Requirements".
        codes: the question's identifiers that some leaf names letter by letter.
    """

    terms: Mapping[str, float] = field(default_factory=dict)
    leaves: Mapping[str, float] = field(default_factory=dict)
    held: Mapping[str, frozenset[str]] = field(default_factory=dict)
    named: Sequence[tuple[Mapping[str, float], int, str]] = ()
    codes: Sequence[Identifier] = ()


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
        """Return the leaves that any search found and those between two of them, best first; `[]` when none did.

        No two of them hold the same text. In every mode but `lexical` each has its cosine: a row that is found by its
        number alone must not look less similar to those who read it than rows that the dense search happened to bring.
        """
        found, embedding = self._find(query)
        share = self._options.dense_share
        scored = score_leaves(found) if share is None else fuse_plainly(found, share)
        scored = identified_first(scored, found.named)
        if self._options.prefer_newest:
            scored = editions_in_order(query.text, scored, found.documents)
        hits = without_repeats(scored, found.documents)
        if embedding is not None and found.dense:
            distant = [hit for hit in hits if "dense" not in hit.scores]
            vectors = self._corpus.vectors.fetch([hit.node_id for hit in distant]) if distant else {}
            for hit in distant:
                if hit.node_id in vectors:  # otherwise its document is being replaced
                    hit.scores["dense"] = float(vectors[hit.node_id] @ embedding)
        return hits

    def find(self, query: Query) -> Candidates:
        """Search, and gather what the evidence is weighed from."""
        return self._find(query)[0]

    def _find(self, query: Query) -> tuple[Candidates, Vector | None]:
        with ThreadPoolExecutor(1) as beside:
            lexical = beside.submit(self._by_words, query)
            embedding = self.embedding(query)
            dense = self._by_meaning(embedding, query)
            by_words = lexical.result()
        versions = {split_node_id(name)[0] for name in (*dense, *by_words.leaves)}
        documents = self._corpus.documents.get_versions(versions)
        words = self._words(query)
        weights = {term: weight * words.weight(term) for term, weight in by_words.terms.items()}
        names = self._called(documents.values(), by_words.named)
        named = named_shares({*dense, *by_words.leaves}, by_words.codes, documents) if by_words.codes else {}
        elsewhere = _in_other_documents(named, by_words.codes, names)
        found = Candidates(
            documents=documents,
            dense={name: cosine for name, cosine in dense.items() if name not in elsewhere},
            lexical={name: bm25 for name, bm25 in by_words.leaves.items() if name not in elsewhere},
            most_lexical=MAX_FREQUENCY_FACTOR * sum(weights.values()) or 1.0,
            terms=self._titled(by_words, documents, words),
            term_weights=weights,
            parents=self._parents(documents, embedding),
            names=names,
            named={name: share for name, share in named.items() if name not in elsewhere},
            in_everyday_words=self._in_everyday_words(query, by_words),
            multilingual=is_multilingual(self._embedder),
        )
        return found, embedding

    def embedding(self, query: Query) -> Vector | None:
        """Return what the dense search looks near; None in lexical mode."""
        if self._options.mode == "lexical" or query.embedding is not None:
            return query.embedding
        return np.asarray(self._embedder.get_query_embedding(query.text), np.float32)

    def terms(self, query: Query) -> Mapping[str, float]:
        """Return what the lexical search looks for."""
        return (
            query.terms if query.terms is not None else dict.fromkeys(self._words(query).query_terms(query.text), 1.0)
        )

    def _words(self, query: Query) -> LexicalIndex | ForeignWords:
        """Return the words as the question's language sees them; given terms are the index's own."""
        words = self._corpus.lexical_index
        return words.words_of(query.text) if query.terms is None else words

    def _by_meaning(self, embedding: Vector | None, query: Query) -> dict[str, float]:
        if embedding is None or self._options.mode == "lexical":
            return {}
        vectors = self._corpus.vectors
        return self._distinct(lambda top_k: vectors.search(embedding, top_k, versions=query.versions), query)

    def _by_words(self, query: Query) -> _ByWords:
        if self._options.mode == "dense":
            return _ByWords()
        words, terms = self._words(query), self.terms(query)
        exact = self._exact(query)
        # The pieces of an identifier say nothing where it stands whole: 10.2.1.3 is not 10.3.2.1.
        pieces = {term for code in exact for spelling in code.spellings for term in words.terms(spelling)}
        terms = {term: weight for term, weight in terms.items() if term not in pieces}
        # The 5 of "section 5" is not that of a document called "Minutes of 5 June".
        numbers = {code.text for code in exact if code.is_section}
        asked = [word for word in search_words(query.text) if numbers.isdisjoint((word, word[:-1]))]
        called = {name: self._forms(name) for name in question_names(asked[:MAX_NAMES])}
        names = frozenset[str]().union(*called.values())
        hits = self._distinct(lambda top_k: words.search(terms, sorted(names), top_k, versions=query.versions), query)
        # A page called "Backup" is not what each question about a backup asks for; a section is one of a document.
        in_section = any(code.is_section for code in exact)
        words_of = {name: name.words[0].lower() for name in called}
        everyday = {name: word for name, word in words_of.items() if name.count == 1 and in_dictionary(word)}
        named = [
            (forms, name.count, everyday.get(name, ""))
            for name, forms in called.items()
            if in_section or name not in everyday
        ]
        hits |= {name: 0.0 for name in sorted(frozenset[str]().union(*exact.values())) if name not in hits}
        return _ByWords(terms, hits, words.held(terms, hits), named, tuple(exact))

    def _exact(self, query: Query) -> dict[Identifier, frozenset[str]]:
        """Return the question's identifiers that leaves name, with these leaves."""
        codes = [] if query.terms is not None else [one for one in identifiers(query.text) if one.is_code]
        # A number with one dot may also be a version: the reader alone tells it from others.
        codes = [one for one in codes if one.is_section or not has_one_dot(one.text)]
        found = {code: leaves_naming(code, self._corpus, query.versions) for code in codes}
        return {code: leaves for code, leaves in found.items() if leaves}

    def _distinct(self, search: Search, query: Query) -> dict[str, float]:
        return search_distinct(search, self._options.candidates_k, self._corpus.documents, query.versions)

    def _forms(self, name: Called) -> dict[str, float]:
        words = self._corpus.lexical_index
        return {term: words.name_weight(term) for word in name.words for term in words.terms(word)}

    def _titled(
        self, found: _ByWords, documents: Mapping[str, StoredDocument], words: LexicalIndex | ForeignWords
    ) -> dict[str, frozenset[str]]:
        """Return leaf -> which of the question's terms it holds, its document's title being part of it."""
        held = {}
        for name, terms in found.held.items():
            version, position = split_node_id(name)
            document = documents.get(version)
            if document is not None and position < len(document.tree):
                title = words.name_terms(document.title, document.doc_id).title
                held[name] = terms | (found.terms.keys() & title)
        return held

    def _called(
        self, documents: Iterable[StoredDocument], named: Sequence[tuple[Mapping[str, float], int, str]]
    ) -> dict[str, float]:
        """Return version -> how much of the question names the document: the rarity of each thing that does."""
        forms = frozenset[str]().union(*(weights for weights, _, _ in named))
        called = {}
        for document in documents:
            names = forms & self._corpus.lexical_index.name_terms(document.title, document.doc_id).names
            called[document.version] = float(
                sum(
                    count * max((weights[term] for term in weights.keys() & names), default=0.0)
                    for weights, count, everyday in named
                    if not everyday or everyday in WORD.findall(f"{document.title} {document.doc_id}".lower())
                )
                if names
                else 0
            )
        return called

    def _in_everyday_words(self, query: Query, found: _ByWords) -> bool:
        """Whether the question is English, and a dictionary has each of its words that a leaf holds.

        With a multilingual model also whether it is not English: the leaves may be in another language then, whose
        words prove nothing.
        """
        if question_language(query.text) != "en":
            return is_multilingual(self._embedder)
        words = self._corpus.lexical_index
        held = frozenset[str]().union(*found.held.values())
        asked = WORD.findall(" ".join(search_words(query.text)[:MAX_NAMES]).lower())
        return all(in_dictionary(word) for word in asked if not held.isdisjoint(words.terms(word)))

    def _parents(
        self, documents: Mapping[str, StoredDocument], embedding: Vector | None
    ) -> dict[str, dict[int, float]]:
        if embedding is None:
            return {}
        vectors = self._corpus.documents.parent_vectors(documents)
        return {version: dict(enumerate((rows @ embedding).tolist())) for version, rows in vectors.items()}

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        hits = [hit for hit in self.search(Query.of(query_bundle)) if hit.found]
        nodes = self._corpus.docstore.nodes(hit.node_id for hit in hits)
        # A hit without a node belongs to a document that is being replaced.
        return [NodeWithScore(node=nodes[hit.node_id], score=hit.score) for hit in hits if hit.node_id in nodes]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        # The embedder and both stores are synchronous: one thread hop keeps the event loop free.
        return await asyncio.to_thread(self._retrieve, query_bundle)


def _in_other_documents(
    named: Collection[str], codes: Sequence[Identifier], names: Mapping[str, float]
) -> frozenset[str]:
    """Return the leaves that name a section of another document than the question does: most have a section 4.

    `named` are leaves with one of the `codes`; `names` says how well each version's names match the question.
    """
    if not all(code.is_section for code in codes):
        return frozenset()
    least = max(names.values(), default=0.0) / 2
    return frozenset(name for name in named if names.get(split_node_id(name)[0], 0.0) < least)
