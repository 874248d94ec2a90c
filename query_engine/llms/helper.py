"""Ask the language model a short question on the side: to rank passages, to write a passage, to rephrase a question.

Flow: `retrieval/reranking/listwise.py`, `retrieval/expansion.py` ->
**here** -> the configured model. Answers to users are not written here; that is `synthesis/generative.py`.
"""

import logging
from collections.abc import Callable
from contextlib import closing

from llama_index.core.base.llms.types import ChatMessage, MessageRole

from errors import LLMError, RagError
from query_engine.llms.base import LoadedModel, said
from query_engine.llms.reply import Reply
from query_engine.prompting.builder import TEMPLATE_TOKENS
from query_engine.prompting.control_tokens import ControlTokens
from query_engine.runtime.deadline import Deadline

logger = logging.getLogger(__name__)

# Time limit for a plan, a rewording or a hypothetical passage; after that the question continues without it.
ASIDE_S = 10.0


class PromptHelper:
    """Asks one question at a time; safe to call from many threads.

    Args:
        model: the configured language model.
        max_new_tokens: length limit of a reply.

    Attributes:
        reply_tokens: longest reply.
    """

    def __init__(self, model: LoadedModel, max_new_tokens: int) -> None:
        self._llm = model.llm
        self._count = model.count_tokens
        self._control = ControlTokens(model.control_tokens)
        self.reply_tokens = max_new_tokens
        self._window = model.window

    @property
    def prompt_tokens(self) -> int:
        """Longest prompt."""
        return self._window() - self.reply_tokens - TEMPLATE_TOKENS

    def quoted(self, text: str, max_tokens: int) -> str:
        """Return text as it may stand in a prompt: on one line, without control tokens, cut between words."""
        words = self._control.defuse(text).split()
        while words and (tokens := self._count(" ".join(words))) > max_tokens:
            words = words[: min(len(words) - 1, len(words) * max_tokens // tokens)]
        return " ".join(words)

    def tokens(self, text: str) -> int:
        """Length of a text for the model."""
        return self._count(text)

    def ask(
        self,
        prompt: str,
        deadline: Deadline,
        *,
        one_line: bool = False,
        on_thought: Callable[[str], None] | None = None,
    ) -> str:
        """Return the model's reply, without its reasoning, never blank.

        Args:
            prompt: as the user's message.
            deadline: until when.
            one_line: only the first line is wanted: the model is stopped behind it. Small ones go on for ever.
            on_thought: told each paragraph of the model's reasoning as it comes.

        Raises:
            LLMError: the model failed, wrote nothing, or declined.
            OutOfTimeError: the deadline passed before it had finished; it is stopped.
        """
        try:
            return self._asked(prompt, deadline, one_line=one_line, on_thought=on_thought or _unheard)
        except RagError:
            raise
        except Exception as error:
            # The caller can do without the reply.
            logger.exception("The language model failed in an unforeseen way")
            raise LLMError.unforeseen("The language model") from error

    def _asked(self, prompt: str, deadline: Deadline, *, one_line: bool, on_thought: Callable[[str], None]) -> str:
        reply, text = Reply(), ""
        with closing(self._llm.stream_chat([ChatMessage(role=MessageRole.USER, content=prompt)])) as stream:
            for piece in said(stream):
                deadline.check("while the language model was writing")
                text += reply.feed(piece)
                for thought in reply.thoughts():
                    on_thought(thought)
                if one_line and "\n" in text.lstrip():
                    return text.strip().splitlines()[0].strip()
        text = (text + reply.finish()).strip()
        for thought in reply.thoughts():
            on_thought(thought)
        if not text:
            raise LLMError("The language model wrote nothing of use.", "Use a larger model.", code="llm_empty")
        return text


def _unheard(_thought: str) -> None:
    """Pass over what a model thinks."""
