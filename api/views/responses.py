"""The reply of `POST /v1/responses`, whole or as typed events, as OpenAI's clients read it.

Flow: engine events -> **here** -> JSON, or `answering/sse.py`. Pure; what it shares with completions is in `chat.py`.

The answer is one message; each `[n]` in its text has an annotation with its span and address. Steps are not told. If
sent text is withdrawn, a line of the text says so, and its marks have no annotations.
"""

from collections.abc import Iterable
from typing import Any

from api.linked import mark_spans
from api.schemas.chat import ResponsesBody
from api.schemas.replies.answers import message_of
from api.views.chat import DONE, WITHDRAWN, Completion, missing_after, tokens_in
from api.views.deltas import DeltaView, sse
from api.views.openai_errors import to_error
from query_engine.schema.events import Citation, Done, Step

ID_PREFIX = "resp_"
MESSAGE_PREFIX = "msg_"
_PART = {"output_index": 0, "content_index": 0}


class ResponseView(DeltaView):
    """The state of one response.

    Args:
        completion: what replies of both of OpenAI's forms share.
        body: the request.
    """

    def __init__(self, completion: Completion, body: ResponsesBody) -> None:
        super().__init__()
        self.id = ID_PREFIX + completion.id
        self._completion = completion
        self._body = body
        self._item_id = MESSAGE_PREFIX + completion.id
        self._content = ""
        self._valid_from = 0
        self._sent = 0
        self._put(
            self._event(f"response.{status}", response=self._response("in_progress"))
            for status in ("created", "in_progress")
        )

    def whole(self, done: Done) -> dict[str, Any]:
        """Return a whole reply as JSON-ready values."""
        self._content = message_of(done)
        return self._completed(done, self._annotations(done.citations))

    def step(self, _step: Step, /) -> Iterable[bytes]:
        """Return nothing."""
        return ()

    def text(self, piece: str) -> Iterable[bytes]:
        """Return an event with the piece; before the first one, those that open the message."""
        events = []
        if not self._content:
            events.append(self._event("response.output_item.added", output_index=0, item=self._item("in_progress")))
            events.append(self._part_event("response.content_part.added", part=_part("", [])))
        self._content += piece
        events.append(self._part_event("response.output_text.delta", delta=piece, logprobs=[]))
        return events

    def restart(self, reason: str) -> Iterable[bytes]:
        """Return a piece of the text that says it."""
        events = self.text(WITHDRAWN.format(reason=reason))
        self._valid_from = len(self._content)
        return events

    def end(self, done: Done, written: str) -> Iterable[bytes]:
        """Return what is missing from the text, its annotations, and the events that close all."""
        missing = missing_after(written, message_of(done))
        events = [*self.text(missing)] if missing else []
        if not message_of(done).startswith(written.rstrip()):
            self._valid_from = len(self._content) - len(message_of(done))
        annotations = self._annotations(done.citations)
        for index, one in enumerate(annotations):
            events.append(
                self._part_event("response.output_text.annotation.added", annotation_index=index, annotation=one)
            )
        part = _part(self._content, annotations)
        events += [
            self._part_event("response.output_text.done", text=self._content, logprobs=[]),
            self._part_event("response.content_part.done", part=part),
            self._event("response.output_item.done", output_index=0, item=self._item("completed", part)),
            self._event("response.completed", response=self._completed(done, annotations)),
        ]
        return [*events, DONE]

    def failure(self, reason: str, code: str) -> Iterable[bytes]:
        """Return the response that failed, and the mark."""
        error = to_error(200, reason, code)["error"]
        failed = self._response("failed", error={"code": error["code"], "message": error["message"]})
        return [self._event("response.failed", response=failed), DONE]

    def _annotations(self, citations: Iterable[Citation]) -> list[dict[str, Any]]:
        cited = list(citations)
        urls = self._completion.links.numbered(cited)
        titles = {citation.number: citation.title or citation.doc_id for citation in reversed(cited)}
        return [
            {
                "type": "url_citation",
                "start_index": start,
                "end_index": end,
                "url": urls[number],
                "title": titles[number],
            }
            for number, start, end in mark_spans(self._content)
            if number in urls and start >= self._valid_from
        ]

    def _completed(self, done: Done, annotations: list[dict[str, Any]]) -> dict[str, Any]:
        read, written = tokens_in(self._completion.prompt), tokens_in(self._content)
        usage = {
            "input_tokens": read,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": written,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": read + written,
        }
        item = self._item("completed", _part(self._content, annotations))
        return self._response("completed", output=[item], usage=usage) | self._completion.extras(done)

    def _response(self, status: str, **more: Any) -> dict[str, Any]:
        head = {
            "id": self.id,
            "object": "response",
            "created_at": self._completion.created,
            "status": status,
            "model": self._completion.model,
            "output": [],
            "error": None,
            "incomplete_details": None,
            "instructions": self._body.instructions,
            "max_output_tokens": self._body.max_output_tokens,
            "metadata": {},
            "parallel_tool_calls": False,
            "previous_response_id": self._body.previous_response_id,
            "store": self._body.store is not False,
            "temperature": self._body.temperature,
            "text": {"format": {"type": "text"}},
            "tool_choice": "none",
            "tools": [],
            "top_p": None,
            "usage": None,
        }
        return head | more

    def _item(self, status: str, *parts: dict[str, Any]) -> dict[str, Any]:
        return {"type": "message", "id": self._item_id, "role": "assistant", "status": status, "content": [*parts]}

    def _part_event(self, name: str, **fields: Any) -> bytes:
        return self._event(name, item_id=self._item_id, **_PART, **fields)

    def _event(self, name: str, **fields: Any) -> bytes:
        self._sent += 1
        return sse({"type": name, "sequence_number": self._sent - 1, **fields}, name)


def _part(text: str, annotations: list[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": annotations, "logprobs": []}
