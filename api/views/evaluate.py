"""Turn a finished answer into the reply of `POST /evaluate`.

Flow: the stream's last event -> **here** -> JSON. Pure.

Competition clients read two keys and keep the rest as they come, so everything an offline evaluation needs (contexts
and where they stand, citations, who wrote the answer) travels in the extra keys.
"""

from dataclasses import asdict
from typing import Any

from api.views.linked import references
from api.views.links import Links
from query_engine.schema.events import Citation, Done, Nearest
from query_engine.schema.passage import Passage
from query_engine.steps import DONT_KNOW

NO_MESSAGE = f"{DONT_KNOW} Nothing was written for this question."


def message_of(done: Done) -> str:
    """Return what a person should read. Never empty: one empty answer makes a whole submission invalid."""
    return done.message.strip() or NO_MESSAGE


def to_reply(
    done: Done, iid: str, links: Links, *, with_references: bool = False, answer_id: str | None = None
) -> dict[str, Any]:
    """Return the reply as JSON-ready values; `query_id` is `iid`, `context_sources[i]` belongs to `contexts[i]`.

    Args:
        done: the finished answer.
        iid: of the question.
        links: into the corpus it was written from.
        with_references: whether the addresses of the citations end the response, for judges that read nothing else.
        answer_id: for feedback.
    """
    return {
        "query_id": iid,
        "generated_response": message_of(done) + (references(done.citations, links) if with_references else ""),
        "citations": [citation_of(citation, links) for citation in done.citations],
        "contexts": [passage.text for passage in done.passages],
        "context_sources": [_source_of(passage) for passage in done.passages],
        "answered": done.answer is not None,
        "gate_reason": done.gate_reason,
        "decline_text": done.decline_text or None,
        "unsupported": [asdict(one) for one in done.unsupported],
        "synthesizer": done.synthesizer,
        "warnings": list(map(str, done.warnings)),
        "timings_ms": done.timings_ms,
        "fingerprint": done.fingerprint,
        "answer_id": answer_id,
    }


def unsupported_in(done: Done) -> list[str]:
    """Return what of the answer no source holds, each once: for replies in which the answer's places have moved."""
    return list(dict.fromkeys(one.text for one in done.unsupported))


def citation_of(citation: Citation, links: Links) -> dict[str, Any]:
    """Return a citation as JSON-ready values; `url` is the document's own or leads to its page here."""
    return {
        "number": citation.number,
        "doc_id": citation.doc_id,
        "chunk_id": citation.chunk_id,
        "start": citation.start,
        "end": citation.end,
        "quote": citation.quote,
        "url": links.of(citation),
        "title": citation.title,
        "marks": citation.marks,
        **corpus_of(citation),
    }


def nearest_of(nearest: Nearest, links: Links) -> dict[str, Any]:
    """Return a place close to a question as JSON-ready values; `url` as for a citation. Not in this reply."""
    return {
        "doc_id": nearest.doc_id,
        "title": nearest.title,
        "url": links.of(nearest),
        "start": nearest.start,
        "end": nearest.end,
        "quote": nearest.quote,
        "headings": nearest.headings,
        **corpus_of(nearest),
    }


def corpus_of(place: Citation | Nearest | Passage) -> dict[str, str]:
    """Return which of the corpora that were asked a place is from; nothing where one was."""
    return {"corpus": place.corpus} if place.corpus else {}


def _source_of(passage: Passage) -> dict[str, Any]:
    """Return where a passage stands; its text is `[start, end)` of the document's, `pages` count from 0."""
    return {
        "doc_id": passage.doc_id,
        "chunk_id": passage.chunk_id,
        "title": passage.title,
        "start": passage.start,
        "end": passage.end,
        "pages": passage.pages,
        "score": passage.score,
        **origin_of(passage),
    }


def origin_of(passage: Passage) -> dict[str, Any]:
    """Return what is known of the document that a passage is from, as JSON-ready values."""
    return {
        "source_path": passage.source_path,
        "content_type": passage.content_type,
        "chunk_index": passage.chunk_index,
        "metadata": passage.metadata,
        **corpus_of(passage),
    }
