"""The events of `POST /query/stream`, as clients of bedrock-rag-eval read them.

Flow: engine events -> **here** -> `answering/sse.py`. Pure.

    (token {"token"} | step {"kind", "text"} | restart {"reason"})*
    then one: done {what `/query` replies} | error {"code", "detail"}

An answer from the cache comes as any other; `cache_hit` tells it.
"""

from collections.abc import Iterable

from api.links import Links
from api.schemas.replies.answers import FailureEvent, QueryReply, RestartEvent, StepEvent, TokenEvent
from api.views.deltas import DeltaView, sse
from query_engine.schema.events import Done, Step


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
        return [sse(StepEvent.filled(step), "step")]

    def text(self, piece: str) -> Iterable[bytes]:
        """Return one `token`."""
        return [sse(TokenEvent.filled(token=piece), "token")]

    def restart(self, reason: str) -> Iterable[bytes]:
        """Return one `restart`: the tokens so far are not the answer's."""
        return [sse(RestartEvent.filled(reason=reason), "restart")]

    def end(self, done: Done, written: str) -> Iterable[bytes]:  # noqa: ARG002  # the reply holds the whole answer
        """Return `done` with the reply."""
        reply = QueryReply.build(done, self._links, include_context=self._include_context, answer_id=self._answer_id)
        return [sse(reply, "done")]

    def failure(self, reason: str, code: str) -> Iterable[bytes]:
        """Return `error`."""
        return [sse(FailureEvent.filled(code=code, detail=reason), "error")]
