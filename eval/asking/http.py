"""Ask a service: one `POST /evaluate` a question, or one `POST /run` where its stream is wanted.

Flow: `command.py` -> **here** -> `contract/exchange.py` asks, `replies.py` reads what comes. Asking
again is `asking.py`'s.
"""

import argparse
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import quote

import httpx

from eval.asking.preflight import look_at_service
from eval.asking.replies import StreamReply, read_reply
from eval.asking.target import Facts, NoReplyError, Target, in_time, look_up
from eval.cases import Case
from eval.contract.exchange import Exchange, Line, Reply, client_of
from eval.rows import Row
from eval.tables import cut

SHOWN_CHARS = 200


@asynccontextmanager
async def open_service(arguments: argparse.Namespace) -> AsyncIterator[tuple[Target, Facts]]:
    """Open a connection to the service that is named, and look at it; raises as `look_at_service`."""
    async with client_of(arguments.url, arguments.headers) as client:
        facts = await look_at_service(client, arguments.corpus, require_llm=arguments.require_llm)
        kind = StreamTarget if arguments.stream else HttpTarget
        yield kind(client, corpus=arguments.corpus, filters=arguments.filters, top_k=arguments.top_k), facts


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
        body = {"query": case.question, "iid": case.id, **self._extra}
        reply = _checked(await self._exchange.post("/evaluate", body), "/evaluate")
        return await look_up(in_time(read_reply(reply.body, case.id, reply.seconds)), case, self._text)

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

        reply = await self._exchange.post("/run", {"question": case.question, **self._extra}, is_last)
        _checked(reply, "/run")
        return read.row(case.id, reply.seconds, reply.first_record_s)


def _checked(reply: Reply, route: str) -> Reply:
    if not reply.status or reply.broken:
        fact = f"The service cannot be reached, or broke off ({reply.broken})."
        raise NoReplyError(fact, "Start the service, or mend the connection.")
    if reply.status == httpx.codes.OK:
        return reply
    fact = f"The service replied with status {reply.status}: {_detail(reply)}"
    if reply.status in {408, 425, 429} or reply.status >= 500:
        raise NoReplyError(fact, "Ask it again later.", retry_after_s=retry_after_s(reply.retry_after))
    refused = reply.status in {413, 414, 422}
    remedy = "Change the question." if refused else f"Name the base URL of a service that has POST {route}."
    raise NoReplyError(fact, remedy, refused=refused, lasting=True)


def _detail(reply: Reply) -> str:
    """Return what the service says, by our envelope or as it begins."""
    error = (reply.value or {}).get("error")
    if isinstance(error, dict) and "detail" in error:
        return str(error["detail"])[:SHOWN_CHARS]
    return cut(reply.body.decode(errors="replace"), SHOWN_CHARS) or "without a word."


def retry_after_s(value: str) -> float:
    """Read the header `Retry-After`, seconds or a date; 0 if it is neither."""
    try:
        if value.strip().isdecimal():
            return float(value)
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, OverflowError):
        return 0
