"""Ask a service: one `POST /evaluate` a question, or one `POST /run` where its stream is wanted.

Flow: `command.py` -> **here** -> `contract/exchange.py` asks, `replies.py` reads what comes. Asking again is
`asking.py`'s. A service is looked at before the questions are asked, so that no hour is lost on an empty run.
"""

import argparse
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import quote

import httpx

from errors import RagError
from eval.asking.replies import StreamReply, read_reply
from eval.asking.target import (
    QUOTING,
    NoReplyError,
    Target,
    check_author,
    check_chunks,
    in_time,
    look_up,
)
from eval.cases import Case
from eval.contract.exchange import Exchange, Line, Reply, client_of
from eval.rows import Row
from eval.run_folder import Header
from eval.tables import cut

SHOWN_CHARS = 200


@asynccontextmanager
async def open_service(
    arguments: argparse.Namespace, draft: Header
) -> AsyncIterator[tuple[Target, Header, Sequence[str]]]:
    """Open a connection to the service that is named, and look at it; yields and raises as `look_at_service`."""
    async with client_of(arguments.url, arguments.headers) as client:
        header, warnings = await look_at_service(client, draft, arguments.corpus, require_llm=arguments.require_llm)
        kind = StreamTarget if arguments.stream else HttpTarget
        target = kind(client, corpus=arguments.corpus, filters=arguments.filters, top_k=arguments.top_k)
        yield target, header, warnings


async def look_at_service(
    client: httpx.AsyncClient, draft: Header, corpus: str | None, *, require_llm: bool
) -> tuple[Header, Sequence[str]]:
    """Return the draft with what the service reports about itself and the corpus to be asked, and warnings.

    A stranger's service may tell nothing.

    Raises:
        RagError: the service is not up, its corpus is missing or empty, or no language model writes.
    """
    name, exchange = str(client.base_url).rstrip("/"), Exchange(client, timeout_s=30)

    async def get(path: str, parameters: Mapping[str, str] | None = None, *, refused_too: bool = False) -> Any:
        """Return the JSON object at an address; an empty one if the address is missing or returns something else."""
        reply = await exchange.get(path, params=parameters)
        if reply.broken:
            remedy = "Start the service, e.g. python main.py, or correct --url."
            raise RagError(f"Nothing answers at {name}: {reply.broken}.", remedy, "preflight")
        known = reply.value or {}
        if reply.status == httpx.codes.OK or (refused_too and known):
            return known
        if reply.detail and path != "/health":
            raise RagError(
                f"{name} refuses: {reply.detail}", "Mend that, or name another corpus by --corpus.", "preflight"
            )
        if reply.status >= 500:
            raise RagError(f"{name}{path} replies with status {reply.status}.", "Mend the service.", "preflight")
        return {}

    health = await get("/health")
    if "llm_ready" not in health:
        said = "does not tell about its index" if health else "has no GET /health"
        known = draft.model_copy(update={"corpus": corpus})
        return known, [f"{name} {said}: only its replies can be judged."]
    stats = await get("/stats", {"corpus": corpus} if corpus is not None else None)
    ready = await get("/ready", refused_too=True)
    author = str(ready.get("synthesizer", QUOTING))
    if require_llm:
        check_author(author)
    asked = str(stats.get("corpus", corpus))
    warnings = check_chunks(asked, int(stats.get("total_chunks", 0)))
    if not health["llm_ready"]:
        warnings.append(f"The language model did not write when it was last asked: {health['llm_reason']}")
    told = {key: stats.get(key) for key in ("documents", "leaves", "model", "precision", "state")}
    settings = {"index": told, "llm": {"provider": author}}
    versions = ready.get("versions", {})
    return draft.model_copy(update={"corpus": asked, "settings": settings, "versions": versions}), warnings


class HttpTarget:
    """A service; the options (`corpus`, `filters`, `top_k`) go with each question unless they are None."""

    def __init__(self, client: httpx.AsyncClient, **options: Any) -> None:
        self._exchange = Exchange(client)
        self._extra = {name: value for name, value in options.items() if value is not None}

    async def ask(self, case: Case) -> Row:
        """Ask once.

        Raises:
            NoReplyError: the service cannot be reached, refuses, fails, or replies with something else.
        """
        body = {"query": case.question, "iid": case.id, **self._options(case)}
        reply = _checked(await self._exchange.post("/evaluate", body), "/evaluate")
        return await look_up(in_time(read_reply(reply.body, case.id, reply.seconds)), case, self._text)

    def _options(self, case: Case) -> dict[str, Any]:
        return self._extra if case.query_time is None else self._extra | {"query_time": case.query_time}

    async def _text(self, doc_id: str) -> str | None:
        """Return the text of a document as the service shows it; None if it shows none, as services of others do."""
        corpus = {name: self._extra[name] for name in ("corpus",) if name in self._extra}
        headers = {"Accept": "application/json"}
        reply = await self._exchange.get(f"/documents/{quote(doc_id)}", params=corpus, headers=headers)
        text = (reply.value or {}).get("text") if reply.status == httpx.codes.OK else None
        return text if isinstance(text, str) else None


class StreamTarget(HttpTarget):
    """A service that is asked by `POST /run`."""

    async def ask(self, case: Case) -> Row:
        """Ask once, and read until a record is complete or the stream ends; raises as `HttpTarget.ask`."""
        read = StreamReply()

        def is_last(line: Line) -> bool:
            read.take(line.text.decode(errors="replace"))
            return read.complete

        reply = await self._exchange.post("/run", {"question": case.question, **self._options(case)}, is_last)
        _checked(reply, "/run")
        return read.row(case.id, reply.seconds, reply.first_record_s)


def _checked(reply: Reply, route: str) -> Reply:
    if not reply.status or reply.broken:
        fact = f"The service cannot be reached, or broke off ({reply.broken})."
        raise NoReplyError(fact, "Start the service, or mend the connection.")
    if reply.status == httpx.codes.OK:
        return reply
    said = cut(reply.detail or reply.body.decode(errors="replace"), SHOWN_CHARS) or "without a word."
    fact = f"The service replied with status {reply.status}: {said}"
    if reply.status in {408, 425, 429} or reply.status >= 500:
        raise NoReplyError(fact, "Ask it again later.", retry_after_s=retry_after_s(reply.retry_after))
    refused = reply.status in {413, 414, 422}
    remedy = "Change the question." if refused else f"Name the base URL of a service that has POST {route}."
    raise NoReplyError(fact, remedy, refused=refused, lasting=True)


def retry_after_s(value: str) -> float:
    """Read the header `Retry-After`, seconds or a date; 0 if it is neither."""
    try:
        if value.strip().isdecimal():
            return float(value)
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, OverflowError):
        return 0
