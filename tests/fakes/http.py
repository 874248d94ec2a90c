"""The application over scripted engines, spoken to in-process."""

import json
from collections.abc import Mapping
from typing import Any

from starlette.testclient import TestClient

from api.app import create_app
from api.jobs import Jobs
from settings import Settings
from tests.fakes.engines import FakeEngine, FakeEngines
from tests.fakes.ingesting import FakeIngester


def client_of(
    *engines: FakeEngine,
    failures: Mapping[str, Exception] | None = None,
    ingester: FakeIngester | None = None,
    jobs: Jobs | None = None,
    **groups: Any,
) -> TestClient:
    """Return a client of a service with these engines; `groups` are settings. Bugs show as status 500."""
    by_corpus = {engine.corpus.name: engine for engine in engines}
    found = FakeEngines(by_corpus, failures or {})
    app = create_app(found, Settings(**groups), ingester or FakeIngester(), jobs or Jobs())
    return TestClient(app, raise_server_exceptions=False)


def records_in(body: str) -> list[dict[str, Any]]:
    """Return the records of a whole `/run` stream, by the plain rule: every line that begins with `data:` is one."""
    return [json.loads(line.removeprefix("data:")) for line in body.split("\n") if line.startswith("data:")]
