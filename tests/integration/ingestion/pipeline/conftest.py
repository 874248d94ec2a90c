"""What several of these tests bring in with: a library of small leaves, a reader of files."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ingestion.reading.reader import Reader
from settings import ChunkSettings, IngestSettings
from tests.fakes.library import Library


@pytest.fixture(scope="module")
def reader() -> Iterator[Reader]:
    with Reader(IngestSettings()) as reader:
        yield reader


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    library = Library(tmp_path, chunk=ChunkSettings(root_tokens=240, middle_tokens=120, leaf_tokens=60))
    yield library
    library.close()
