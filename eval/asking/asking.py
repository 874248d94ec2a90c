"""Ask every question, several at a time and each until there is a reply, and keep each row as soon as it is there.

Flow: cases + a target -> **here** -> `run_writer.py` -> the run's folder. The order of the rows is that of the replies.
What cannot be had becomes a failed row that says why.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from errors import RagError
from eval.asking.run_writer import Keeper
from eval.asking.target import NoReplyError, Target
from eval.cases import Case
from eval.rows import Row

OUTAGE_CALLS = 5


class OutageError(RagError):
    """Several questions in a row got no reply."""

    code = "outage"


class Asked(NamedTuple):
    """The row of one question; `refused`: it failed because this very question is not taken."""

    row: Row
    refused: bool = False


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How long one call may take, and how often it is made.

    Attributes:
        pause_s: before the second call; doubled before each further one.
        max_pause_s: no pause is longer, even if the service asks for it.
    """

    timeout_s: float = 300
    attempts: int = 3
    pause_s: float = 1
    max_pause_s: float = 60
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    async def ask(self, target: Target, case: Case) -> Asked:
        """Return a row; a failed one has the last reason, and the seconds of the last call."""
        attempt = 0
        while True:
            started, asked_at = time.perf_counter(), time.time()
            try:
                async with asyncio.timeout(self.timeout_s):
                    return Asked((await target.ask(case)).model_copy(update={"asked_at": asked_at}))
            except TimeoutError:
                failure = NoReplyError(f"There was no reply within {self.timeout_s:g} s.", "Raise --timeout-s.")
            except NoReplyError as error:
                failure = error
            seconds, attempt = time.perf_counter() - started, attempt + 1
            if failure.lasting or attempt >= self.attempts:
                row = Row(id=case.id, outcome="failed", answer=None, reason=str(failure), seconds=seconds)
                return Asked(row, failure.refused)
            pause_s = max(self.pause_s * 2 ** (attempt - 1), failure.retry_after_s)
            await self.sleep(min(pause_s, self.max_pause_s))


async def ask_all(
    cases: Sequence[Case],
    target: Target,
    keeper: Keeper,
    retry_policy: RetryPolicy,
    *,
    concurrency: int,
    tell: Callable[[Row], None],
) -> None:
    """Ask the questions in their order, `concurrency` of them at a time; keep each row, then `tell` it.

    Raises:
        OutageError: `OUTAGE_CALLS` questions in a row got no reply; what was refused does not count.
        RunFolderError: the replies are no longer those of the system that the run is of.
    """
    waiting, lock, in_a_row = iter(cases), asyncio.Lock(), 0

    async def work() -> None:
        nonlocal in_a_row
        for case in waiting:  # shared: each worker takes the next one
            asked = await retry_policy.ask(target, case)
            async with lock:
                await asyncio.to_thread(keeper.keep, asked.row)
                tell(asked.row)
                if asked.row.outcome != "failed":
                    in_a_row = 0
                elif not asked.refused:
                    in_a_row += 1
                if in_a_row >= OUTAGE_CALLS:
                    raise OutageError(
                        f"{in_a_row} questions in a row got no reply, the last one because: {asked.row.reason}",
                        "Once that is fixed, the same command continues where this one stopped.",
                    )

    try:
        async with asyncio.TaskGroup() as workers:
            for _ in range(concurrency):
                workers.create_task(work())
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None  # the others were cancelled for it
