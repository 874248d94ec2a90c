"""Let a language model write the answer, and cite what it used.

Flow: engine (passages that passed the gate) -> prompt -> language model -> reply without reasoning -> **here** ->
pieces of text with `[n]`. Works with any LlamaIndex LLM; how one is built, stopped and timed out is `llms/`.
"""

import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing

from llama_index.core.llms import LLM

from errors import LLMError
from query_engine.citing import Citations
from query_engine.passages import Passage
from query_engine.prompting import Prompt, PromptBuilder
from query_engine.rank_marks import RankMarks
from query_engine.reply import Reply
from query_engine.sentences import split_sentences
from query_engine.support import best_support, supported_by

# Citations that may be added to an answer whose author gave none.
MAX_ADDED_MARKS = 3


class GenerativeSynthesizer:
    """Writes with a language model.

    Args:
        name: the provider.
        label: the model, for people.
        llm: any LlamaIndex LLM; closing its stream must stop it.
        prompts: made for this model's context window.
    """

    def __init__(self, name: str, label: str, llm: LLM, prompts: PromptBuilder) -> None:
        self.name = name
        self.label = label
        self._llm = llm
        self._prompts = prompts

    def write(
        self, question: str, passages: Sequence[Passage], citations: Citations, stop: threading.Event
    ) -> Iterator[str]:
        """Yield the answer as the model writes it; nothing without passages or when the model declines.

        Raises:
            LLMError: the model failed or wrote nothing.
        """
        if not passages or stop.is_set():
            return
        prompt = self._prompts.build(question, passages)
        citer = _Citer(question, prompt.passages, citations)
        marks, reply = RankMarks(citer.cite), Reply()
        with closing(self._deltas(prompt, stop)) as deltas:
            for delta in deltas:
                if piece := marks.feed(reply.feed(delta)):
                    yield piece
                if reply.declined or _repeats(marks.text, piece):
                    break
        if piece := marks.feed(reply.finish()) + marks.finish():
            yield piece
        if reply.declined or stop.is_set():
            return
        if not marks.text:
            raise _nothing_written(reply)
        if not marks.cited and (added := citer.added(marks.text)):
            yield added

    def _deltas(self, prompt: Prompt, stop: threading.Event) -> Generator[str, None, None]:
        """What the model says, until it ends or `stop` is set."""
        with closing(self._llm.stream_chat(prompt.messages)) as stream:
            for chunk in stream:
                if stop.is_set():
                    return
                yield chunk.delta or ""


class _Citer:
    """Finds the quotes behind an answer's marks."""

    def __init__(self, question: str, passages: Sequence[Passage], citations: Citations) -> None:
        self._question = question
        self._passages = passages
        self._citations = citations

    def cite(self, rank: int, before: str) -> int | None:
        """Number the passage of that rank, quoting what supports the last sentence of `before`."""
        if not 1 <= rank <= len(self._passages):
            return None
        statement = before[split_sentences(before)[-1].start :] if before.strip() else ""
        support = best_support(self._passages[rank - 1], statement, self._question)
        return self._citations.cite(support.passage, support.start, support.end)

    def added(self, answer: str) -> str:
        """Marks for an answer without any: of the sentences that plainly support it, if there are such."""
        found = supported_by(answer, self._passages, self._question, limit=MAX_ADDED_MARKS)
        numbers = [self._citations.cite(support.passage, support.start, support.end) for support in found]
        return "".join(f" [{number}]" if i == 0 else f"[{number}]" for i, number in enumerate(dict.fromkeys(numbers)))


def _repeats(text: str, piece: str) -> bool:
    """Whether `piece` ended a sentence that the text held already: small models fall into loops."""
    if not any(mark in piece for mark in ".!?\n"):
        return False
    sentences = [text[sentence.start : sentence.end] for sentence in split_sentences(text)]
    complete = [sentence for sentence in sentences if sentence[-1] in ".!?" and len(sentence.split()) >= 4]
    return len(set(complete)) < len(complete)


def _nothing_written(reply: Reply) -> LLMError:
    if reply.reasoned:
        return LLMError(
            "The language model spent its whole answer on reasoning.",
            "Raise RAG_LLM__MAX_NEW_TOKENS or switch the model's reasoning off.",
            code="llm_reasoning",
        )
    return LLMError(
        "The language model wrote nothing.", "Try another model, or look at the model server's log.", code="llm_empty"
    )
