"""Write the prompt: the instructions, the conversation, then the numbered sources and the question.

Flow: sources (`retrieval/sections.py`) -> **here** -> chat messages for a language model -> `synthesis/generative.py`.

The wording lives in `prompts/`, one file a style, with LlamaIndex's names for what is filled in; its first paragraph,
the instructions, is the system message, with a client's own below it (`client.txt`); `llms/base.py` moves it for models
without that role. The template is applied by the model itself. Text that could pass for its control tokens
(`control_tokens.py`) is defused, so that documents and questions stay text; nothing else of them is altered. Which
turns go in, and how they alternate, is `conversation.py`'s business.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from llama_index.core.base.llms.types import ChatMessage, MessageRole

from errors import LLMError
from query_engine.prompting.control_tokens import ControlTokens
from query_engine.prompting.conversation import alternating, shortened
from query_engine.prompting.truncation import fitting
from query_engine.schema.passage import Passage
from query_engine.schema.source import Source
from query_engine.schema.turn import Turn

PROMPTS = Path(__file__).parent / "prompts"
# Stands for the sources where none was found.
NO_REFERENCE = "No Reference"
# What a chat template may put around one message, beyond its text.
TEMPLATE_TOKENS = 24
QUESTION_TOKENS = 100
# Figures and code take the most tokens.
CHARS_PER_TOKEN = 2.5
# A client's own instructions take at most this share of a prompt, the conversation as much of what they and the
# question leave; the rest is for sources.
CLIENT_SHARE = 4
# With less room for each, fewer turns go in.
LEAST_TURN_TOKENS = 64
# The style whose sources are CRAG's ranked documents.
RANKED = "short"


def read_prompt(name: str) -> str:
    """Return a prompt of `prompts/`."""
    return (PROMPTS / f"{name}.txt").read_text(encoding="utf-8").strip()


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is asked.

    Attributes:
        messages: instructions, then the conversation in turns of user and assistant, then sources and question.
        sources: those that fitted, the last one cut to what the prompt shows; source n is `sources[n - 1]`.
        left_out: how many sources did not fit, as a sentence; empty if all did.
    """

    messages: tuple[ChatMessage, ...]
    sources: tuple[Source, ...]
    left_out: str = ""


