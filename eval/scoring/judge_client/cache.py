"""Keep a judge's replies on disk: what was paid for once is not asked again after a kill, or for another run.

Flow: `client.py` -> **here** -> one small JSON file a reply below `RAG_JUDGE__CACHE_DIR`. Files appear whole or not at
all; one that cannot be read counts as absent. Nothing is ever removed: delete the folder to judge again.
"""

import hashlib
import os
import tempfile
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from errors import RagError


class JudgeCacheError(RagError):
    """Replies cannot be kept."""

    code = "judge_cache_failed"


class Reply(BaseModel):
    """What a judge said, as it came."""

    model_config = ConfigDict(frozen=True)

    text: str


class JudgeCache:
    """A folder of replies; many processes may share it.

    Raises:
        JudgeCacheError: the folder cannot be made, or a reply cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._failure(error) from error

    @staticmethod
    def key(url: str, request: bytes, nth: str) -> str:
        """Name a request: the server, all that is sent to it, and the number of the repetition."""
        return hashlib.sha256(b"\0".join((url.encode(), nth.encode(), request))).hexdigest()

    def get(self, key: str) -> Reply | None:
        """Return what is kept, if anything."""
        try:
            return Reply.model_validate_json(self._path(key).read_bytes())
        except (OSError, ValidationError):
            return None

    def put(self, key: str, reply: Reply) -> None:
        """Keep a reply; it is complete on disk when this returns."""
        path = self._path(key)
        try:
            path.parent.mkdir(exist_ok=True)
            descriptor, draft = tempfile.mkstemp(dir=path.parent, suffix=".part")
            with os.fdopen(descriptor, "wb") as file:
                file.write(reply.model_dump_json().encode())
            os.replace(draft, path)
        except OSError as error:
            raise self._failure(error) from error

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key[2:]}.json"

    def _failure(self, error: OSError) -> JudgeCacheError:
        return JudgeCacheError(
            f"The judge's replies cannot be kept in {self._folder}: {error.strerror or error}.",
            "Make room there, or set RAG_JUDGE__CACHE_DIR to a folder that can be written.",
        )
