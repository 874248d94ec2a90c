"""The reply of `POST /query`, and the events of `POST /query/stream`, as clients of bedrock-rag-eval read them.

Flow: engine events -> **here** -> JSON, or `answering/sse.py`. Pure.

    (token {"token"} | step {"kind", "text"} | restart {"reason"})*
    then one: done {what `/query` replies} | error {"code", "detail"}

An answer from the cache comes as any other; `cache_hit` tells it.
"""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from api.views.deltas import DeltaView, sse
from api.views.evaluate import citation_of, message_of, nearest_of, origin_of
from api.views.links import Links
from query_engine.schema.events import Done, Step
from query_engine.schema.passage import Passage


def to_query_reply(done: Done, links: Links, *, include_context: bool, answer_id: str | None = None) -> dict[str, Any]:
    """Return the reply as JSON-ready values; `answer` is null and `citations` empty where the documents do not answer.

    `nearest` holds where the answer may also stand.

    Args:
        done: the finished answer.
        links: into the corpus it was written from.
        include_context: whether `retrieved` and `contexts` hold the passages, or null.
        answer_id: for feedback.
    """
    passages = done.passages
    return {
        "answer": done.answer,
        "citations": [citation_of(citation, links) for citation in done.citations],
        "nearest": [nearest_of(one, links) for one in done.nearest],
        "retrieved": [retrieved_of(passage) for passage in passages] if include_context else None,
        "retrieved_count": len(passages),
        "max_score": max((passage.score for passage in passages), default=None),
        "gate_reason": done.gate_reason,
        "cache_hit": done.cache_hit,
        "answered": done.answer is not None,
        "message": message_of(done),
        "decline_text": done.decline_text or None,
        "unsupported": [asdict(one) for one in done.unsupported],
        "contexts": [passage.text for passage in passages] if include_context else None,
        "synthesizer": done.synthesizer,
        "warnings": list(map(str, done.warnings)),
        "timings_ms": done.timings_ms,
        "fingerprint": done.fingerprint,
        "answer_id": answer_id,
    }


class QueryView(DeltaView):
    """The state of one stream.

    Args:
        links: into the corpus that is asked.
        include_context: whether the last event holds the passages.
        answer_id: for feedback.
    """

    def __init__(self, links: Links, *, include_context: bool, answer_id: str | None = None) -> None:
        super().__init__()
        self._answer_id = answer_id
        self._links = links
        self._include_context = include_context

    def step(self, step: Step) -> Iterable[bytes]:
        """Return one `step`."""
        return [sse({"kind": step.kind, "text": step.text}, "step")]

    def text(self, piece: str) -> Iterable[bytes]:
        """Return one `token`."""
        return [sse({"token": piece}, "token")]

    def restart(self, reason: str) -> Iterable[bytes]:
        """Return one `restart`: the tokens so far are not the answer's."""
        return [sse({"reason": reason}, "restart")]

    def end(self, done: Done, written: str) -> Iterable[bytes]:  # noqa: ARG002  # the reply holds the whole answer
        """Return `done` with the reply."""
        reply = to_query_reply(done, self._links, include_context=self._include_context, answer_id=self._answer_id)
        return [sse(reply, "done")]

    def failure(self, reason: str, code: str) -> Iterable[bytes]:
        """Return `error`."""
        return [sse({"code": code, "detail": reason}, "error")]


def retrieved_of(passage: Passage) -> dict[str, Any]:
    """Return a passage as JSON-ready values."""
    return {
        "doc_id": passage.doc_id,
        "chunk_id": passage.chunk_id,
        "score": passage.score,
        "text": passage.text,
        "vector_score": passage.scores.get("dense"),
        "keyword_score": passage.scores.get("lexical"),
        "scores": passage.scores,
        "title": passage.title,
        "start": passage.start,
        "end": passage.end,
        "pages": passage.pages,
        **origin_of(passage),
    }
