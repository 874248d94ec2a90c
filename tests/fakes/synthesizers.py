"""Synthesizers that follow a script."""

import threading
from collections.abc import Iterable, Iterator, Sequence

from query_engine.schema.citations import Citations
from query_engine.schema.events import Step, Token
from query_engine.schema.passage import Passage
from query_engine.synthesis.base import Piece


def texts_of(pieces: Iterable[Piece]) -> Iterator[str]:
    """Yield the text that stands, piece by piece."""
    for piece in pieces:
        text = "" if isinstance(piece, Step) else piece.text if isinstance(piece, Token) else piece
        if text:
            yield text


def text_of(pieces: Iterable[Piece]) -> str:
    """Return all text that stands."""
    return "".join(texts_of(pieces))


class ScriptedSynthesizer:
    """Yields its script piece by piece; an exception in the script is raised.

    Attributes:
        stopped: set once `write` was told to stop and has ended.
    """

    name = "openai"

    def __init__(self, *script: Piece | Exception, endless: bool = False) -> None:
        self._script = script
        self._endless = endless
        self.stopped = threading.Event()

    def write(
        self, _question: str, passages: Sequence[Passage], citations: Citations, stop: threading.Event
    ) -> Iterator[Piece]:
        try:
            for piece in self._script:
                if isinstance(piece, Exception):
                    raise piece
                if piece == "[cite]":
                    first = passages[0]
                    yield f"[{citations.cite(first, first.start, first.end)}]"
                else:
                    yield piece
            while self._endless and not stop.is_set():
                yield "more "
        finally:
            if stop.is_set():
                self.stopped.set()
