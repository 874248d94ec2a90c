"""Let a language model write the answer, and show its words as they come.

Flow: engine (sources) -> prompt -> language model -> reply without reasoning -> `source_list.py` -> `cited_text.py` ->
**here** -> pieces of text with `[n]`. Thoughts become steps; a decline is handed over whole. Works with any LlamaIndex
LLM; how one is built, stopped and timed out is `llms/`. It remembers how the last answer went: `Engines.status` reads
that, so a health probe learns the model's state without using it.
"""

import threading
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial

from llama_index.core.llms import LLM

from errors import LLMError
from query_engine import steps
from query_engine.llms.base import said
from query_engine.llms.reply import LengthReached, Reply, nothing_written
from query_engine.prompting.builder import PromptBuilder
from query_engine.schema.citations import Citations
from query_engine.schema.events import Restarted, Step
from query_engine.schema.manner import AS_SET, Manner
from query_engine.schema.source import Source
from query_engine.schema.turn import Turn
from query_engine.synthesis.base import Declined, Piece
from query_engine.synthesis.cited_text import CUT, CitedText
from query_engine.synthesis.source_list import WithoutSourceList
from query_engine.text.words import WORD

# Of the reasoning that is told in steps.
MOST_THOUGHT_CHARS = 4000
WAS_REASONING = "What was shown so far was the model's reasoning."


class GenerativeSynthesizer:
    """Writes with a language model.

    Args:
        name: the provider.
        llm: any LlamaIndex LLM; closing its stream must stop it.
        prompts: made for this model's context window.
        max_words: of an answer; None sets no limit.

    Attributes:
        ready: False after a failure, until the next success.
        reason: what was last seen, as a sentence.
    """

    def __init__(self, name: str, llm: LLM, prompts: PromptBuilder, *, max_words: int | None = None) -> None:
        self.name = name
        self.ready, self.reason = True, "Loaded, not used yet."
        self._llm = llm
        self._prompts = prompts
        self._max_words = max_words

    def room_chars(self, turns: Sequence[Turn] = ()) -> int:
        """Return how many characters of sources the model's window has room for, on the safe side."""
        return self._prompts.room_chars(turns)

    def write(  # noqa: PLR0917  # all of it comes with the question
        self,
        question: str,
        sources: Sequence[Source],
        citations: Citations,
        stop: threading.Event,
        turns: Sequence[Turn] = (),
        manner: Manner = AS_SET,
    ) -> Iterator[Piece]:
        """Yield the answer as the model writes it.

        Yields:
            Text; what the model thinks, as steps; `Restarted` where the text so far was reasoning; `Declined` with the
            model's words, in place of all text, where it does not know.

        Raises:
            LLMError: the model failed or wrote nothing.
        """
        try:
            yield from self._written(question, sources, citations, stop, turns, manner)
        except LLMError as error:
            self.ready, self.reason = False, f"The last answer failed: {error.fact}"
            raise
        except Exception as error:
            self.ready, self.reason = False, f"The last answer failed in an unforeseen way: {type(error).__name__}."
            raise
        self.ready, self.reason = True, "The last answer succeeded."

    def _written(  # noqa: PLR0917
        self,
        question: str,
        sources: Sequence[Source],
        citations: Citations,
        stop: threading.Event,
        turns: Sequence[Turn],
        manner: Manner,
    ) -> Iterator[Piece]:
        if stop.is_set():
            return
        prompt = self._prompts.build(question, sources, turns, manner.instructions)
        citations.left_out = prompt.left_out
        known = "\n".join([*(message.content or "" for message in prompt.messages[1:-1]), question])
        shown = _Shown(prompt.sources, citations, known, self._max_words)
        with closing(self._llm.stream_chat(prompt.messages, **manner.sampling())) as stream:
            for delta in said(stream):
                if stop.is_set():
                    return
                yield from shown.pieces(delta)
                if shown.full:
                    break
        yield from shown.rest()


class _Shown:
    """One answer on its way from the model to its readers."""

    def __init__(self, sources: Sequence[Source], citations: Citations, known: str, max_words: int | None) -> None:
        self._sources = sources
        self._citations = citations
        self._texts = partial(CitedText, sources, citations, known, max_words)
        self._reply = Reply()
        self._thoughts_chars = 0
        self._listed, self._cited = WithoutSourceList(sources), self._texts()

    @property
    def full(self) -> bool:
        """Whether the answer has as many words as it may."""
        return self._cited.full

    def pieces(self, delta: str) -> Iterator[Piece]:
        """Yield what is shown once the next piece of the reply has come."""
        self._citations.cut |= isinstance(delta, LengthReached)
        text = self._reply.feed(delta)
        if self._reply.restarted:
            self._reply.restarted = False
            if self._cited.text:
                self._citations.clear()
                yield Restarted(WAS_REASONING)
            self._listed, self._cited = WithoutSourceList(self._sources), self._texts()
        yield from self._thoughts()
        shown = self._cited.feed(self._listed.feed(text))
        if shown and self._sources:
            yield shown

    def rest(self) -> Iterator[Piece]:
        """Yield what was held back; the reply is over.

        Raises:
            LLMError: the model wrote nothing.
        """
        text = self._listed.feed(self._reply.finish()) + self._listed.finish()
        yield from self._thoughts()
        shown = self._cited.feed(text) + self._cited.finish()
        if self._reply.declined or not self._sources:
            # What a model says without sources cannot be an answer from them.
            yield Declined(self._reply.decline_text.strip() or self._cited.text.strip())
            return
        if shown:
            yield shown
        if not WORD.search(self._cited.text):
            raise nothing_written(self._reply)
        if self._citations.cut:
            yield CUT
        if not self._citations.recorded:
            self._cited.cite_nearest()

    def _thoughts(self) -> Iterator[Step]:
        """Yield what the model thinks: the first of it, since a model may think for longer than a reader reads."""
        for thought in self._reply.thoughts():
            if self._thoughts_chars < MOST_THOUGHT_CHARS:
                yield steps.thinking(thought)
            self._thoughts_chars += len(thought)
