"""Fold the events of an answer into messages that each bring only what is new.

Flow: engine events -> **here** -> `answering/sse.py` decides when they are sent. What a message looks like is the
business of `query.py`, `chat.py` and `react.py`; `/run` sends snapshots instead and has a separate view.

Tokens are gathered until they are sent. Pieces that were withdrawn before that are never seen.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

from api.schemas.replies.base import Reply
from query_engine.schema.events import Done, Event, Restarted, Step, Token


def sse(data: Reply | dict[str, Any], event: str | None = None) -> bytes:
    """Return one server-sent event."""
    name = f"event: {event}\n" if event else ""
    return f"{name}data: {to_line(data)}\n\n".encode("ascii")


def to_line(data: Reply | dict[str, Any]) -> str:
    """Return JSON in ASCII, so that no character of a text can end the line early, nor a lone surrogate break it."""
    return json.dumps(data.to_dict() if isinstance(data, Reply) else data, separators=(",", ":"))


class DeltaView(ABC):
    """The state of one stream.

    Attributes:
        urgent: what was taken since the last messages should be sent at once.
        unsent: something was taken that has not been sent.
        complete: the last message has been made.
    """

    def __init__(self) -> None:
        self._messages: list[bytes] = []
        self._gathered = ""
        self._written = ""
        self._ended = False
        self.urgent = self.unsent = self.complete = False

    @abstractmethod
    def step(self, step: Step, /) -> Iterable[bytes]:
        """Return messages that tell a step."""

    @abstractmethod
    def text(self, piece: str) -> Iterable[bytes]:
        """Return messages that bring the next piece of the answer, never empty."""

    @abstractmethod
    def restart(self, reason: str) -> Iterable[bytes]:
        """Return messages that withdraw the pieces sent so far."""

    @abstractmethod
    def end(self, done: Done, written: str) -> Iterable[bytes]:
        """Return the last messages of an answer of which `written` was sent."""

    @abstractmethod
    def failure(self, reason: str, code: str) -> Iterable[bytes]:
        """Return the last messages of an answer that failed."""

    def take(self, event: Event) -> None:
        """Fold one event into the state."""
        match event:
            case Step():
                self._put(self.step(event))
            case Token(text=text):
                # An answer does not begin with blanks.
                self._gathered += text if self._written or self._gathered else text.lstrip()
                self.unsent = self.unsent or bool(self._gathered)
                self.urgent = self.urgent or bool(self._gathered and not self._written)
            case Restarted(reason=reason):
                self._gathered = ""
                if self._written:
                    self._put(self.restart(reason))
                self._written = ""
            case Done():
                self._flush()
                self._finish(self.end(event, self._written))

    def fail(self, reason: str, code: str) -> None:
        """End because the engine failed; `reason` is a sentence for people, `code` for programs."""
        self._finish(self.failure(reason, code))

    def messages(self) -> list[bytes]:
        """Return what there is to send now, one record each."""
        self._flush()
        due, self._messages = self._messages, []
        self.urgent = self.unsent = False
        self.complete = self._ended
        return due

    def _put(self, messages: Iterable[bytes]) -> None:
        self._flush()
        self._messages += messages
        self.urgent = self.unsent = True

    def _finish(self, messages: Iterable[bytes]) -> None:
        self._put(messages)
        self._ended = True

    def _flush(self) -> None:
        if self._gathered:
            self._messages += self.text(self._gathered)
            self._written += self._gathered
            self._gathered = ""
