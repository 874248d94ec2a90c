"""Let a language model write the answer, show what of it the passages support, and cite where.

Flow: engine (passages that passed the gate) -> prompt -> language model -> reply without reasoning -> sentences with
their marks -> `draft.py` -> **here** -> pieces of text with `[n]`, one a sentence. Works with any LlamaIndex LLM;
how one is built, stopped and timed out is `llms/`.
"""

import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms import LLM

from errors import LLMError
from query_engine.llms.reply import Reply, nothing_written
from query_engine.prompting.builder import Prompt, PromptBuilder
from query_engine.schema.citations import Citations, Shown
from query_engine.schema.passage import Passage
from query_engine.synthesis.citation_marks import MarkedSentences
from query_engine.synthesis.draft import UNSUPPORTED, Draft, Rules
from query_engine.synthesis.grounding import Evidence
from query_engine.synthesis.map_reduce import LongEvidence


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
    ) -> Iterator[str]:
        """Yield the answer sentence by sentence; nothing without passages or when the model declines.

        Raises:
            LLMError: the model failed, wrote nothing, or nothing that the passages support.
        """
        if not passages or stop.is_set():
            return
        deltas, draft = self._begun(question, passages, citations, stop)
        sentences, reply = MarkedSentences(), Reply()
        with closing(deltas):
            for delta in deltas:
                for sentence in sentences.feed(reply.feed(delta)):
                    if piece := draft.add(sentence):
                        yield piece
                if reply.declined or draft.ended:
                    break
        for sentence in [*sentences.feed(reply.finish()), *sentences.finish()]:
            if not stop.is_set() and (piece := draft.add(sentence)):
                yield piece
        if not (draft.words or reply.declined or stop.is_set()):
            raise _nothing_shown(reply, citations)

    def _begun(
        self, question: str, passages: Sequence[Passage], citations: Citations, stop: threading.Event
    ) -> tuple[Generator[str, None, None], Draft]:
        """What the model is going to say, and what becomes of it."""
        prompt = self._prompts.build(question, passages)
        if not (self._tree and prompt.out_of_context):
            citations.shown = Shown(prompt.left_out, prompt.out_of_context)
            evidence = Evidence(prompt.passages, self._embedder)
            return self._deltas(prompt, stop), Draft(prompt.passages, evidence, citations, self._rules)
        spread = self._prompts.spread(question, passages)
        evidence = Evidence(spread.passages, self._embedder)
        reading = LongEvidence(self._llm, self._prompts, spread, evidence, checked=self._rules.checked)
        citations.shown = reading.shown
        return reading.deltas(stop), Draft(spread.passages, evidence, citations, self._rules)

    def _deltas(self, prompt: Prompt, stop: threading.Event) -> Generator[str, None, None]:
        """What the model says, until it ends or `stop` is set."""
        with closing(self._llm.stream_chat(prompt.messages)) as stream:
            for chunk in stream:
                if stop.is_set():
                    return
                yield chunk.delta or ""


def _nothing_shown(reply: Reply, citations: Citations) -> LLMError:
    if citations.checked.dropped:
        return LLMError(
            "Nothing that the language model wrote has support in the passages.",
            "Use a larger model, or set RAG_LLM__GROUNDING=false if it writes in another language than the documents.",
            code=UNSUPPORTED,
        )
    return nothing_written(reply)
