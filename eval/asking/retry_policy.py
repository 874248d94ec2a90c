"""Ask a question until there is a reply, a bounded number of times.

Flow: a target -> **here** -> `asking.py`. What cannot be had becomes a failed row that says why.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

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
        max_pause_s: no pause is longer, whatever the service wishes.
        sleep: pauses.
    """

    timeout_s: float = 300
    attempts: int = 3
    pause_s: float = 1
    max_pause_s: float = 60
    sleep: Sleep = asyncio.sleep

    async def ask(self, target: Target, case: Case) -> Asked:
        """Return a row; a failed one has the last reason, and the seconds of the last call."""
        for attempt in range(self.attempts):
            started = time.perf_counter()
            try:
                async with asyncio.timeout(self.timeout_s):
                    return Asked(await target.ask(case))
            except TimeoutError as error:
                failure = NoReplyError(f"There was no reply within {self.timeout_s:g} s.", "Raise --timeout-s.")
                failure.__cause__ = error
            except NoReplyError as error:
                failure = error
            seconds = time.perf_counter() - started
            if failure.lasting or attempt == self.attempts - 1:
                break
            pause_s = max(self.pause_s * 2**attempt, failure.retry_after_s or 0)
            await self.sleep(min(pause_s, self.max_pause_s))
        row = Row(id=case.id, outcome="failed", answer=None, reason=str(failure), seconds=seconds)
        return Asked(row, failure.refused)
