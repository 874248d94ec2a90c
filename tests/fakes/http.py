"""The application over scripted engines, spoken to in-process."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from starlette.requests import Request
from starlette.testclient import TestClient

from api.app import create_app
from api.dependencies import PageAnswers, SourceAnswers
from api.jobs.queue import Jobs
from query_engine.engine import Engine
from settings import FeedbackSettings, Settings
from tests.fakes.engines import FakeEngine, FakeEngines, OneEngine
from tests.fakes.ingesting import FakeIngester

MADE: list[FastAPI] = []
"""The applications of `client_of`; `tests/unit/api/conftest.py` closes them."""


def client_of(
    *engines: FakeEngine,
    failures: Mapping[str, Exception] | None = None,
    ingester: FakeIngester | None = None,
    jobs: Jobs | None = None,
    ingested: Path | None = None,
    web: SourceAnswers | None = None,
    given: PageAnswers | None = None,
    **groups: Any,
) -> TestClient:
    """Return a client of a service with these engines; bugs show as status 500.

    Args:
        engines: one a corpus.
        failures: raised instead of opening a corpus.
        ingester: of the service.
        jobs: of the service.
        ingested: what it was started with.
        web: answers from sources.
        given: answers over given pages.
        groups: settings; feedback is off unless they turn it on, so that no test writes into the checkout, and the
            client's own name for the service is an allowed one.
    """
    by_corpus = {engine.corpus.name: engine for engine in engines}
    found = FakeEngines(by_corpus, failures or {})
    return client_of_engines(found, ingester, jobs, ingested, web=web, given=given, **groups)


def client_of_engines(
    engines: FakeEngines,
    ingester: FakeIngester | None = None,
    jobs: Jobs | None = None,
    ingested: Path | None = None,
    *,
    web: SourceAnswers | None = None,
    given: PageAnswers | None = None,
    **groups: Any,
) -> TestClient:
    """Return a client of a service with these engines; see `client_of`."""
    groups["serve"] = {"allowed_hosts": "testserver", **groups.get("serve", {})}
    settings = Settings(**{"feedback": {"enabled": False}, **groups})
    app = create_app(engines, settings, ingester or FakeIngester(), jobs or Jobs(), ingested, web=web, given=given)
    MADE.append(app)
    return TestClient(app, raise_server_exceptions=False)


def client_over(engine: Engine, settings: Settings, headers: dict[str, str] | None = None) -> TestClient:
    """Return a client of a service over a real engine, which keeps no feedback; it sends `headers` each time."""
    unnoted = settings.model_copy(update={"feedback": FeedbackSettings(enabled=False)})
    app = create_app(OneEngine(engine), unnoted, FakeIngester(), Jobs())
    return TestClient(app, raise_server_exceptions=False, base_url="http://localhost", headers=headers)


def request_of(client_leaves: asyncio.Event) -> Request:
    """Return a request whose client leaves when that is set."""

    async def receive() -> dict[str, str]:
        await client_leaves.wait()
        return {"type": "http.disconnect"}

    return Request({"type": "http"}, receive)


def refusal_in(reply: Any) -> dict[str, Any]:
    """Return `code`, `detail` and perhaps `field` of a refusal, which stand beside each other on `/run`."""
    body: dict[str, Any] = reply.json()
    told: Any = body["error"]
    if isinstance(told, str):
        assert body.pop("complete") is True
        return {"detail": body.pop("error"), **body}
    return dict(told)


def records_in(body: str) -> list[dict[str, Any]]:
    """Return the records of a whole `/run` stream, by the plain rule: every line that begins with `data:` is one."""
    return [json.loads(line.removeprefix("data:")) for line in body.split("\n") if line.startswith("data:")]
