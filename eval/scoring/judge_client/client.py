"""Ask the judge, or remember what it said; count what that took, and give up on one that is down.

Flow: `judged/`, `ragas_calls.py`, `drafting/`, `preferring/` -> **here** -> `server.py`, and a small JSON file for each
reply below `RAG_JUDGE__CACHE_DIR`.

What was paid for once is not asked again after a kill, or for another run. A reply is kept only once it was read: an
unusable one is requested again the next time. The number of the repetition is part of the cache key, so that repeats,
and metrics that ask one thing three times, get a new reply each time. Nothing is ever removed: delete the folder to
judge again.
"""

import hashlib
import json
import logging
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from errors import RagError
from eval.scoring.judge_client.server import JudgeError, JudgeServer, JudgeUnusableError

logger = logging.getLogger(__name__)

DOWN_AFTER_ROWS = 5

Value = TypeVar("Value")


class JudgeCacheError(RagError):
    """Replies cannot be kept."""

    code = "judge_cache_failed"


class JudgeCache:
    """A folder of replies; many processes may share it.

    Files appear whole or not at all; one that cannot be read counts as absent.

    Raises:
        JudgeCacheError: the folder cannot be made, or a reply cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with self._refusals_named():
            folder.mkdir(parents=True, exist_ok=True)

    def path(self, url: str, request: bytes, nth: str) -> Path:
        """Name a request's file: by the server, all that is sent to it, and the number of the repetition."""
        key = hashlib.sha256(b"\0".join((url.encode(), nth.encode(), request))).hexdigest()
        return self._folder / key[:2] / f"{key[2:]}.json"

    def get(self, path: Path) -> str | None:
        """Return what is kept, if anything."""
        try:  # here, not in a thread: handing over takes longer than a small file
            return str(json.loads(path.read_bytes())["text"])
        except (OSError, ValueError, LookupError, TypeError):
            return None

    def put(self, path: Path, text: str) -> None:
        """Keep a reply; it is complete on disk when this returns."""
        with self._refusals_named():
            path.parent.mkdir(exist_ok=True)
            descriptor, draft = tempfile.mkstemp(dir=path.parent, suffix=".part")
            with os.fdopen(descriptor, "wb") as file:
                file.write(json.dumps({"text": text}).encode())
            os.replace(draft, path)

    @contextmanager
    def _refusals_named(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise JudgeCacheError(
                f"The judge's replies cannot be kept in {self._folder}: {error.strerror or error}.",
                "Make room there, or set RAG_JUDGE__CACHE_DIR to a folder that can be written.",
            ) from error


class Judge:
    """A language model that judges answers.

    Attributes:
        tally: what it took so far.
        given_up: why nothing is asked any more; None while all is well.
        tell: told in a line what is about to be asked.
        connected: keeps connections open meanwhile; `ask` works only in there.
    """

    def __init__(self, server: JudgeServer, cache: JudgeCache, tell: Callable[[str], object] = logger.info) -> None:
        self.tally = server.tally
        self.connected = server.connected
        self.given_up: JudgeError | None = None
        self.tell = tell
        self._server = server
        self._cache = cache
        self._in_vain: list[JudgeError] = []
        self._useful = False

    async def ask(self, prompt: str, schema: Mapping[str, Any], nth: str, read: Callable[[str], Value]) -> Value:
        """Return what `read` makes of the judge's reply; it may raise JudgeUnusableError.

        The reply follows the JSON `schema`. `nth` says which time this is asked: equal prompts of equal `nth` are asked
        once and remembered.

        Raises:
            JudgeError: there is no judgement; `server.py` tells the kinds apart.
            JudgeCacheError: the reply cannot be kept.
        """
        request = self._server.request(prompt, schema)
        path = self._cache.path(self._server.url, request, nth)
        kept = self._cache.get(path)
        if kept is not None:
            with suppress(JudgeUnusableError):  # an earlier version may have been less strict
                value = read(kept)
                self.tally.remembered += 1
                return value
        try:
            text = await self._server.complete(request)
            value = read(text)
        except JudgeError:
            self.tally.failed += 1
            raise
        self._cache.put(path, text)
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


def json_in(text: str) -> str:
    """Return the JSON object in a reply, without reasoning before it and fences or words around it.

    Raises:
        JudgeUnusableError: there is none.
    """
    said = re.sub(r"^\s*<think>.*?</think>", "", text, flags=re.DOTALL)
    found = said[said.find("{") : said.rfind("}") + 1]
    with suppress(ValueError, RecursionError):
        if isinstance(json.loads(found, parse_constant=_not_a_number), dict):
            return found
    raise JudgeUnusableError.of("The judge's reply is not a JSON object", text)


def _not_a_number(name: str) -> float:
    raise ValueError(f"{name} is not a number")
