"""Retry a language model that failed for a temporary reason: six tries, with growing pauses.

Flow: `react.py` -> **here** -> the model's helper. Clients of ASK-xDD would rather wait for a model than get quotes.
Elsewhere a person is waiting, and a failing model is replaced immediately.
"""

from collections.abc import Callable
from functools import partial

from tenacity import Retrying, retry_if_exception, stop_after_attempt, wait_exponential_jitter

from errors import LLMError
from query_engine.runtime.deadline import Deadline
from research.schema import ModelHelper

TRIES = 6
FIRST_PAUSE_S, MAX_PAUSE_S = 0.5, 16.0
_BACKOFF = wait_exponential_jitter(initial=FIRST_PAUSE_S, max=MAX_PAUSE_S, jitter=0.25)
# No other try helps: the request itself is wrong, or the reply is of no use.
PERMANENT = frozenset({"llm_key_refused", "llm_not_found", "llm_rejected", "llm_wrong_type", "llm_unforeseen"})

Pause = Callable[[Deadline, float], None]


def pause(deadline: Deadline, seconds: float) -> None:
    """Wait, but not beyond the deadline.

    Raises:
        OutOfTimeError: the deadline passed, or nobody waits for the work.
    """
    deadline.stop.wait(min(seconds, deadline.left_s()))
    deadline.check("while a failing language model was given time")


def pause_s(attempt: int) -> float:
    """Seconds to wait after the `attempt`th try, from 1."""
    return min(MAX_PAUSE_S, FIRST_PAUSE_S * 2.0 ** (attempt - 1))


def may_pass(code: str) -> bool:
    """Say whether a failure of a language model may be over at another try."""
    return code.startswith("llm_") and code not in PERMANENT


class PatientHelper:
    """A helper that asks again; safe to call from many threads.

    Args:
        helper: asks once.
        pause: waits between two tries.

    Attributes:
        prompt_tokens: longest prompt.
    """

    def __init__(self, helper: ModelHelper, pause: Pause = pause) -> None:
        self._helper = helper
        self._pause = pause
        self.prompt_tokens = helper.prompt_tokens

    def quoted(self, text: str, max_tokens: int) -> str:
        """Return text as it may stand in a prompt."""
        return self._helper.quoted(text, max_tokens)

    def tokens(self, text: str) -> int:
        """Length of a text for the model."""
        return self._helper.tokens(text)

    def ask(
        self,
        prompt: str,
        deadline: Deadline,
        *,
        one_line: bool = False,
        on_thought: Callable[[str], None] | None = None,
    ) -> str:
        """Return the model's reply; arguments and errors are those of `PromptHelper.ask`."""
        tries = Retrying(
            stop=stop_after_attempt(TRIES),
            wait=_BACKOFF,
            retry=retry_if_exception(_may_pass),
            sleep=partial(self._pause, deadline),
            reraise=True,
        )
        return tries(self._helper.ask, prompt, deadline, one_line=one_line, on_thought=on_thought)


def _may_pass(error: BaseException) -> bool:
    return isinstance(error, LLMError) and may_pass(error.code)
