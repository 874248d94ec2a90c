"""Synthesizers that follow a script."""

import threading
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from query_engine.schema.citations import Citations
from query_engine.schema.events import Event, Restarted, Token
from query_engine.schema.passage import Passage
from query_engine.schema.source import Source
from query_engine.schema.turn import Turn
from query_engine.synthesis.base import Piece


def text_of(pieces: Iterable[Piece]) -> str:
    """Return all text of an answer that is not restarted."""
    return "".join(piece for piece in pieces if isinstance(piece, str))


def on_screen(events: Iterable[Event]) -> str:
    """Return the text that a reader has on screen at the end of an answer."""
    shown = ""
    for event in events:
        if isinstance(event, Restarted):
            shown = ""
        elif isinstance(event, Token):
            shown += event.text
    return shown


class Roomy:
    """Has room for all sources."""

    def room_chars(self, _turns: Sequence[Turn] = ()) -> int:
        return 1_000_000


class ScriptedSynthesizer(Roomy):
    """Yields its script piece by piece, whether it reads passages or sources; an exception in the script is raised.

    Attributes:
        stopped: set once `write` was told to stop and has ended.
    """

    name = "openai"

    def __init__(self, *script: Piece | Exception, endless: bool = False) -> None:
        self._script = script
        self._endless = endless
        self.stopped = threading.Event()

    def write(
        self,
        _question: str,
        read: Sequence[Passage | Source],
        citations: Citations,
        stop: threading.Event,
        *_: Any,
    ) -> Iterator[Piece]:
        try:
            for piece in self._script:
                if isinstance(piece, Exception):
                    raise piece
                if piece == "[cite]":
                    first = read[0].passage if isinstance(read[0], Source) else read[0]
                    yield f"[{citations.cite(first, first.start, first.end)}]"
                else:
                    yield piece
            while self._endless and not stop.is_set():
                yield "more "
        finally:
            if stop.is_set():
                self.stopped.set()
