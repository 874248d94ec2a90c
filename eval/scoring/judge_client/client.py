"""Ask the judge, or remember what it said; count what that took, and give up on one that is down.

Flow: `scoring/judged/ragas_calls.py`, `scoring/judged/deepeval_metrics.py` -> **here** -> `cache.py`, `server.py`.

A reply is kept only once it was read: an unusable one is requested again the next time. The number of the repetition
is part of the cache key, so that repeats, and metrics that ask one thing three times, get a new reply each time.
"""

import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar

from eval.scoring.judge_client.cache import JudgeCache
from eval.scoring.judge_client.server import JudgeError, JudgeServer, JudgeUnusableError

logger = logging.getLogger(__name__)

DOWN_AFTER_ROWS = 5

Value = TypeVar("Value")


class Judge:
    """A language model that judges answers.

    Attributes:
        tally: what it took so far.
        given_up: why nothing is asked any more; None while all is well.
        tell: told in a line what is about to be asked.
    """

    def __init__(self, server: JudgeServer, cache: JudgeCache, tell: Callable[[str], object] = logger.info) -> None:
        self.tally = server.tally
        self.given_up: JudgeError | None = None
        self.tell = tell
        self._server = server
        self._cache = cache
        self._in_vain: list[JudgeError] = []
        self._useful = False

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[None]:
        """Keep connections open meanwhile; `ask` works only in here."""
        async with self._server.connected():
            yield

    async def ask(self, prompt: str, schema: Mapping[str, Any], nth: str, read: Callable[[str], Value]) -> Value:
        """Return what `read` makes of the judge's reply.

        Args:
            prompt: the whole of it.
            schema: JSON schema of the reply.
            nth: which time this is asked; equal prompts of equal `nth` are asked once and remembered.
            read: turns the text into a judgement, or raises JudgeUnusableError.

        Raises:
            JudgeError: there is no judgement; `server.py` tells the kinds apart.
            JudgeCacheError: the reply cannot be kept.
        """
        try:
            return await self._ask(prompt, schema, nth, read)
        except JudgeError:
            self.tally.failed += 1
            raise

    async def _ask(self, prompt: str, schema: Mapping[str, Any], nth: str, read: Callable[[str], Value]) -> Value:
        request = self._server.request(prompt, schema)
        key = self._cache.key(self._server.url, request, nth)
        kept = self._cache.get(key)  # here, not in a thread: handing over takes longer than a small file
        if kept is not None:
            with suppress(JudgeUnusableError):  # an earlier version may have been less strict
                value = read(kept.text)
                self.tally.remembered += 1
                return value
        reply = await self._server.complete(request)
        value = read(reply.text)
        self._cache.put(key, reply)
        return value

    def row_done(self, in_vain: JudgeError | None) -> None:
        """Take note of a row that was judged, or why it was not; too many in a row and the judge is given up."""
        self._in_vain = [*self._in_vain, in_vain] if in_vain else []
        self._useful = self._useful or in_vain is None
        if len(self._in_vain) >= DOWN_AFTER_ROWS:
            self.given_up = in_vain

    def rows_done(self) -> None:
        """Take note that these were all rows: a judge that was of use to none is given up, however few they were."""
        if self._in_vain and not self._useful:
            self.given_up = self._in_vain[-1]
