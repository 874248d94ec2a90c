"""Ask a search service over HTTP for JSON: bounded in time and bytes, and stopped when the client leaves.

Flow: `organisers.py`, `meilisearch.py`, `mosaic.py` -> **here** -> `remote.py` -> the service named in the settings.
Every failure becomes a `SourceError` with a distinct code.
"""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from errors import SourceError
from query_engine.runtime.deadline import Deadline
from remote import Remote, while_wanted
from sources.tries import TIMEOUT_S, try_often


class JsonClient:
    """A search service. Safe to use from several threads at once.

    Args:
        source: its name, for messages.
        url: the service's address, before the path of a request.
        key: its key; empty if it wants none.
        key_header: see `Remote`.

    Attributes:
        source: as given.
        server: the service.
    """

    def __init__(self, source: str, url: str, key: str = "", key_header: str = "x-api-key") -> None:
        prefix = f"RAG_SOURCES__{source.upper()}"
        self.source = source
        self.server = Remote(
            f"source {source!r}", url.rstrip("/"), f"{prefix}_URL", f"{prefix}_KEY", key=key, key_header=key_header
        )

    def get(self, path: str, params: Mapping[str, str], deadline: Deadline) -> Any:
        """Return the JSON reply to a GET; blocks.

        Raises:
            SourceError: the service cannot be reached, refuses, fails or replies with something else.
            OutOfTimeError: the client has left, or the time was over before the first try.
        """
        return self._ask("GET", path, deadline, params=params)

    def get_list(self, field: str, path: str, params: Mapping[str, str], deadline: Deadline) -> list[Any]:
        """Return the list in a field of the JSON reply to a GET; raises as `get`, also where there is no such list."""
        return self._listed(field, self.get(path, params, deadline))

    def post_list(self, field: str, path: str, body: Mapping[str, Any], deadline: Deadline) -> list[Any]:
        """Return the list in a field of the JSON reply to a POST of JSON; see `get_list`."""
        return self._listed(field, self._ask("POST", path, deadline, json=body))

    def _listed(self, field: str, reply: Any) -> list[Any]:
        found = reply.get(field) if isinstance(reply, dict) else None
        if isinstance(found, list):
            return found
        error = self.server.error("bad_reply", f"replied with something that is not a list of {field}")
        raise SourceError(error.fact, error.remedy, "source_bad_reply")

    def _ask(self, method: str, path: str, deadline: Deadline, **request: Any) -> Any:
        def check() -> None:
            deadline.check_wanted(f"while the {self.server.name} was asked")

        def once() -> Any:
            return asyncio.run(
                while_wanted(self._once(method, path, min(TIMEOUT_S, deadline.left_s()), request), check)
            )

        return try_often(once, deadline)

    async def _once(self, method: str, path: str, limit_s: float, request: Mapping[str, Any]) -> Any:
        async with self.server.client(timeout=limit_s) as client:
            body = await self.server.send(client, method, path, limit_s=limit_s, **request)
        try:
            return json.loads(body)
        except (ValueError, RecursionError) as error:
            raise self.server.error("bad_reply", "sent a reply that is not JSON", passing=True) from error
