"""The contract of a synthesizer, which writes an answer.

Flow: engine (passages that passed the gate) -> **a synthesizer** -> pieces of text -> engine.

Two keep it: `extractive.py` quotes the documents, `generative.py` lets a language model write.
"""

import threading
from collections.abc import Iterator, Sequence
from typing import Protocol

from query_engine.schema.citations import Citations
from query_engine.schema.events import Step, Token
from query_engine.schema.passage import Passage

Piece = str | Token | Step
"""Text that stands; a token, where text follows it that is not checked yet; or what a model thinks, as a step."""


class Synthesizer(Protocol):
    """Writes one answer from passages."""

    name: str
    """Who writes: `extractive`, `huggingface`, `openvino` or `openai`."""

    def write(
        self, question: str, passages: Sequence[Passage], citations: Citations, stop: threading.Event
    ) -> Iterator[Piece]:
        """Yield the answer piece by piece, with `[n]` marks numbered by `citations`.

        Runs in a worker thread. Returns soon after `stop` is set. Yields nothing when the passages hold no answer.

        Raises:
            LLMError: the model failed; what was yielded so far is to be thrown away.
        """
        ...
