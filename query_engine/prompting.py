"""Write the prompt: one worked example, then instructions, the passages as ranked documents, the question.

Flow: passages that passed the gate -> **here** -> chat messages for a language model -> `generative.py`.

The wording lives in `prompts/`, one file a style. The worked example costs about 150 tokens and is what makes very
small models answer to the point. There is no system message: several chat templates refuse one. The template is applied
by the model itself. Text that could pass for its control tokens (`control_tokens.py`), for a document's border or for a
citation is defused, so that documents and questions stay text.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from llama_index.core.base.llms.types import ChatMessage, MessageRole

from errors import LLMError
from query_engine.control_tokens import ControlTokens
from query_engine.passages import Passage
from query_engine.sentences import split_sentences

PROMPTS = Path(__file__).parent / "prompts"
MAX_TITLE_CHARS = 200
# What a chat template may put around one message, beyond its text.
TEMPLATE_TOKENS = 24

REFERENCE = re.compile(r"\[(\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*)\]")


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is asked.

    Attributes:
        messages: example question, example answer, question.
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
        self._question = _read(style).replace("{abstention}", _read("abstention"))
        documents, question = _read("example_documents"), _read("example_question")
        example = self._question.format(documents=documents, question=question)
        self._opening = (
            ChatMessage(role=MessageRole.USER, content=example),
            ChatMessage(role=MessageRole.ASSISTANT, content=_read(f"example_{style}")),
        )

    def build(self, question: str, passages: Sequence[Passage]) -> Prompt:
        """Put as many passages as fit, best first, before the question.

        The last one is cut at the end of a sentence; the very first is cut between words if even its first sentence is
        too long.

        Raises:
            LLMError: the question leaves no room for any document.
        """
        question = self._defused(question)
        texts = [message.content or "" for message in self._opening] + [self._question, question]
        room_tokens = self._max_prompt_tokens - sum(self._count(text) + TEMPLATE_TOKENS for text in texts)
        allowed = _fitting(passages, self._max_context_chars, lambda part, _: len(part.text))
        shown = _fitting(allowed, room_tokens, lambda part, rank: self._count(self._block(part, rank)))
        if not shown:
            raise LLMError(
                f"The question leaves no room for documents in the model's {self._max_prompt_tokens} prompt tokens.",
                "Ask a shorter question, or raise RAG_LLM__CONTEXT_TOKENS if the model allows it.",
            )
        documents = "\n".join(self._block(part, rank) for rank, part in enumerate(shown, 1))
        content = self._question.format(documents=documents, question=question)
        messages = (*self._opening, ChatMessage(role=MessageRole.USER, content=content))
        prompt = Prompt(messages, tuple(shown), tuple(allowed))
        limit = f"the {self._max_prompt_tokens} tokens that its context leaves to the prompt"
        if not prompt.out_of_context:
            limit = f"RAG_ANSWER__MAX_CONTEXT_CHARS={self._max_context_chars}"
        return replace(prompt, left_out=_left_out(passages, shown, limit))

    def _block(self, passage: Passage, rank: int) -> str:
        title = self._defused(" ".join(passage.title.split())[:MAX_TITLE_CHARS])
        # A document's own reference marks would be taken for ranks once the model repeats them.
        text = REFERENCE.sub(r"(\1)", self._defused(passage.text.strip()))
        return f"<DOC rank={rank}>\n{title}\n{text}\n</DOC>"


def _fitting(passages: Sequence[Passage], room: int, size: Callable[[Passage, int], int]) -> list[Passage]:
    """As many as fit, the last one cut; `size(part, rank)` says what a part takes of the room."""
    fitting: list[Passage] = []
    for rank, passage in enumerate(passages, 1):

        def fits(part: Passage, rank: int = rank, room: int = room) -> bool:
            return size(part, rank) <= room

        part = _cut(passage, fits, between_words=rank == 1)
        if part is None:
            break
        fitting.append(part)
        room -= size(part, rank)
        if len(part.text) < len(passage.text):
            break
    return fitting


def _cut(passage: Passage, fits: Callable[[Passage], bool], *, between_words: bool) -> Passage | None:
    """The passage, as many of its sentences as fit, or if it must be of its words; None if nothing does."""
    if fits(passage):
        return passage
    longest = _longest(passage, [sentence.end for sentence in split_sentences(passage.text)], fits)
    if longest is None and between_words:
        longest = _longest(passage, [word.end() for word in re.finditer(r"\S+", passage.text)], fits)
    return longest


def _longest(passage: Passage, ends: list[int], fits: Callable[[Passage], bool]) -> Passage | None:
    """Cut at the last of the ascending `ends` that fits; None if none does."""
    parts = [replace(passage, end=passage.start + end, text=passage.text[:end]) for end in ends]
    count = bisect_right(parts, False, key=lambda part: not fits(part))
    return parts[count - 1] if count else None


def _left_out(passages: Sequence[Passage], shown: Sequence[Passage], limit: str) -> str:
    whole = sum(len(part.text) == len(passage.text) for part, passage in zip(shown, passages, strict=False))
    if whole == len(passages):
        return ""
    cut = ", and one in part" if len(shown) > whole else ""
    return f"The model was shown {whole} of {len(passages)} passages whole{cut}; no more fits {limit}."


def _chars(passages: Iterable[Passage]) -> int:
    return sum(len(passage.text) for passage in passages)


def _read(name: str) -> str:
    return (PROMPTS / f"{name}.txt").read_text(encoding="utf-8").strip()
