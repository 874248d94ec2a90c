"""Find paragraphs of papers: dense search, within the papers that a keyword search picked or within all.

Flow: `POST /vector`, `POST /hybrid` -> **here** -> leaves with their cosine distance, nearest first. A second, plain
path beside `engine.py`, for clients of ASK-xDD: it neither weighs evidence nor merges.

A paragraph is a leaf. A paper is all documents with one `paper_id`: its text and its figures, tables and equations;
any other document is a separate paper, known by its doc_id. How papers are ingested: `docs/formats.md`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding

from index.corpus import Corpus
from index.documents.span_tree import chunk_id, node_id, split_node_id
from index.documents.store import StoredDocument
from query_engine.retrieval.steering import Steering
from query_engine.schema.hit import LeafHit
from query_engine.schema.passage import Passage
from query_engine.schema.query import Query

PARAGRAPH = "paragraph"
_CAPITALIZED = re.compile(r"\b(?:[^\W_]*[A-Z]){2}\w*(?:-\w+)*")
# Papers named in one filter, each of them twice.
PAPERS_AT_ONCE = 200
WIDER = 4

Versions = frozenset[str]


@dataclass(frozen=True, slots=True)
class PaperQuestion:
    """A question and what its paragraphs must meet.

    Attributes:
        text: the question.
        top_k: how many paragraphs.
        max_distance: largest cosine distance, 0..2; None sets no limit.
        topic: of the papers.
        doc_type: of the documents: `paragraph`, which is also what has no type, or `figure`, `table`, `equation`.
        preprocessor_id: of the documents.
        paper_ids: only these papers.
        paragraph_terms: the paragraph holds all of them, as they are written.
        screening_top_k: papers that the keyword search picks; None searches in all.
        steering: moves the question.
    """

    text: str
    top_k: int = 5
    max_distance: float | None = None
    topic: str | None = None
    doc_type: str | None = None
    preprocessor_id: str | None = None
    paper_ids: Sequence[str] | None = None
    paragraph_terms: Sequence[str] = ()
    screening_top_k: int | None = None
    steering: Steering = field(default_factory=Steering)


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A leaf of a paper.

    Attributes:
        document: that it is from.
        text: of the leaf.
        distance: 1 - cosine of the question and the leaf, 0..2.
        position: of the leaf in the document's tree.
    """

    document: StoredDocument
    text: str
    distance: float
    position: int = 0

    @property
    def paper_id(self) -> str:
        """The paper's name."""
        return paper_id(self.document)

    @property
    def terms(self) -> list[str]:
        """The document's terms that stand in this paragraph, and its words of more than one capital letter."""
        known = self.document.metadata.get("paragraph_terms")
        found = [term for term in known if self.holds(term)] if isinstance(known, list) else []
        return list(dict.fromkeys(found + _CAPITALIZED.findall(self.text)))

    def passage(self, rank: int) -> Passage:
        """Return it as a passage that was found as the `rank`th, from 1."""
        document, span = self.document, self.document.tree[self.position]
        name, cosine = node_id(document.version, self.position), 1 - self.distance
        return Passage(
            node_id=name,
            chunk_id=chunk_id(document.doc_id, document.tree.ordinal_at(span.start)),
            doc_id=document.doc_id,
            title=document.title,
            url=document.url,
            level="leaf",
            start=span.start,
            end=span.end,
            pages=document.pages_of(span.start, span.end),
            score=cosine,
            scores={"dense": cosine},
            text=self.text,
            hits=(LeafHit(name, cosine, {"dense": cosine}, {"dense": rank}, span.start, span.end),),
            **document.origin(span.start),
        )

    def holds(self, term: str) -> bool:
        """Say whether a term stands here as it is written, lines apart."""
        return term in " ".join(self.text.split())


def paper_id(document: StoredDocument) -> str:
    """Return the paper that a document belongs to."""
    return str(document.metadata.get("paper_id", document.doc_id))


