"""Let a language model read more than one prompt holds: it notes what each group of passages says, then answers.

Flow: `generative.py` (passages that exceed the model's context) -> `prompting/builder.py` divides them -> **here** ->
the reply to the last prompt, piece by piece -> back there. LlamaIndex's TreeSummarize packs the groups, asks about
each, packs the notes, and begins again until they fit one prompt, whose reply it streams.

Notes are sentences under the rank of the passage that supports them, in the form of documents. So every prompt has the
same wording, and a citation in the answer still names a passage. Sentences without support are not noted: an error
would spread, and what follows from it could not be supported either.
"""

import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any, cast

from llama_index.core.base.llms.types import (
    ChatMessage,
    CompletionResponse,
    CompletionResponseGen,
    LLMMetadata,
    MessageRole,
)
from llama_index.core.indices.prompt_helper import ChatPromptHelper
from llama_index.core.llms import LLM, CustomLLM
from llama_index.core.response_synthesizers import TreeSummarize
from pydantic import PrivateAttr

from errors import LLMError
from query_engine.llms.reply import Reply, nothing_written
from query_engine.prompting.builder import BETWEEN_BLOCKS, PromptBuilder, Spread
from query_engine.schema.citations import Shown
from query_engine.synthesis.citation_marks import MarkedSentence, MarkedSentences
from query_engine.synthesis.claims import content_stems
from query_engine.synthesis.draft import UNSUPPORTED
from query_engine.synthesis.grounding import Evidence

# Of the room for documents in one prompt, the share that the notes of one group may take. With a third, the notes of n
# groups fit n / 2 + 1 prompts, so the tree grows narrower until it ends.
NOTES_SHARE = 1 / 3


class LongEvidence:
    """Reads passages in groups; one instance for one answer.

    Args:
        llm: closing its stream must stop it.
        prompts: made for this model's context window.
        spread: what they make of the question and its passages.
        evidence: of `spread.passages`.
        checked: sentences without support in the passages are not noted.

    Attributes:
        shown: for `Citations.shown`, counted as the work goes on.
    """

    def __init__(
        self, llm: LLM, prompts: PromptBuilder, spread: Spread, evidence: Evidence, *, checked: bool = True
    ) -> None:
        self.shown = Shown(spread.left_out)
        self._llm = llm
        self._prompts = prompts
        self._spread = spread
        self._evidence = evidence
        self._checked = checked
        self._unsupported = False

    def deltas(self, stop: threading.Event) -> Generator[str, None, None]:
        """Yield what the model says in the end, until it ends or `stop` is set.

        Raises:
            LLMError: the model failed on the way, or noted nothing that the passages support.
        """
        # LlamaIndex's own stream would leave closing the model's to the garbage collector.
        streams: list[Generator[str, None, None]] = []

        def answered(prompt: str) -> Iterator[str]:
            streams.append(self._answered(prompt, stop))
            return streams[0]

        tree = TreeSummarize(
            llm=_TreeLLM(lambda prompt: self._noted(prompt, stop), answered),
            prompt_helper=self._spread.helper,
            # Never asked; without it LlamaIndex makes a default one, which loads a tokenizer.
            chat_prompt_helper=ChatPromptHelper(tokenizer=list),
            summary_template=self._spread.template,
            streaming=True,
        )
        try:
            yield from cast(Iterator[str], tree.get_response(self._spread.question, self._spread.blocks))
        finally:
            for stream in streams:
                stream.close()

    def _noted(self, prompt: str, stop: threading.Event) -> str:
        """Read one group and return the notes; blank if there is nothing to note, or after cancellation."""
        reply, sentences, found = Reply(), MarkedSentences(), []
        with closing(self._asked(prompt, stop)) as deltas:
            for delta in deltas:
                found += sentences.feed(reply.feed(delta))
                if reply.declined:
                    return ""
        found += [*sentences.feed(reply.finish()), *sentences.finish()]
        if stop.is_set() or reply.declined:
            return ""
        if not found:
            raise nothing_written(reply)
        notes: dict[int, list[str]] = {}
        for sentence in found:
            if not sentence.heading and content_stems(sentence.text):
                self._note(sentence, notes)
        self._unsupported = self._unsupported or not notes
        return self._blocks(notes)

    def _answered(self, prompt: str, stop: threading.Event) -> Generator[str, None, None]:
        """Answer from the notes; the model is not asked where there are none."""
        if stop.is_set():
            return
        if prompt != self._spread.template.format(context_str="", query_str=self._spread.question):
            yield from self._asked(prompt, stop)
        elif self._unsupported:
            raise LLMError(
                "Nothing that the language model noted from the passages has support in them.",
                "Use a larger model, or set RAG_LLM__GROUNDING=false if it writes in another language than they do.",
                code=UNSUPPORTED,
            )
        else:
            yield self._spread.abstention

    def _asked(self, prompt: str, stop: threading.Event) -> Generator[str, None, None]:
        if stop.is_set():
            return
        self.shown.calls += 1
        message = ChatMessage(role=MessageRole.USER, content=prompt)
        with closing(self._llm.stream_chat([*self._spread.opening, message])) as stream:
            for chunk in stream:
                if stop.is_set():
                    return
                yield chunk.delta or ""

    def _note(self, sentence: MarkedSentence, notes: dict[int, list[str]]) -> None:
        """Put a sentence, or the quote in its place, under its rank, if it has support and there is room for it."""
        ranks = [rank for _, rank in sentence.marks if 1 <= rank <= len(self._spread.passages)]
        verdict = self._evidence.check(sentence.text, ranks)
        ranks = [quote.rank for quote in verdict.quotes] if self._checked else ranks or [1]
        if not ranks:
            return
        said = sentence.text if verdict.supported or not self._checked else verdict.quotes[0].text
        said = " ".join(said.split())
        under = notes.setdefault(ranks[0], [])
        if said in under:
            return
        under.append(said)
        if self._prompts.count(self._blocks(notes)) > self._spread.room_tokens * NOTES_SHARE:
            under.pop()
            self.shown.lost += 1

    def _blocks(self, notes: dict[int, list[str]]) -> str:
        """The notes as documents."""
        return BETWEEN_BLOCKS.join(
            self._prompts.block(replace(self._spread.passages[rank - 1], text=" ".join(said)), rank)
            for rank, said in sorted(notes.items())
            if said
        )


class _TreeLLM(CustomLLM):
    """The model as TreeSummarize meets it.

    Args:
        complete: prompt -> notes.
        stream: prompt -> pieces of the answer.
    """

    _complete: Callable[[str], str] = PrivateAttr()
    _stream: Callable[[str], Iterator[str]] = PrivateAttr()

    def __init__(self, complete: Callable[[str], str], stream: Callable[[str], Iterator[str]]) -> None:
        super().__init__()
        self._complete = complete
        self._stream = stream

    @property
    def metadata(self) -> LLMMetadata:
        """What LlamaIndex wants to know: that it is to fill in the prompt, which becomes a chat later."""
        return LLMMetadata(is_chat_model=False)

    def complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponse:  # noqa: ARG002  # the base class's signature
        """Return the notes on one group."""
        return CompletionResponse(text=self._complete(prompt))

    def stream_complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponseGen:  # noqa: ARG002  # as above
        """Stream the answer."""
        for piece in self._stream(prompt):
            yield CompletionResponse(text=piece, delta=piece)
