"""Write the prompt: the instructions, one worked example, then the passages as ranked documents and the question.

Flow: passages that passed the gate -> **here** -> chat messages for a language model -> `synthesis/generative.py`; or,
where one prompt cannot hold them, what LlamaIndex needs to make several -> `synthesis/map_reduce.py`.

The wording lives in `prompts/`, one file a style, with LlamaIndex's names for what is filled in; its first paragraph,
the instructions, is the system message (`llms/base.py` moves it for models without that role). The worked example costs
about 150 tokens and is what makes very small models answer to the point. The template is applied by the model itself.
Text that could pass for its control tokens (`control_tokens.py`), for a document's border or for a citation is defused,
so that documents and questions stay text.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.indices.prompt_helper import PromptHelper
from llama_index.core.prompts import PromptTemplate

from errors import LLMError
from query_engine.prompting.control_tokens import ControlTokens
from query_engine.prompting.truncation import after, cut, fitting
from query_engine.schema.passage import Passage
from query_engine.text.markdown_escape import without_marks

PROMPTS = Path(__file__).parent / "prompts"
MAX_TITLE_CHARS = 200
# Stands for the documents where none was found.
NO_REFERENCE = "No Reference"
# What a chat template may put around one message, beyond its text.
TEMPLATE_TOKENS = 24

BETWEEN_BLOCKS = "\n\n"
_BLANK_LINES = re.compile(r"\n\s*\n")


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is asked.

    Attributes:
        messages: instructions, example question, example answer, question.
        passages: those that fitted, each cut to what the prompt shows; rank r is `passages[r - 1]`.
        allowed: those that the operator's limit lets in, the last one cut to it; `passages` are the first of them.
        left_out: how many passages fitted and what no more fits into, as a sentence; empty if all are there whole.
    """

    messages: tuple[ChatMessage, ...]
    passages: tuple[Passage, ...]
    allowed: tuple[Passage, ...]
    left_out: str = ""

    @property
    def out_of_context(self) -> bool:
        """The model's context has no room for all that the operator's limit lets in."""
        return _chars(self.passages) < _chars(self.allowed)


@dataclass(frozen=True, slots=True)
class Spread:
    """What a model is asked where the passages need more than one prompt.

    Attributes:
        opening: instructions, example question, example answer; they go before every prompt.
        template: the last message, lacking documents and question.
        question: as it may stand in it.
        helper: counts in the model's own tokens how many blocks a prompt holds.
        room_tokens: of the documents in one prompt.
        passages: each fits a prompt, since long ones are divided; rank r is `passages[r - 1]`.
        blocks: the same as documents, without blank lines: these part the blocks.
        abstention: what the model is to say if the documents hold no answer.
        left_out: how many passages the operator's limit lets in, as a sentence; empty if it is all.
    """

    opening: tuple[ChatMessage, ...]
    template: PromptTemplate
    question: str
    helper: PromptHelper
    room_tokens: int
    passages: tuple[Passage, ...]
    blocks: tuple[str, ...]
    abstention: str
    left_out: str


