"""`POST /cache/clear` does the same wherever it arrives: the one who writes, a worker beside it, a reader elsewhere."""

import os
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from api.app import create_app
from api.jobs.queue import Jobs
from api.security.keyring import add_key
from api.workers.role import WorkerRole, single
from index.layout.access import Reading, Writing
from settings import ServeSettings, Settings
from tests.fakes.engines import FakeEngine, FakeEngines, a_done
from tests.fakes.ingesting import FakeIngester

pytestmark = pytest.mark.fault("E18")

NOBODY_LISTENS = "http://127.0.0.1:1"
READERS = [
    single(ServeSettings(), NOBODY_LISTENS),
    single(ServeSettings(role="reader"), NOBODY_LISTENS),
    single(ServeSettings(role="reader", writer_url=NOBODY_LISTENS), NOBODY_LISTENS),
    WorkerRole(Reading(), NOBODY_LISTENS, workers=2),
]


def client_of(role: WorkerRole, keys: Path) -> TestClient:
    settings = Settings(feedback={"enabled": False}, serve={"keys_file": keys, "allowed_hosts": "testserver"})
    engines = {name: FakeEngine([a_done()], corpus=name) for name in ("default", "other")}
    app = create_app(FakeEngines(engines), settings, FakeIngester(), Jobs(), role=role)
    return TestClient(app, raise_server_exceptions=False)


def key(keys: Path, scope: str, *corpora: str) -> dict[str, str]:
    return {"Api-Key": add_key(keys, f"{scope} {corpora}", [scope], corpora or None, None)}


def remembers(client: TestClient, reader: dict[str, str], corpus: str = "default") -> bool:
    reply = client.post("/query", json={"question": "What turns?", "corpus": corpus}, headers=reader)
    return bool(reply.json()["cache_hit"])


@pytest.mark.parametrize("role", READERS)
def test_it_empties_the_cache_of_the_process_that_is_asked(tmp_path: Path, role: WorkerRole) -> None:
    keys = tmp_path / "keys.json"
    client, reader, admin = client_of(role, keys), key(keys, "read"), key(keys, "admin")
    for corpus in ("default", "other"):
        remembers(client, reader, corpus)
        assert remembers(client, reader, corpus)

    reply = client.post("/cache/clear", headers=admin)

    assert (reply.status_code, reply.json()) == (200, {"cleared": 2})
    assert not remembers(client, reader)


@pytest.mark.parametrize("role", READERS)
@pytest.mark.parametrize(("scope", "corpora"), [("ingest", ()), ("read", ("other",)), ("admin", ("default", "other"))])
def test_keys_for_less_are_refused_and_nothing_is_forgotten(
    tmp_path: Path, role: WorkerRole, scope: str, corpora: tuple[str, ...]
) -> None:
    keys = tmp_path / "keys.json"
    client, reader = client_of(role, keys), key(keys, "read")
    remembers(client, reader)

    reply = client.post("/cache/clear", headers=key(keys, scope, *corpora))

    assert (reply.status_code, reply.json()["error"]["code"]) == (403, "key_scope")
    assert remembers(client, reader)


@pytest.mark.parametrize("asked", [0, 1])
def test_workers_of_a_machine_forget_together(tmp_path: Path, asked: int) -> None:
    keys, mark = tmp_path / "keys.json", tmp_path / "cleared"
    mark.touch()
    os.utime(mark, ns=(1, 1))
    roles = (WorkerRole(Writing(NOBODY_LISTENS), None, 2, mark), WorkerRole(Reading(), NOBODY_LISTENS, 2, mark))
    clients, reader = [client_of(role, keys) for role in roles], key(keys, "read")
    for client in clients:
        remembers(client, reader)

    clients[asked].post("/cache/clear", headers=key(keys, "admin"))

    assert [remembers(client, reader) for client in clients] == [False, False]