class PaperSearch:
    """Searches the papers of one corpus. Calls block.

    Args:
        corpus: an open corpus.
        embedder: the model the corpus was built with.
    """

    def __init__(self, corpus: Corpus, embedder: BaseEmbedding) -> None:
        self._corpus = corpus
        self._embedder = embedder

    def search(self, question: PaperQuestion) -> list[Paragraph]:
        """Return at most `top_k` paragraphs, nearest first; `[]` if none meets what was asked."""
        documents = self._papers(question)
        # Every step narrows: a paper that screening picks also has documents that the conditions leave out.
        if question.screening_top_k is not None:
            screened = self._screened(question.text, question.screening_top_k, documents)
            documents = _both(documents, self._versions_of(screened))
        documents = _both(documents, self._versions(_conditions(question)))
        for term in question.paragraph_terms:
            documents = _both(documents, self._holding(term, documents))
        query = question.steering.steer(Query(question.text, versions=documents), self._embedder)
        assert query.embedding is not None
        top_k = question.top_k
        while True:
            hits = self._corpus.vectors.search(query.embedding, top_k, documents)
            different: dict[str, Paragraph] = {}  # by text: copies of a paper would fill the list
            for paragraph in self._paragraphs(hits):
                if _meets(paragraph, question):
                    different.setdefault(paragraph.text.strip(), paragraph)
            found = list(different.values())
            exhausted = len(hits) < top_k or _is_beyond(hits[-1][1], question.max_distance)
            if exhausted or len(found) >= question.top_k:
                return found[: question.top_k]
            top_k *= WIDER

    def _papers(self, question: PaperQuestion) -> Versions | None:
        """Return the documents of all papers that may be found; None means all."""
        of_topic = None if question.topic is None else self._versions_of_topic(question.topic)
        return of_topic if question.paper_ids is None else _both(of_topic, self._versions_of(question.paper_ids))

    def _screened(self, text: str, screening_top_k: int, versions: Versions | None) -> list[str]:
        """Return the papers with the best leaves by their words, best first."""
        words = self._corpus.lexical_index
        terms = words.query_terms(text)
        top_k = screening_top_k
        while True:
            hits = words.search(dict.fromkeys(terms, 1.0), terms, top_k, versions)
            names = [split_node_id(name)[0] for name, _ in hits]
            documents = self._corpus.documents.get_versions(names)
            papers = dict.fromkeys(paper_id(documents[name]) for name in names if name in documents)
            if len(papers) >= screening_top_k or len(hits) < top_k:
                return list(papers)[:screening_top_k]
            top_k *= WIDER

    def _versions(self, conditions: Sequence[dict[str, Any]]) -> Versions | None:
        return self._corpus.catalogue.versions({"filters": list(conditions)}) if conditions else None

    def _versions_of_topic(self, topic: str) -> Versions:
        # A paper that was ingested under several topics has a list of them.
        either = [{"key": "topic", "operator": operator, "value": topic} for operator in ("==", "contains")]
        return self._corpus.catalogue.versions({"filters": either, "condition": "or"})

    def _versions_of(self, papers: Sequence[str]) -> Versions:
        found = Versions()
        for start in range(0, len(papers), PAPERS_AT_ONCE):
            names = list(papers[start : start + PAPERS_AT_ONCE])
            either = [{"key": key, "operator": "in", "value": names} for key in ("paper_id", "doc_id")]
            found |= self._corpus.catalogue.versions({"filters": either, "condition": "or"})
        return found

    def _holding(self, term: str, versions: Versions | None) -> Versions | None:
        """Return documents of which a paragraph holds the term's words; None if it has none that are searched."""
        words = self._corpus.lexical_index
        if not words.terms(term):
            return None
        return Versions(split_node_id(name)[0] for name in words.holding(term, versions))

    def _paragraphs(self, hits: Sequence[tuple[str, float]]) -> Iterator[Paragraph]:
        documents = self._corpus.documents.get_versions(split_node_id(name)[0] for name, _ in hits)
        for name, cosine in hits:
            version, position = split_node_id(name)
            if version in documents:  # otherwise it is being replaced
                span = documents[version].tree[position]
                text = documents[version].text[span.start : span.end]
                yield Paragraph(documents[version], text, max(0.0, 1 - cosine), position)


def _conditions(question: PaperQuestion) -> list[dict[str, Any]]:
    conditions: list[dict[str, Any]] = []
    if question.doc_type is not None:
        kinds: list[dict[str, Any]] = [{"key": "doc_type", "value": question.doc_type}]
        if question.doc_type == PARAGRAPH:
            kinds.append({"key": "doc_type", "operator": "is_empty"})
        conditions.append({"filters": kinds, "condition": "or"})
    if question.preprocessor_id is not None:
        conditions.append({"key": "preprocessor_id", "value": question.preprocessor_id})
    return conditions


def _both(one: Versions | None, other: Versions | None) -> Versions | None:
    if one is None or other is None:
        return other if one is None else one
    return one & other


def _is_beyond(cosine: float, max_distance: float | None) -> bool:
    return max_distance is not None and 1 - cosine > max_distance


def _meets(paragraph: Paragraph, question: PaperQuestion) -> bool:
    near = question.max_distance is None or paragraph.distance <= question.max_distance
    return near and all(map(paragraph.holds, question.paragraph_terms))
