"""A corpus on another machine: its folder made from the database, its words kept up, one writer on all machines."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from errors import CorpusLockedError
from index.corpus import Corpus, corpus_names
from index.folder_stores import open_folder
from index.layout.access import Reading
from index.layout.locations import Servers
from index.layout.manifest import Manifest
from index.layout.registry import noted_corpora
from index.replica import is_replica, make_folders
from tests.fakes.corpora import MANIFEST, fill
from tests.fakes.embedding import WordHashEmbedding, word_vector
from tests.servers.databases import ChromaServer, PostgresServer

TEXTS = {f"{number:02d}.md": f"Number {number} turns wind into power. Blades {number} are long." for number in range(9)}


@pytest.fixture(scope="module")
def servers(chroma: ChromaServer, postgres: PostgresServer) -> Servers:
    return Servers(chroma.url, postgres.url)


@pytest.fixture
def writer(tmp_path: Path, servers: Servers) -> Iterator[Corpus]:
    folder = tmp_path / "there" / "c"
    with closing(open_folder(folder, MANIFEST, servers, create=True)) as corpus:
        fill(corpus, TEXTS, WordHashEmbedding())
        yield corpus
    servers.discard(folder)


def replica_of(tmp_path: Path, servers: Servers) -> Corpus:
    make_folders(tmp_path / "here", servers)
    return open_folder(tmp_path / "here" / "c", MANIFEST, servers, access=Reading())


def words_of(corpus: Corpus) -> list[tuple[str, float]]:
    return sorted(corpus.lexical_index.search({"wind": 1.0, "7": 2.0}, ["07"], 50))


def test_a_machine_with_an_empty_disk_finds_what_the_writer_finds(
    tmp_path: Path, servers: Servers, writer: Corpus
) -> None:
    with closing(replica_of(tmp_path, servers)) as replica:
        replica.open_derived()

        assert sorted(replica.lexical_index.ids()) == sorted(writer.lexical_index.ids())
        assert words_of(replica) == words_of(writer)
        question = word_vector("Blades 7 are long.")
        assert replica.vectors.search(question, 5) == writer.vectors.search(question, 5)
        assert replica.documents.versions() == writer.documents.versions()


@pytest.mark.fault("E11")
def test_a_replicas_folder_is_its_owners_and_is_written_once_whoever_looks(
    tmp_path: Path, servers: Servers, writer: Corpus
) -> None:
    here = tmp_path / "here"
    with ThreadPoolExecutor(8) as workers:
        list(workers.map(lambda _: make_folders(here, servers), range(24)))
    written = (here / "c" / "manifest.json").stat()
    make_folders(here, servers)

    assert (here / "c").stat().st_mode & 0o777 == 0o700
    assert (here / "c" / "manifest.json").stat().st_ino == written.st_ino
    assert Manifest.read(here / "c") == writer.manifest


def test_its_words_follow_what_the_writer_commits(tmp_path: Path, servers: Servers, writer: Corpus) -> None:
    replica_of(tmp_path, servers).close()

    for change in (
        lambda: fill(writer, {"new.md": "Tides move barrages.", "03.md": "To be replaced."}, WordHashEmbedding()),
        lambda: fill(writer, {"03.md": TEXTS["03.md"]}, WordHashEmbedding()),  # the words of a version that was there
        lambda: writer.delete(["new.md", "05.md"]),
        lambda: writer.delete(list(writer.documents.versions())),
    ):
        change()
        with closing(replica_of(tmp_path, servers)) as replica:
            replica.open_derived()
            assert sorted(replica.lexical_index.ids()) == sorted(writer.lexical_index.ids())
            # Scores count removed leaves until tantivy merges its files.
            assert dict(words_of(replica)).keys() == dict(words_of(writer)).keys()


def test_words_of_an_interrupted_start_are_completed(tmp_path: Path, servers: Servers, writer: Corpus) -> None:
    with closing(replica_of(tmp_path, servers)) as replica:
        replica.open_derived()
    cut = open_folder(tmp_path / "here" / "c", MANIFEST, servers, access=Reading())
    with closing(cut):
        from index.lexical.tantivy_index import LexicalIndex  # noqa: PLC0415

        LexicalIndex(tmp_path / "here" / "c" / "words").delete(list(writer.documents.versions().values())[:4])

    with closing(replica_of(tmp_path, servers)) as replica:
        replica.open_derived()
        assert words_of(replica) == words_of(writer)


def test_a_corpus_that_took_another_s_place_is_followed(tmp_path: Path, servers: Servers, writer: Corpus) -> None:
    replica_of(tmp_path, servers).close()
    writer.close()
    servers.discard(tmp_path / "there" / "c")
    make_folders(tmp_path / "here", servers)
    assert corpus_names(tmp_path / "here") == []

    with closing(open_folder(tmp_path / "there" / "c", MANIFEST, servers, create=True)) as another:
        fill(another, {"other.md": "Tides move barrages."}, WordHashEmbedding())
        with closing(replica_of(tmp_path, servers)) as replica:
            replica.open_derived()
            assert replica.documents.versions() == another.documents.versions()
            assert replica.lexical_index.count() == 1


def test_there_is_one_writer_on_all_machines(tmp_path: Path, servers: Servers, writer: Corpus) -> None:
    make_folders(tmp_path / "here", servers)
    with pytest.raises(CorpusLockedError, match="another machine"):
        open_folder(tmp_path / "here" / "c", MANIFEST, servers)
    writer.close()

    with closing(open_folder(tmp_path / "here" / "c", MANIFEST, servers)) as moved:
        # A reader's folder becomes the writer's, with its words.
        moved.open_derived()
        assert not is_replica(tmp_path / "here" / "c")
        with pytest.raises(CorpusLockedError, match="another machine"):
            open_folder(tmp_path / "there" / "c", MANIFEST, servers)


def test_a_writer_s_own_folder_is_left_alone(tmp_path: Path, servers: Servers, writer: Corpus) -> None:
    make_folders(tmp_path / "there", servers)

    assert not is_replica(tmp_path / "there" / "c")
    assert list(noted_corpora(str(servers.database_url))) == ["c"]
    assert writer.lexical_index.count() == 18