class PromptBuilder:
    """Builds prompts that fit the model.

    Args:
        max_context_chars: passage text in one prompt.
        max_prompt_tokens: the model's context less the room for the answer.
        count_tokens: length of a text for this model.
        control_tokens: the model's own special tokens, if its tokenizer is known.
        style: which of the templates, one of `settings.PROMPTS`.
    """

    def __init__(
        self,
        *,
        max_context_chars: int,
        max_prompt_tokens: int,
        count_tokens: Callable[[str], int],
        control_tokens: Iterable[str] = (),
        style: str = "brief",
    ) -> None:
        self._max_context_chars = max_context_chars
        self._max_prompt_tokens = max_prompt_tokens
        self._count = count_tokens
        self._defused = ControlTokens(control_tokens).defuse
        self._abstention = _read("abstention")
        instructions, _, self._question = _read(style).partition("\n\n")
        example = self._question.format(context_str=_read("example_documents"), query_str=_read("example_question"))
        self._opening = (
            ChatMessage(role=MessageRole.SYSTEM, content=instructions.replace("{abstention}", self._abstention)),
            ChatMessage(role=MessageRole.USER, content=example),
            ChatMessage(role=MessageRole.ASSISTANT, content=_read(f"example_{style}")),
        )

    def build(self, question: str, passages: Sequence[Passage]) -> Prompt:
        """Put as many passages as fit, best first, before the question, or `NO_REFERENCE` if there are none.

        The last one is cut at the end of a sentence; the very first is cut between words if even its first sentence is
        too long.

        Raises:
            LLMError: the question leaves no room for any document.
        """
        question = self._defused(question)
        texts = [message.content or "" for message in self._opening] + [self._question, question]
        room_tokens = self._max_prompt_tokens - sum(self._count(text) + TEMPLATE_TOKENS for text in texts)
        allowed = self._allowed(passages)
        shown = fitting(allowed, room_tokens, lambda part, rank: self._count(self.block(part, rank)))
        if passages and not shown:
            raise self._no_room()
        documents = "\n".join(self.block(part, rank) for rank, part in enumerate(shown, 1)) or NO_REFERENCE
        content = self._question.format(context_str=documents, query_str=question)
        messages = (*self._opening, ChatMessage(role=MessageRole.USER, content=content))
        prompt = Prompt(messages, tuple(shown), tuple(allowed))
        limit = f"the {self._max_prompt_tokens} tokens that its context leaves to the prompt"
        if not prompt.out_of_context:
            limit = self._operators_limit()
        return replace(prompt, left_out=_left_out(passages, shown, limit))

    def spread(self, question: str, passages: Sequence[Passage]) -> Spread:
        """Prepare to ask about all passages that the operator's limit lets in, in as many prompts as they need.

        Raises:
            LLMError: the question leaves no room for any document.
        """
        question = self._defused(question)
        template = PromptTemplate(self._question)
        kept = sum(self._count(message.content or "") + TEMPLATE_TOKENS for message in self._opening)
        helper = PromptHelper(
            # The window lacks the room for the answer already.
            context_window=self._max_prompt_tokens,
            num_output=kept + TEMPLATE_TOKENS,
            chunk_overlap_ratio=0,
            # All that is asked of the tokens is how many there are.
            tokenizer=lambda text: range(self._count(text)),  # type: ignore[arg-type,return-value]
            separator=BETWEEN_BLOCKS,
        )
        try:
            room = helper.get_text_splitter_given_prompt(template.partial_format(query_str=question)).chunk_size
        except ValueError as error:
            raise self._no_room() from error
        allowed = self._allowed(passages)
        parts = self._parts(allowed, room)
        blocks = tuple(self.block(part, rank, blank_lines=False) for rank, part in enumerate(parts, 1))
        left_out = _left_out(passages, allowed, self._operators_limit())
        return Spread(self._opening, template, question, helper, room, tuple(parts), blocks, self._abstention, left_out)

    def block(self, passage: Passage, rank: int, *, blank_lines: bool = True) -> str:
        """Return a passage as it stands in a prompt, with or without the blank lines in it."""
        title = self._defused(" ".join(passage.title.split())[:MAX_TITLE_CHARS])
        # A document's own reference marks would be taken for ranks once the model repeats them.
        text = without_marks(self._defused(passage.text.strip()))
        return f"<DOC rank={rank}>\n{title}\n{text if blank_lines else _BLANK_LINES.sub(chr(10), text)}\n</DOC>"

    def count(self, text: str) -> int:
        """Length of a text for this model."""
        return self._count(text)

    def _allowed(self, passages: Sequence[Passage]) -> list[Passage]:
        return fitting(passages, self._max_context_chars, lambda part, _: len(part.text))

    def _parts(self, passages: Sequence[Passage], room: int) -> list[Passage]:
        """Divide passages that do not fit, at the end of sentences where it can be."""
        parts: list[Passage] = []
        for passage in passages:
            rest: Passage | None = passage
            while rest is not None:

                def fits(part: Passage, rank: int = len(parts) + 1) -> bool:
                    return self._count(BETWEEN_BLOCKS + self.block(part, rank, blank_lines=False)) <= room

                part = cut(rest, fits, between_words=True)
                if part is None:
                    raise self._no_room()
                parts.append(part)
                rest = after(part, rest)
        return parts

    def _operators_limit(self) -> str:
        return f"RAG_ANSWER__MAX_CONTEXT_CHARS={self._max_context_chars}"

    def _no_room(self) -> LLMError:
        return LLMError(
            f"The question leaves no room for documents in the model's {self._max_prompt_tokens} prompt tokens.",
            "Ask a shorter question, or raise RAG_LLM__CONTEXT_TOKENS if the model allows it.",
        )


def _left_out(passages: Sequence[Passage], shown: Sequence[Passage], limit: str) -> str:
    whole = sum(len(part.text) == len(passage.text) for part, passage in zip(shown, passages, strict=False))
    if whole == len(passages):
        return ""
    in_part = ", and one in part" if len(shown) > whole else ""
    return f"The model was shown {whole} of {len(passages)} passages whole{in_part}; no more fits {limit}."


def _chars(passages: Iterable[Passage]) -> int:
    return sum(len(passage.text) for passage in passages)


def _read(name: str) -> str:
    return (PROMPTS / f"{name}.txt").read_text(encoding="utf-8").strip()
