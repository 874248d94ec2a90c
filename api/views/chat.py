"""The reply of `POST /v1/chat/completions`, whole or in chunks, as OpenAI's clients read it.

Flow: engine events -> **here** -> JSON, or `answering/sse.py`. Pure; `responses.py` has the newer form.

The steps are `reasoning_content`, the answer is `content`, in which each `[n]` is a link unless the settings say
otherwise, and a list of sources ends it; the closest passages end a declined one, collapsed. Beside OpenAI's fields
stand `citations`, one for each quoted place, and `treeline`: what `/query` says about an answer. Sent text cannot be
withdrawn here: if a language model breaks off and another synthesizer takes over, a line of the text says so.
"""

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from api.linked import folded_closest_passages, sources, with_links
from api.links import Links
from api.schemas.replies.answers import Citation as CitationReply
from api.schemas.replies.answers import Nearest, message_of, unsupported_in
from api.schemas.replies.service import TreelineExtras
from api.views.deltas import DeltaView, sse
from api.views.openai_errors import to_error
from query_engine.schema.events import Citation, Done, Event, Restarted, Step, Token

ID_PREFIX = "chatcmpl-"
DONE = b"data: [DONE]\n\n"
WITHDRAWN = "\n\n---\n\n*The text above is withdrawn: {reason} The answer starts over.*\n\n"
LATE = "It was not finished in time."
# English in UTF-8. Quoting has no tokenizer, and clients only add these numbers up.
BYTES_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Completion:
    """What all chunks of one reply share.

    Attributes:
        model: the corpus.
        links: into it.
        prompt: the text of all messages.
        ignored: names of what was sent and has no influence on the answer.
        linked: whether each `[n]` is a link and a list of sources, or of the closest passages, ends the content.
        answer_id: for feedback; part of the reply's id. A new one if None, which nobody knows later.
        created: Unix time in seconds.
    """

    model: str
    links: Links
    prompt: str
    ignored: Sequence[str] = ()
    linked: bool = False
    answer_id: str | None = None
    created: int = field(default_factory=lambda: int(time.time()))

    _unnoted_id: str = field(default_factory=lambda: uuid4().hex)

    @property
    def id(self) -> str:
        """Of the answer, without a prefix."""
        return self.answer_id or self._unnoted_id

    def head(self, kind: str) -> dict[str, Any]:
        """Return the fields that every object of this kind begins with."""
        return {
            "id": ID_PREFIX + self.id,
            "object": kind,
            "created": self.created,
            "model": self.model,
        }

    def usage(self, content: str, reasoning: str) -> dict[str, Any]:
        """Return estimated numbers of tokens."""
        prompt, answer, steps = (tokens_in(text) for text in (self.prompt, content, reasoning))
        return {
            "prompt_tokens": prompt,
            "completion_tokens": answer + steps,
            "total_tokens": prompt + answer + steps,
            "completion_tokens_details": {"reasoning_tokens": steps},
        }

    def shown(self, text: str, citations: Sequence[Citation]) -> str:
        """Return a piece of the answer as content."""
        return with_links(text, self.links.numbered(citations)) if self.linked else text

    def footer(self, done: Done) -> str:
        """Return what ends the content."""
        if not self.linked:
            return ""
        if done.answer is None:
            return folded_closest_passages(done.nearest, self.links)
        return sources(done.citations, self.links)

    def extras(self, done: Done) -> dict[str, Any]:
        """Return what stands beside OpenAI's fields."""
        treeline = TreelineExtras.filled(
            done,
            answered=done.answer is not None,
            decline_text=done.decline_text or None,
            unsupported=unsupported_in(done),
            warnings=list(map(str, done.warnings)),
            nearest=Nearest.build_all(done.nearest, self.links),
            ignored=list(self.ignored),
        )
        citations = [one.to_dict() for one in CitationReply.build_all(done.citations, self.links)]
        return {"citations": citations, "treeline": treeline.to_dict()}


def to_completion(completion: Completion, done: Done, steps: Sequence[Step]) -> dict[str, Any]:
    """Return a whole reply as JSON-ready values."""
    content = completion.shown(message_of(done), done.citations) + completion.footer(done)
    reasoning = "".join(map(_told, steps))
    message = {"role": "assistant", "content": content, "reasoning_content": reasoning, "refusal": None}
    return {
        **completion.head("chat.completion"),
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}],
        "usage": completion.usage(content, reasoning),
        **completion.extras(done),
    }


class ChatView(DeltaView):
    """The state of one stream.

    Args:
        completion: what all chunks share.
        include_usage: whether a last chunk counts tokens.
    """

    def __init__(self, completion: Completion, *, include_usage: bool = False) -> None:
        super().__init__()
        self._completion = completion
        self._include_usage = include_usage
        self._content = self._reasoning = ""
        self._cited: list[Citation] = []
        self._put([self._chunk({"role": "assistant", "content": ""})])

    def take(self, event: Event) -> None:
        """Fold one event into the state."""
        match event:
            case Token(citations=citations):
                self._cited += citations
            case Done(citations=citations):
                self._flush()
                self._cited = list(citations)
        super().take(event)
        if isinstance(event, Restarted):
            self._cited = []

    def step(self, step: Step) -> Iterable[bytes]:
        """Return a chunk of reasoning."""
        told = _told(step)
        self._reasoning += told
        return [self._chunk({"reasoning_content": told})]

    def text(self, piece: str) -> Iterable[bytes]:
        """Return a chunk of content."""
        return self._written_as(self._completion.shown(piece, self._cited))

    def restart(self, reason: str) -> Iterable[bytes]:
        """Return a chunk of content that says it."""
        return self._written_as(WITHDRAWN.format(reason=reason))

    def end(self, done: Done, written: str) -> Iterable[bytes]:
        """Return what is missing from the content, the chunk that ends it, the usage if it is wanted, and the mark."""
        missing = self._completion.shown(missing_after(written, message_of(done)), self._cited)
        rest = missing + self._completion.footer(done)
        messages = [*self._written_as(rest)] if rest else []
        messages.append(self._chunk({}, finish_reason="stop", **self._completion.extras(done)))
        if self._include_usage:
            usage = self._completion.usage(self._content, self._reasoning)
            messages.append(sse({**self._completion.head("chat.completion.chunk"), "choices": [], "usage": usage}))
        return [*messages, DONE]

    def failure(self, reason: str, code: str) -> Iterable[bytes]:
        """Return the error, and the mark."""
        return [sse(to_error(200, reason, code)), DONE]

    def _written_as(self, content: str) -> Iterable[bytes]:
        self._content += content
        return [self._chunk({"content": content})]

    def _chunk(self, delta: dict[str, Any], finish_reason: str | None = None, **extras: Any) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        usage = {"usage": None} if self._include_usage else {}
        return sse({**self._completion.head("chat.completion.chunk"), "choices": [choice], **usage, **extras})


def tokens_in(text: str) -> int:
    """Estimate the number of tokens of a text."""
    return math.ceil(len(text.encode("utf-8", "replace")) / BYTES_PER_TOKEN)


def _told(step: Step) -> str:
    return f"{step.text.strip()}\n\n"


def missing_after(written: str, message: str) -> str:
    """Return what has to follow `written` so that it ends with the message."""
    if message.startswith(written):
        return message.removeprefix(written)
    if message.startswith(written.rstrip()):
        return message.removeprefix(written.rstrip()).lstrip()
    # Time ran out after a synthesizer failed and before its text was withdrawn.
    return WITHDRAWN.format(reason=LATE) + message
