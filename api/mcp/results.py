"""What the tools of MCP return, in the form that ChatGPT's connectors expect, and the ids that lead to documents.

Flow: passages, documents, finished answers -> **here** -> `server.py` sends them. Pure, and without the SDK.
"""

import re
from typing import Any, NamedTuple, Self

from pydantic import BaseModel

from api.links import Links, web_url
from api.schemas.replies.answers import message_of, unsupported_in
from errors import RagError
from index.documents.store import StoredDocument
from index.maintenance.corpora import CorpusFacts
from query_engine.schema.events import Citation, Done, Nearest
from query_engine.schema.passage import Passage
from settings import CORPUS_NAME

_ID = re.compile(rf"(?P<corpus>{CORPUS_NAME.strip('^$')}):(?P<doc_id>.+)", re.DOTALL)
_SPAN = re.compile(r"(?P<doc_id>.+)#(?P<start>\d{1,12})-(?P<end>\d{1,12})", re.DOTALL)
MAX_CORPORA = 1000


class Place(BaseModel):
    """Where something stands.

    Attributes:
        id: what `fetch` takes.
        title: of the document.
        url: of the document, or of its page at this service.
        text: what stands there, as it stands there.
    """

    id: str
    title: str
    url: str
    text: str

    @classmethod
    def at(cls, place: Citation | Nearest | Passage, text: str, corpus: str, links: Links, **more: Any) -> Self:
        """Return a place in a document of `corpus`, unless it says itself which one it is from."""
        id_ = f"{place.corpus or corpus}:{place.doc_id}#{place.start}-{place.end}"
        return cls(id=id_, title=place.title or place.doc_id, url=links.of(place), text=text, **more)


class SearchResults(BaseModel):
    """What `search` returns, best first."""

    results: list[Place]

    @classmethod
    def build(cls, passages: tuple[Passage, ...], corpus: str, links: Links) -> Self:
        """Return passages as results."""
        return cls(results=[Place.at(one, one.text, corpus, links) for one in passages])


class FetchedDocument(Place):
    """What `fetch` returns: a document, or as much of it around the place as may be sent at once.

    Attributes:
        metadata: the document's, and under `treeline`: `corpus`, `doc_id`, `start` and `end` of `text` in the document,
            its whole length in `chars`, `truncated`.
    """

    metadata: dict[str, Any]


class Cited(Place):
    """A quote that supports the answer; `number` is the `n` of `[n]` in it."""

    number: int


class AskResult(BaseModel):
    """What `ask` returns.

    Attributes:
        answer: with `[n]` marks; null if the documents do not answer.
        message: what a person should read: the answer, or why there is none.
        citations: in the order of their numbers.
        closest: where the answer may also stand; empty where a language model wrote it.
        unsupported: figures, names, flags, paths, addresses and quoted words of the answer that no source holds.
        warnings: what lowered the quality.
        corpus: that was asked; `a+b` of several.
        answer_id: for feedback (`POST /feedback`); null if that is off.
    """

    answer: str | None
    message: str
    citations: list[Cited]
    closest: list[Place]
    unsupported: list[str]
    warnings: list[str]
    corpus: str
    answer_id: str | None

    @classmethod
    def build(cls, done: Done, corpus: str, links: Links, answer_id: str | None) -> Self:
        """Return a finished answer."""
        return cls(
            answer=done.answer,
            message=message_of(done),
            citations=[Cited.at(one, one.quote, corpus, links, number=one.number) for one in done.citations],
            closest=[Place.at(one, one.quote, corpus, links) for one in done.nearest],
            unsupported=unsupported_in(done),
            warnings=list(map(str, done.warnings)),
            corpus=corpus,
            answer_id=answer_id,
        )


class CorpusEntry(BaseModel):
    """One corpus; what is null could not be read, and `problem` says why."""

    name: str
    is_default: bool
    documents: int | None
    last_ingested_at: str | None
    problem: str | None


class CorpusList(BaseModel):
    """What `list_corpora` returns."""

    corpora: list[CorpusEntry]

    @classmethod
    def build(cls, facts: list[CorpusFacts], default: str) -> Self:
        """Return the corpora, at most `MAX_CORPORA`."""
        names = CorpusEntry.model_fields.keys() - {"is_default"}
        return cls(
            corpora=[
                CorpusEntry(is_default=one.name == default, **{name: getattr(one, name) for name in names})
                for one in facts[:MAX_CORPORA]
            ]
        )


class DocumentPlace(NamedTuple):
    """What an id names: a document of a corpus, and the span that was found in it, if one was."""

    corpus: str
    doc_id: str
    span: tuple[int, int] | None


def places_of(id_: str) -> list[DocumentPlace]:
    """Return what an id may name, the likeliest first: a document's own name may end like a span.

    Raises:
        RagError: it is not an id.
    """
    found = _ID.fullmatch(id_)
    if found is None:
        raise unknown_document()
    corpus, doc_id = found["corpus"], found["doc_id"]
    whole = DocumentPlace(corpus, doc_id, None)
    span = _SPAN.fullmatch(doc_id)
    if span is None:
        return [whole]
    return [DocumentPlace(corpus, span["doc_id"], (int(span["start"]), int(span["end"]))), whole]


def unknown_document() -> RagError:
    """Return the error of an id that leads nowhere."""
    return RagError(
        "There is no document with this id.",
        "Take an id from the results of `search` or `ask`; a whole document is `CORPUS:DOC_ID`.",
        "unknown_document",
    )


def to_fetched(id_: str, found: StoredDocument, place: DocumentPlace, links: Links, max_chars: int) -> FetchedDocument:
    """Return a document, or the part of at most `max_chars` characters that has the place's span in its middle."""
    size = len(found.text)
    start, end = place.span or (0, 0)
    first = max(0, min((start + end - max_chars) // 2, size - max_chars)) if start < end <= size else 0
    last = min(size, first + max_chars)
    span = (start, end) if start < end <= size else (first, last)
    about = {
        "corpus": place.corpus,
        "doc_id": found.doc_id,
        "start": first,
        "end": last,
        "chars": size,
        "truncated": last - first < size,
    }
    return FetchedDocument(
        id=id_,
        title=found.title or found.doc_id,
        text=found.text[first:last],
        url=web_url(found.url) or links.document(found.doc_id, *span),
        metadata={**found.metadata, "treeline": about},
    )
