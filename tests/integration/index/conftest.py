"""Servers of a corpus's stores, one of each kind per test module."""

from collections.abc import Iterator

import pytest

from tests.servers.databases import ChromaServer, PostgresServer, chroma_server, postgres_server


@pytest.fixture(scope="module")
def chroma(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChromaServer]:
    with chroma_server(tmp_path_factory.mktemp("chroma")) as server:
        yield server


@pytest.fixture(scope="module")
def postgres() -> Iterator[PostgresServer]:
    with postgres_server() as server:
        yield server