class PromptBuilder:
    """Builds prompts that fit the model.

    Args:
        max_context_chars: source text in one prompt.
        max_prompt_tokens: returns the model's context less the room for the answer.
        count_tokens: length of a text for this model.
        control_tokens: the model's own special tokens, if its tokenizer is known.
        style: which of the templates, one of `settings.PROMPTS`.
    """

    def __init__(
        self,
        *,
        max_context_chars: int,
        max_prompt_tokens: Callable[[], int],
        count_tokens: Callable[[str], int],
        control_tokens: Iterable[str] = (),
        style: str = "brief",
    ) -> None:
        self._max_context_chars = max_context_chars
        self._max_prompt_tokens = max_prompt_tokens
        self._count = count_tokens
        self._defused = ControlTokens(control_tokens).defuse
        self._ranked = style == RANKED
        instructions, _, self._question = read_prompt(style).partition("\n\n")
        self._abstention = read_prompt("abstention")
        self._client = read_prompt("client")
        self._instructions = instructions.replace("{abstention}", self._abstention)

    def room_chars(self, turns: Sequence[Turn] = ()) -> int:
        """Return how many characters of sources fit beside these turns and a usual question, on the safe side."""
        others = self._count(self._instructions + self._question) + 3 * TEMPLATE_TOKENS + QUESTION_TOKENS
        room_tokens = self._max_prompt_tokens() - others
        return max(0, int((room_tokens - self._tokens(self._conversation(turns, room_tokens))) * CHARS_PER_TOKEN))

    def build(self, question: str, sources: Sequence[Source], turns: Sequence[Turn] = (), added: str = "") -> Prompt:
        """Put as many sources as fit, in their order, before the question, or `NO_REFERENCE` if there are none.

        The last one is cut at the end of a sentence; the very first is cut between words if even its first sentence is
        too long.

        Args:
            question: as the user typed it.
            sources: the best first.
            turns: the conversation before the question, oldest first; the last of it goes in, shortened.
            added: the client's own instructions; they go in below those of the style, shortened.

        Raises:
            LLMError: the question leaves no room for any source.
        """
        question = self._defused(question)
        prompt_tokens = self._max_prompt_tokens()
        instructions = self._with(added, prompt_tokens)
        texts = (instructions, self._question, question)
        room_tokens = prompt_tokens - sum(self._count(text) + TEMPLATE_TOKENS for text in texts)
        conversation = self._conversation(turns, room_tokens)
        room_tokens -= self._tokens(conversation)
        allowed = fitting([one.passage for one in sources], self._max_context_chars, lambda part, _: len(part.text))

        def tokens(part: Passage, number: int) -> int:
            return self._count(self._block(replace(sources[number - 1], passage=part), number))

        parts = fitting(allowed, room_tokens, tokens)
        if sources and not parts:
            raise LLMError(
                f"The question leaves no room for sources in the model's {prompt_tokens} prompt tokens.",
                "Ask a shorter question, or raise RAG_LLM__CONTEXT_TOKENS if the model allows it.",
            )
        shown = tuple(replace(source, passage=part) for source, part in zip(sources, parts, strict=False))
        blocks = [self._block(source, number) for number, source in enumerate(shown, 1)]
        context = ("\n" if self._ranked else "\n\n").join(blocks) or NO_REFERENCE
        content = self._question.format(context_str=context, query_str=question)
        messages = (
            ChatMessage(role=MessageRole.SYSTEM, content=instructions),
            *(ChatMessage(role=MessageRole(turn.role), content=turn.text) for turn in conversation),
            ChatMessage(role=MessageRole.USER, content=content),
        )
        cut = _chars(one.passage for one in sources) - _chars(parts)
        left_out = (
            f"The model was shown {len(parts)} of {len(sources)} sources, less {cut} characters: no more fits "
            f"{self._max_context_chars} characters and the {prompt_tokens} tokens of its context."
        )
        return Prompt(messages, shown, left_out if cut else "")

    def _with(self, added: str, prompt_tokens: int) -> str:
        """Return the instructions with a client's own below them, cut to their share of the prompt."""
        if not added.strip():
            return self._instructions
        (cut,) = shortened([Turn("user", self._defused(added))], prompt_tokens // CLIENT_SHARE, self._count)
        return f"{self._instructions}\n\n{self._client}\n\n{cut.text}"

    def _conversation(self, turns: Sequence[Turn], room_tokens: int) -> list[Turn]:
        """Return the last turns as they stand in a prompt with so much room beside instructions and question."""
        room_tokens //= CLIENT_SHARE
        heard = alternating(turns, room_tokens // LEAST_TURN_TOKENS, unanswered=self._abstention)
        return shortened([replace(turn, text=self._defused(turn.text)) for turn in heard], room_tokens, self._size)

    def _size(self, message: str) -> int:
        """Return the most tokens that a message takes."""
        return self._count(message) + TEMPLATE_TOKENS

    def _tokens(self, conversation: Sequence[Turn]) -> int:
        return sum(self._size(turn.text) for turn in conversation)

    def _block(self, source: Source, number: int) -> str:
        """Return a source as it stands in a prompt."""
        text = self._defused(source.text.strip())
        if self._ranked:
            return f"<DOC rank={number}>\n{self._defused(' '.join(source.passage.title.split()))}\n{text}\n</DOC>"
        return f"[{number}] {self._defused(source.header)}\n{text}"


def _chars(passages: Iterable[Passage]) -> int:
    return sum(len(passage.text) for passage in passages)
