"""The process that holds corpora for several workers: who is kept out, what they find, and that it ends with them."""

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from errors import CorpusError, CorpusLockedError, StoreUnavailableError, UnknownCorpusError
from index.corpus import Corpus
from index.folder_stores import open_folder
from index.health.seal import VectorsSeal
from index.keeper.client import Member
from index.layout.lock import CorpusLock
from tests.e2e.program import environment
from tests.failing import failing
from tests.fakes.corpora import MANIFEST, fill, make_corpus
from tests.fakes.embedding import WordHashEmbedding, word_vector

TEXTS = {
    f"{number:03d}.md": f"Number {number} turns wind into power. Blades {number} are long." for number in range(150)
}
QUESTION = word_vector("Blades 7 are long.")
URL = "http://127.0.0.1:8000"


class RunningKeeper:
    """`python -m index.keeper`, as a service's parent starts it."""

    def __init__(self, index: Path, socket: Path) -> None:
        self.socket = socket
        self.process = subprocess.Popen(
            [sys.executable, "-m", "index.keeper", str(socket), "--url", URL],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment(RAG_INDEX__DIR=str(index)),
            cwd=index,
        )
        assert self.process.stdout is not None
        with self.process.stdout:
            assert self.process.stdout.readline() == b"ready\n"

    def end(self) -> None:
        """End it as the end of the service does, and wait."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(60)

    def server(self) -> psutil.Process:
        """Return the Chroma server of the only corpus."""
        (server,) = psutil.Process(self.process.pid).children()
        return server


@pytest.fixture
def made(tmp_path: Path) -> tuple[Path, list[tuple[str, float]]]:
    """Return a corpus's folder, and what a search finds in one process."""
    folder = tmp_path / "index" / "c"
    folder.parent.mkdir()
    (folder.parent / ".env").touch()
    with closing(make_corpus(folder, TEXTS, WordHashEmbedding())) as corpus:
        corpus.flush()
        found = corpus.vectors.search(QUESTION, 20)
    return folder, found


@pytest.fixture
def keeper(made: tuple[Path, list[tuple[str, float]]], tmp_path: Path) -> Iterator[RunningKeeper]:
    running = RunningKeeper(made[0].parent, tmp_path / "keeper")
    yield running
    running.end()


def open_as(keeper: RunningKeeper, folder: Path, *, read_only: bool, create: bool = False) -> Corpus:
    return open_folder(folder, MANIFEST, create=create, access=Member(keeper.socket, read_only=read_only))


def test_workers_find_what_one_process_finds_and_see_what_one_of_them_writes(
    made: tuple[Path, list[tuple[str, float]]], keeper: RunningKeeper
) -> None:
    folder, alone = made
    with (
        closing(open_as(keeper, folder, read_only=True)) as reader,
        closing(open_as(keeper, folder, read_only=False)) as writer,
    ):
        reader.open_derived()
        writer.open_derived()
        for corpus in (reader, writer):
            found = corpus.vectors.search(QUESTION, 20)
            assert [name for name, _ in found] == [name for name, _ in alone]
            assert dict(found) == pytest.approx(dict(alone), abs=1e-6)

        fill(writer, {"new.md": "Tides move barrages."}, WordHashEmbedding())

        assert reader.is_outdated()
        with failing("read_only"):
            reader.delete(["new.md"])
    with closing(open_as(keeper, folder, read_only=True)) as reader:
        reader.open_derived()
        assert reader.documents.get("new.md")


def test_others_are_kept_out_until_the_service_ends_and_then_need_not_examine_the_vectors(
    made: tuple[Path, list[tuple[str, float]]], keeper: RunningKeeper
) -> None:
    folder, _ = made
    open_as(keeper, folder, read_only=True).close()  # a worker that ends leaves it held

    with pytest.raises(CorpusLockedError) as refused:
        CorpusLock(folder)

    assert refused.value.url == URL
    keeper.end()
    CorpusLock(folder).release()
    assert VectorsSeal(folder, folder / "vectors").matches()


def test_what_the_writer_gives_up_can_be_deleted_and_is_held_again_when_it_is_asked_for(
    made: tuple[Path, object], keeper: RunningKeeper
) -> None:
    folder = made[0]
    open_as(keeper, folder, read_only=False).close()
    Member(keeper.socket, read_only=False).let_go(folder)
    CorpusLock(folder).release()
    open_as(keeper, folder, read_only=False).close()

    with pytest.raises(CorpusLockedError):
        CorpusLock(folder)


def test_a_new_corpus_is_made_by_the_writer(keeper: RunningKeeper, made: tuple[Path, object]) -> None:
    folder = made[0].with_name("other")
    with pytest.raises(UnknownCorpusError):
        open_as(keeper, folder, read_only=True)

    with closing(open_as(keeper, folder, read_only=False, create=True)) as writer:
        writer.open_derived()
        fill(writer, TEXTS, WordHashEmbedding())

        with closing(open_as(keeper, folder, read_only=True)) as reader:
            reader.open_derived()
            assert reader.vectors.count() == 300


def test_a_server_that_dies_is_started_again_and_found_by_those_who_had_it(
    made: tuple[Path, list[tuple[str, float]]], keeper: RunningKeeper
) -> None:
    with closing(open_as(keeper, made[0], read_only=True)) as reader:
        found = reader.vectors.search(QUESTION, 20)
        keeper.server().kill()

        def answers() -> bool:
            try:
                return reader.vectors.search(QUESTION, 20) == found
            except StoreUnavailableError:
                return False

        _eventually(answers)


def test_it_ends_with_the_last_process_of_the_service_and_its_servers_with_it(
    made: tuple[Path, list[tuple[str, float]]], keeper: RunningKeeper
) -> None:
    open_as(keeper, made[0], read_only=True).close()
    server = keeper.server()

    keeper.process.send_signal(signal.SIGTERM)  # Ctrl-C and the like do not end it before the workers
    keeper.process.kill()
    keeper.process.wait()

    _eventually(lambda: not server.is_running() or server.status() == psutil.STATUS_ZOMBIE)
    with pytest.raises(CorpusError):
        open_as(keeper, made[0], read_only=True)
    make_corpus(made[0], {}, WordHashEmbedding()).close()


def _eventually(happened: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < until
        threading.Event().wait(0.05)
