"""Let a language model write the answer, show what of it the passages support, and cite where.

Flow: engine (passages that passed the gate) -> prompt -> language model -> reply without reasoning -> sentences with
their marks -> `draft.py` -> **here** -> pieces of text with `[n]`, one a sentence, and meanwhile the unchecked
beginning of the next one as it grows; without checks, text as it comes. Thoughts become steps. Works with any
LlamaIndex LLM; how one is built, stopped and timed out is `llms/`.
"""

import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import replace

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms import LLM

from errors import LLMError
from query_engine import steps
from query_engine.llms.base import said
from query_engine.llms.reply import Reply, nothing_written
from query_engine.prompting.builder import Prompt, PromptBuilder
from query_engine.schema.citations import Citations, Shown
from query_engine.schema.events import Step, Token
from query_engine.schema.passage import Passage
from query_engine.synthesis.base import Piece
from query_engine.synthesis.citation_marks import MarkedSentences
from query_engine.synthesis.draft import UNSUPPORTED, Draft, Rules
from query_engine.synthesis.grounding import Evidence
from query_engine.synthesis.map_reduce import LongEvidence

# Of the reasoning that is told in steps.
MOST_THOUGHT_CHARS = 4000


class GenerativeSynthesizer:
    """Writes with a language model.

    Args:
        name: the provider.
        label: the model, for people.
        llm: any LlamaIndex LLM; closing its stream must stop it.
        prompts: made for this model's context window.
        embedder: the corpus's own; compares sentences with the passages.
        rules: what is shown.
        tree: passages that exceed the model's context are read in groups; otherwise they are cut off.
    """

    def __init__(
        self,
        name: str,
        label: str,
        llm: LLM,
        prompts: PromptBuilder,
        *,
        embedder: BaseEmbedding,
        rules: Rules | None = None,
        tree: bool = False,
    ) -> None:
        self.name = name
        self.label = label
        self._llm = llm
        self._prompts = prompts
        self._embedder = embedder
        self._rules = rules or Rules()
        self._tree = tree

    def write(
        self, question: str, passages: Sequence[Passage], citations: Citations, stop: threading.Event
    ) -> Iterator[Piece]:
        """Yield the answer sentence by sentence; nothing when the model declines.

        Without passages the model is asked all the same, and nothing but declining is supported then.

        Yields:
            The text of a sentence once it is settled, tokens with what is unchecked of the next one, and what the model
            thinks, as steps.

        Raises:
            LLMError: the model failed, wrote nothing, or nothing that the passages support.
        """
        if stop.is_set():
            return
        deltas, draft = self._begun(question, passages, citations, stop)
        sentences, reply = MarkedSentences(), Reply()
        thoughts, unchecked = _Thoughts(reply), ""
        with closing(deltas):
            for delta in deltas:
                shown = "".join(map(draft.add, sentences.feed(reply.feed(delta))))
                yield from thoughts.steps()
                shown += draft.passed(sentences.begun)
                before, unchecked = unchecked, draft.unchecked(sentences.begun) if self._rules.checked else ""
                if unchecked != before:
                    yield Token(shown, unchecked)
                elif shown:
                    yield shown
                if reply.declined or draft.ended:
                    break
        finished = [*sentences.feed(reply.finish()), *sentences.finish()]
        yield from thoughts.steps()
        for sentence in finished:
            if not stop.is_set() and (piece := draft.add(sentence)):
                yield piece
        if not (draft.words or reply.declined or stop.is_set()):
            raise _nothing_shown(reply, citations)

    def _begun(
        self, question: str, passages: Sequence[Passage], citations: Citations, stop: threading.Event
    ) -> tuple[Generator[str, None, None], Draft]:
        """What the model is going to say, and what becomes of it."""
        prompt = self._prompts.build(question, passages)
        rules = self._rules if passages else replace(self._rules, checked=True)
        if not (self._tree and prompt.out_of_context):
            citations.shown = Shown(prompt.left_out, prompt.out_of_context)
            evidence = Evidence(prompt.passages, self._embedder)
            return self._deltas(prompt, stop), Draft(prompt.passages, evidence, citations, rules)
        spread = self._prompts.spread(question, passages)
        evidence = Evidence(spread.passages, self._embedder)
        reading = LongEvidence(self._llm, self._prompts, spread, evidence, checked=self._rules.checked)
        citations.shown = reading.shown
        return reading.deltas(stop), Draft(spread.passages, evidence, citations, self._rules)

    def _deltas(self, prompt: Prompt, stop: threading.Event) -> Generator[str, None, None]:
        """What the model says and thinks, until it ends or `stop` is set."""
        with closing(self._llm.stream_chat(prompt.messages)) as stream:
            for piece in said(stream):
                if stop.is_set():
                    return
                yield piece


class _Thoughts:
    """What a model thinks, as steps: the first of it, since a model may think for longer than a reader reads."""

    def __init__(self, reply: Reply) -> None:
        self._reply = reply
        self._chars = 0

    def steps(self) -> Iterator[Step]:
        """Yield those that came since the last call."""
        for thought in self._reply.thoughts():
            if self._chars < MOST_THOUGHT_CHARS:
                yield steps.thinking(thought)
            self._chars += len(thought)


def _nothing_shown(reply: Reply, citations: Citations) -> LLMError:
    if citations.checked.dropped:
        return LLMError(
            "Nothing that the language model wrote has support in the passages.",
            "Use a larger model, or set RAG_LLM__GROUNDING=false if it writes in another language than the documents.",
            code=UNSUPPORTED,
        )
    return nothing_written(reply)
