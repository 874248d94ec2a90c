"""Remember how a language model did when it was last used.

Flow: engine -> **here** -> the model's synthesizer. `Engines.status` reads the memory, so a health probe learns the
model's state without using it.
"""

import threading
from collections.abc import Iterator, Sequence

from errors import LLMError
from query_engine.schema.citations import Citations
from query_engine.schema.manner import AS_SET, Manner
from query_engine.schema.source import Source
from query_engine.schema.turn import Turn
from query_engine.synthesis.base import Piece, Writer


class MonitoredSynthesizer:
    """Passes everything through.

    Attributes:
        name: the watched synthesizer's name.
        ready: False after a failure, until the next success.
        reason: what was last seen, as a sentence.
    """

    def __init__(self, watched: Writer) -> None:
        self._watched = watched
        self.name = watched.name
        self.ready = True
        self.reason = "Loaded, not used yet."

    def room_chars(self, turns: Sequence[Turn] = ()) -> int:
        """See `Writer`."""
        return self._watched.room_chars(turns)

    def write(  # noqa: PLR0917  # all of it comes with the question
        self,
        question: str,
        sources: Sequence[Source],
        citations: Citations,
        stop: threading.Event,
        turns: Sequence[Turn] = (),
        manner: Manner = AS_SET,
    ) -> Iterator[Piece]:
        """Yield what the watched synthesizer yields.

        Raises:
            LLMError: the model failed.
        """
        try:
            yield from self._watched.write(question, sources, citations, stop, turns, manner)
        except LLMError as error:
            self.ready, self.reason = False, f"The last answer failed: {error.fact}"
            raise
        except Exception as error:
            self.ready, self.reason = False, f"The last answer failed in an unforeseen way: {type(error).__name__}."
            raise
        self.ready, self.reason = True, "The last answer succeeded."
