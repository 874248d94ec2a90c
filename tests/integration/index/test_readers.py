"""One writer and readers beside it: what a reader sees, when it sees it, and who keeps whom out."""

from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from errors import CorpusLockedError, IndexDamagedError, SettingsError, UnknownCorpusError
from index.corpus import Corpus
from index.documents.tables import generations
from index.folder_stores import open_folder
from index.layout.access import Reading, Writing
from index.layout.locations import Servers
from tests.failing import failing
from tests.fakes.corpora import MANIFEST, fill
from tests.fakes.embedding import WordHashEmbedding, word_vector
from tests.servers.databases import ChromaServer

TEXTS = {f"{number:02d}.md": f"Number {number} turns wind into power. Blades {number} are long." for number in range(9)}


@pytest.fixture(params=["sqlite", "postgresql"])
def servers(request: pytest.FixtureRequest, chroma: ChromaServer) -> Servers:
    url = request.getfixturevalue("postgres").url if request.param == "postgresql" else None
    return Servers(chroma.url, url)


@pytest.fixture
def writer(tmp_path: Path, servers: Servers) -> Iterator[Corpus]:
    with closing(open_folder(tmp_path / "c", MANIFEST, servers, create=True)) as corpus:
        fill(corpus, TEXTS, WordHashEmbedding())
        yield corpus
    servers.discard(tmp_path / "c")


def reader_of(tmp_path: Path, servers: Servers) -> Corpus:
    return open_folder(tmp_path / "c", MANIFEST, servers, access=Reading())


def found_by_words(corpus: Corpus, word: str) -> set[str]:
    return {name.partition("#")[0] for name, _ in corpus.lexical_index.search({word: 1.0}, [], 50)}


def test_readers_find_what_the_writer_finds(tmp_path: Path, servers: Servers, writer: Corpus) -> None:
    question = word_vector("Blades 7 are long.")
    with ExitStack() as stack:
        for _ in range(2):
            reader = stack.enter_context(closing(reader_of(tmp_path, servers)))
            reader.open_derived()

            assert reader.documents.state() == writer.documents.state()
            assert reader.documents.versions() == writer.documents.versions()
            assert reader.vectors.search(question, 5) == writer.vectors.search(question, 5)
            assert reader.lexical_index.search({"7": 1.0}, [], 5) == writer.lexical_index.search({"7": 1.0}, [], 5)


def test_a_commit_makes_a_reader_outdated_and_the_next_one_sees_it(
    tmp_path: Path, servers: Servers, writer: Corpus
) -> None:
    with closing(reader_of(tmp_path, servers)) as before:
        before.open_derived()
        state = before.documents.state()
        assert not before.is_outdated()

        fill(writer, {"new.md": "Tides move barrages."}, WordHashEmbedding())

        assert before.is_outdated()
        # Until it is reopened it shows one state.
        assert before.documents.state() == state
        assert not found_by_words(before, "barrag")
    with closing(reader_of(tmp_path, servers)) as after:
        after.open_derived()

        assert not after.is_outdated()
        assert after.documents.state() == writer.documents.state() != state
        assert found_by_words(after, "barrag")


def test_the_end_of_a_sweep_is_seen_too(tmp_path: Path, servers: Servers, writer: Corpus) -> None:
    generation = writer.documents.generation()

    writer.delete(["03.md"])

    # The commit and, after the words were swept, its end.
    assert writer.documents.generation() == generation + 2
    with closing(reader_of(tmp_path, servers)) as reader:
        assert reader.lexical_index.count() == writer.lexical_index.count() == 16


def test_a_reader_writes_nothing(tmp_path: Path, servers: Servers, writer: Corpus) -> None:
    with closing(reader_of(tmp_path, servers)) as reader:
        with failing("read_only", match="RAG_SERVE__ROLE=writer"):
            fill(reader, {"new.md": "Not to be written."}, WordHashEmbedding())
        for write in (lambda: reader.delete(["03.md"]), lambda: reader.hide(["03.md"]), reader.sweep):
            with failing("read_only"):
                write()
        with pytest.raises(Exception, match=r"readonly|read-only"):
            reader.documents.forget_pending(["00"])  # the store itself refuses
    assert writer.documents.count() == 9
    with failing("read_only"):
        open_folder(tmp_path / "other", MANIFEST, servers, create=True, access=Reading())


def test_there_is_one_writer_and_what_must_be_alone_waits_for_readers(
    tmp_path: Path, servers: Servers, writer: Corpus
) -> None:
    with closing(reader_of(tmp_path, servers)):
        with pytest.raises(CorpusLockedError):
            open_folder(tmp_path / "c", MANIFEST, servers)
        writer.close()
        with pytest.raises(CorpusLockedError, match="RAG_SERVE__ROLE=reader"):
            open_folder(tmp_path / "c", MANIFEST, servers, access=Writing(alone=True))
        open_folder(tmp_path / "c", MANIFEST, servers).close()
    with closing(open_folder(tmp_path / "c", MANIFEST, servers, access=Writing("http://127.0.0.1:8000", alone=True))):
        with pytest.raises(CorpusLockedError) as refused:
            reader_of(tmp_path, servers)
        assert refused.value.url == "http://127.0.0.1:8000"
    reader_of(tmp_path, servers).close()


def test_vectors_that_are_missing_are_told_to_a_reader(tmp_path: Path, servers: Servers, writer: Corpus) -> None:
    writer.vectors.delete_versions([writer.documents.versions()["03.md"]])

    with (
        closing(reader_of(tmp_path, servers)) as reader,
        pytest.raises(IndexDamagedError, match="18 leaves, but 16 vectors"),
    ):
        reader.open_derived()


def test_an_earlier_release_s_documents_are_opened_by_a_writer_first(
    tmp_path: Path, servers: Servers, writer: Corpus
) -> None:
    generations.drop(writer._database)
    writer.close()

    with pytest.raises(IndexDamagedError, match="Start the writer once"):
        reader_of(tmp_path, servers)

    open_folder(tmp_path / "c", MANIFEST, servers).close()
    reader_of(tmp_path, servers).close()


def test_an_embedded_chroma_has_no_readers(tmp_path: Path) -> None:
    with closing(open_folder(tmp_path / "c", MANIFEST, create=True)):
        pass

    with pytest.raises(SettingsError, match="RAG_INDEX__CHROMA_URL"):
        open_folder(tmp_path / "c", MANIFEST, access=Reading())
    with pytest.raises(UnknownCorpusError):
        open_folder(tmp_path / "missing", MANIFEST, access=Reading())
