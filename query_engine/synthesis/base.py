"""The contract of a synthesizer, which writes an answer.

Flow: engine -> **a synthesizer** -> pieces of text -> engine.

`extractive.py` quotes passages that passed the gate; `generative.py` lets a language model write from sources.
"""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from query_engine.schema.citations import Citations
from query_engine.schema.events import Restarted, Step
from query_engine.schema.manner import AS_SET, Manner
from query_engine.schema.passage import Passage
from query_engine.schema.source import Source
from query_engine.schema.turn import Turn


@dataclass(frozen=True, slots=True)
class Declined:
    """A model does not know, in its own words."""

    text: str


Piece = str | Step | Restarted | Declined
"""Text; what a model thinks; that the text so far is withdrawn; or a model's decline, in place of text."""


class Synthesizer(Protocol):
    """Writes one answer from passages."""

    name: str
    """Who writes: `extractive`."""

    def write(
        self, question: str, passages: Sequence[Passage], citations: Citations, stop: threading.Event
    ) -> Iterator[Piece]:
        """Yield the answer piece by piece, with `[n]` marks numbered by `citations`.

        Runs in a worker thread. Returns soon after `stop` is set. Yields nothing when the passages hold no answer.

        Raises:
            LLMError: the model failed; what was yielded so far is to be thrown away.
        """
        ...


class Writer(Protocol):
    """Writes one answer with a language model; see `Synthesizer.write`, which reads passages instead."""

    name: str
    """Who writes: `huggingface`, `openai` or `ollama`."""

    def room_chars(self, turns: Sequence[Turn] = ()) -> int:
        """Return how many characters of sources its window has room for beside a conversation, on the safe side.

        May ask its server.
        """
        ...

    def write(  # noqa: PLR0917  # all of it comes with the question
        self,
        question: str,
        sources: Sequence[Source],
        citations: Citations,
        stop: threading.Event,
        turns: Sequence[Turn] = (),
        manner: Manner = AS_SET,
    ) -> Iterator[Piece]:
        """Yield the answer piece by piece; `Declined` where the sources do not hold it.

        Args:
            question: as the user typed it.
            sources: what the answer is written from.
            citations: filled in.
            stop: set when nobody reads on.
            turns: the conversation before the question, oldest first.
            manner: what the client asks of the writing.

        Raises:
            LLMError: the model failed; what was yielded so far is to be thrown away.
        """
        ...
