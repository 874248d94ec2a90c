"""Ask a question until there is a reply, a bounded number of times.

Flow: a target -> **here** -> `asking.py`. What cannot be had becomes a failed row that says why.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt

from eval.asking.target import NoReplyError, Target
from eval.cases import Case
from eval.rows import Row

Sleep = Callable[[float], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of one question.

    Attributes:
        row: answered, declined or failed.
        refused: it failed because this very question is not taken.
    """

    row: Row
    refused: bool = False


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How long and how often a question is asked.

    Attributes:
        timeout_s: of one call.
        attempts: calls in all, 1 or more.
        pause_s: before the second call; doubled before each further one.
        max_pause_s: no pause is longer, even if the service asks for it.
        sleep: pauses.
    """

    timeout_s: float = 300
    attempts: int = 3
    pause_s: float = 1
    max_pause_s: float = 60
    sleep: Sleep = asyncio.sleep

    async def ask(self, target: Target, case: Case) -> Asked:
        """Return a row; a failed one has the last reason, and the seconds of the last call."""
        tries = AsyncRetrying(
            retry=retry_if_exception(lambda error: isinstance(error, NoReplyError) and not error.lasting),
            stop=stop_after_attempt(self.attempts),
            wait=self._pause_s,
            sleep=self.sleep,
            reraise=True,
        )
        seconds = 0.0

        async def once() -> Row:
            nonlocal seconds
            started = time.perf_counter()
            try:
                async with asyncio.timeout(self.timeout_s):
                    return await target.ask(case)
            except TimeoutError as error:
                fact = f"There was no reply within {self.timeout_s:g} s."
                raise NoReplyError(fact, "Raise --timeout-s.") from error
            finally:
                seconds = time.perf_counter() - started

        try:
            return Asked(await tries(once))
        except NoReplyError as failure:
            row = Row(id=case.id, outcome="failed", answer=None, reason=str(failure), seconds=seconds)
            return Asked(row, failure.refused)

    def _pause_s(self, state: RetryCallState) -> float:
        failure = state.outcome.exception() if state.outcome else None
        asked_s = failure.retry_after_s if isinstance(failure, NoReplyError) else None
        doubled_s: float = self.pause_s * 2 ** (state.attempt_number - 1)
        return min(max(doubled_s, asked_s or 0), self.max_pause_s)
