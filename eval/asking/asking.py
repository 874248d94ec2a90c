"""Ask every question, several at a time, and keep each row as soon as it is there.

Flow: cases + a target -> **here** -> `run_writer.py` -> the run's folder. The order of the rows is that of the replies.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import Any

from errors import RagError
from eval.asking.retry_policy import Asked, RetryPolicy
from eval.asking.run_writer import Keeper
from eval.asking.target import Target
from eval.cases import Case
from eval.rows import Row

Tell = Callable[[Row], None]

OUTAGE_CALLS = 5


class OutageError(RagError):
    """Several questions in a row got no reply."""

    code = "outage"


async def ask_all(
    cases: Sequence[Case],
    target: Target,
    keeper: Keeper,
    retry_policy: RetryPolicy,
    *,
    concurrency: int,
    tell: Tell,
) -> None:
    """Ask the questions.

    Args:
        cases: in the order to ask.
        target: is asked.
        keeper: keeps the rows.
        retry_policy: of each question.
        concurrency: questions that are asked at a time, 1 or more.
        tell: is called after each row.

    Raises:
        OutageError: `OUTAGE_CALLS` questions in a row got no reply; what was refused does not count.
        RunFolderError: the replies are no longer those of the system that the run is of.
    """
    stretch = _Stretch()
    waiting = iter(cases)
    lock = asyncio.Lock()

    async def work() -> None:
        for case in waiting:  # shared: each worker takes the next one
            asked = await retry_policy.ask(target, case)
            async with lock:
                await asyncio.to_thread(keeper.keep, asked.row)
                tell(asked.row)
                stretch.add(asked)

    await _all_or_none(work() for _ in range(concurrency))


class _Stretch:
    """Counts the calls without a reply since the last one with a reply."""

    def __init__(self) -> None:
        self._failed = 0

    def add(self, asked: Asked) -> None:
        """Count one more.

        Raises:
            OutageError: they are too many.
        """
        if asked.row.outcome != "failed":
            self._failed = 0
        elif not asked.refused:
            self._failed += 1
        if self._failed >= OUTAGE_CALLS:
            raise OutageError(
                f"{self._failed} questions in a row got no reply, the last one because: {asked.row.reason}",
                "Once that is fixed, the same command continues where this one stopped.",
            )


async def _all_or_none(works: Iterable[Coroutine[Any, Any, None]]) -> None:
    tasks = [asyncio.create_task(work) for work in works]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
