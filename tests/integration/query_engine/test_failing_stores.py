"""Stores of an open corpus that fail: the next look names the store, however it fails, and sees it come back."""

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from api.jobs.ingester import Ingester
from index.layout.access import Access, Lock, Writing
from index.layout.locations import Servers
from index.layout.lock import CorpusLock
from ingestion.schema import RunOptions
from query_engine.build import Engines
from query_engine.runtime.threads import start_thread
from settings import EmbedSettings, IndexSettings, Settings
from tests.servers.databases import ChromaServer, PostgresServer, chroma_server, postgres_server, wait_until

NAME = "default"


def settings_of(model_cache: Path, folder: Path, **servers: str) -> Settings:
    index = IndexSettings.model_validate({"dir": folder, **servers})
    return Settings(index=index, embed=EmbedSettings(cache_dir=model_cache))


def ingest(settings: Settings, text: Path) -> None:
    text.write_text("# Wind\n\nAlbert Betz published the limit in 1919.")
    with closing(Engines(settings)) as engines:
        Ingester(engines, settings).ingest(NAME, text, RunOptions(), lambda _: None, threading.Event())


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, model_cache: Path) -> Path:
    folder = tmp_path_factory.mktemp("made")
    ingest(settings_of(model_cache, folder / "index"), folder / "wind.md")
    return folder / "index"


@pytest.fixture
def opened(made: Path, tmp_path: Path, model_cache: Path) -> Iterator[tuple[Engines, Path]]:
    """An open corpus in a folder, and that folder."""
    shutil.copytree(made, tmp_path / "index", ignore=shutil.ignore_patterns("lock"))
    with closing(Engines(settings_of(model_cache, tmp_path / "index"))) as engines:
        engines.lease().release()
        engines.look_at_disk()
        assert engines.status()["refused"] == {}
        yield engines, tmp_path / "index" / NAME


def overwritten(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(os.urandom(path.stat().st_size))


def cut(path: Path) -> None:
    os.truncate(path, 0)


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def gone(path: Path) -> None:
    path.rename(path.with_name("moved"))


def back(path: Path) -> None:
    path.with_name("moved").rename(path)


@pytest.mark.fault("C8")
@pytest.mark.parametrize("damage", [overwritten, cut, a_folder, gone])
@pytest.mark.parametrize(
    ("store", "file"),
    [
        ("documents", "documents.sqlite"),
        ("vectors", "vectors/chroma.sqlite3"),
        ("words", "words/meta.json"),
        ("words", "words/*.term"),
    ],
)
def test_a_file_that_cannot_be_read_is_noticed_and_its_store_named(
    opened: tuple[Engines, Path], store: str, file: str, damage: Callable[[Path], None]
) -> None:
    engines, folder = opened
    for path in folder.glob(file):
        damage(path)

    engines.look_at_disk()

    assert engines.status()["refused"][NAME]["stores"] == [store]


@pytest.mark.fault("C8")
@pytest.mark.parametrize(
    ("store", "part"),
    [("documents", "documents.sqlite"), ("vectors", "vectors"), ("words", "words"), ("words", "words/meta.json")],
)
def test_what_is_put_back_is_read_again_without_a_restart(opened: tuple[Engines, Path], store: str, part: str) -> None:
    engines, folder = opened
    gone(folder / part)
    engines.look_at_disk()
    assert engines.status()["refused"][NAME]["stores"] == [store]

    back(folder / part)
    engines.look_at_disk()

    assert engines.status()["refused"] == {}


def test_a_look_changes_no_file(opened: tuple[Engines, Path]) -> None:
    engines, folder = opened
    (folder / "words" / "meta.json").unlink()
    before = sorted(folder.rglob("*"))

    engines.look_at_disk()

    assert sorted(folder.rglob("*")) == before


@dataclass
class BesideKeeper:
    """As a worker of a service with several has a corpus open: its vectors are on a server over their own folder."""

    url: str
    read_only = False

    def acquire(self, folder: Path, servers: Servers) -> Lock:  # noqa: ARG002
        return Lock(CorpusLock(folder, None).release, vectors_url=self.url)

    def let_go(self, folder: Path) -> None:
        raise AssertionError(f"{folder} is not to be deleted")


@pytest.fixture(params=["chroma", "postgres", "keeper"])
def served(
    request: pytest.FixtureRequest, tmp_path: Path, model_cache: Path
) -> Iterator[tuple[Engines, str, ChromaServer | PostgresServer]]:
    """An open corpus one store of which is on a server, the name of that store, and the server."""
    with ExitStack() as stack:
        server: ChromaServer | PostgresServer
        places: dict[str, str] = {}
        access: Access = Writing()
        (tmp_path / "chroma").mkdir()
        if request.param == "postgres":
            server = stack.enter_context(postgres_server())
            places = {"database_url": server.url}
        elif request.param == "chroma":
            server = stack.enter_context(chroma_server(tmp_path / "chroma"))
            places = {"chroma_url": server.url}
        settings = settings_of(model_cache, tmp_path / "index", **places)
        ingest(settings, tmp_path / "wind.md")
        if request.param == "keeper":
            server = stack.enter_context(chroma_server(tmp_path / "index" / NAME / "vectors"))
            access = BesideKeeper(server.url)
        engines = stack.enter_context(closing(Engines(settings, access=access)))
        engines.lease().release()
        engines.look_at_disk()
        assert engines.status()["refused"] == {}
        yield engines, "documents" if request.param == "postgres" else "vectors", server


@pytest.mark.fault("C9")
@pytest.mark.timeout(120)  # a frozen server never answers
def test_a_frozen_server_is_told_while_the_look_still_waits_for_it_and_after(
    served: tuple[Engines, str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    engines, store, server = served
    monkeypatch.setattr("query_engine.build.SILENT_S", 0.1)

    def told() -> bool:
        why = engines.status()["refused"].get(NAME, {})
        return (why.get("code"), why.get("stores")) == ("store_unavailable", [store])

    server.freeze()
    try:
        look = start_thread(engines.look_at_disk)
        wait_until(lambda: told() or look.done(), "a look", 10)
        assert not look.done()
        look.result()  # it ends by itself
        assert told()
    finally:
        server.thaw()
    engines.look_at_disk()

    assert engines.status()["refused"] == {}
