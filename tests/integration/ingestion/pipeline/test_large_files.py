"""Files that are too large are not read at all, and a run that shall end does not read large ones to their end."""

import threading
from collections.abc import Callable, Iterator
from io import BufferedReader, FileIO
from pathlib import Path

import pytest

import ingestion.pipeline.diff
from ingestion.pipeline.pipeline import Pipeline
from ingestion.reading.files import list_files
from settings import IngestSettings
from tests.fakes.library import Library, OwnReader


class Watched(BufferedReader):
    """Tells each read of a file, but not a look at its beginning."""

    def __init__(self, path: Path, on_read: Callable[[], None]) -> None:
        super().__init__(FileIO(path, "rb"))
        self._on_read = on_read

    def read(self, size: int | None = -1, /) -> bytes:
        self._on_read()
        return super().read(size)

    def readinto(self, buffer: object, /) -> int:
        self._on_read()
        return super().readinto(buffer)  # type: ignore[arg-type]


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    library = Library(tmp_path, OwnReader(IngestSettings(max_file_mb=1)))
    yield library
    library.close()


def sparse(path: Path, size: int) -> None:
    with path.open("wb") as file:
        file.truncate(size)


def watch(monkeypatch: pytest.MonkeyPatch, on_read: Callable[[], None]) -> None:
    monkeypatch.setattr(ingestion.pipeline.diff, "open_plain", lambda path: Watched(path, on_read))


@pytest.mark.parametrize("name", ["large.txt", "large.pdf", "large.json"])
def test_a_file_over_the_limit_is_refused_without_being_read(
    library: Library, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    sparse(library.files / name, 300_000_000_000)
    reads: list[None] = []

    def on_read() -> None:
        reads.append(None)
        raise AssertionError("The file is read.")

    watch(monkeypatch, on_read)

    summary = library.ingest()

    assert [entry["source"] for entry in summary.failed] == [name]
    assert "larger than 1 MB" in summary.failed[0]["reason"]
    assert not reads


def test_what_a_file_held_stays_when_it_has_become_too_large(library: Library) -> None:
    (library.files / "a.txt").write_text("Small.")
    library.ingest()
    (library.files / "a.txt").write_text("Large. " * 200_000)

    assert len(library.ingest().failed) == 1
    assert library.doc_ids() == ["a.txt"]


def test_records_over_the_limit_are_read_all_the_same(library: Library) -> None:
    (library.files / "a.jsonl").write_text('{"text": "The record."}\n' + "\n" * 1_000_000)

    assert library.ingest().new == 1


def test_a_run_that_shall_end_does_not_hash_a_large_file_to_its_end(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    sparse(library.files / "rows.jsonl", 300_000_000_000)
    stop = threading.Event()
    reads: list[None] = []

    def on_read() -> None:
        stop.set()
        reads.append(None)
        assert len(reads) < 3

    watch(monkeypatch, on_read)
    pipeline = Pipeline(library.corpus, library.reader, library._preparation(), stop=stop)

    summary = pipeline.run(list_files(library.files), str(library.files))

    assert summary.stopped
    assert not summary.failed
