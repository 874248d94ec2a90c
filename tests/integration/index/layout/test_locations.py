"""Documents in PostgreSQL and vectors on a Chroma server: the same corpus as in a folder, and short waits."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from errors import IndexDamagedError, IndexMismatchError, StoreUnavailableError
from index.corpus import Corpus
from index.documents.catalogue import Catalogue
from index.documents.span_tree import node_id
from index.documents.store import DocumentStore
from index.documents.tables import open_schema
from index.folder_stores import open_folder
from index.health.check import examine
from index.layout.locations import LOCAL, Servers
from tests.fakes.corpora import MANIFEST, fill, make_corpus
from tests.fakes.embedding import WordHashEmbedding, word_vector
from tests.fakes.filters import MEANINGS, PARENTS, filtered_documents
from tests.servers.databases import ChromaServer, PostgresServer

TEXTS = {
    f"{number:02d}.md": f"Number {number} turns wind into power. Blades {number} are long." for number in range(40)
}
QUESTION = word_vector("Blades 7 are long.")


@pytest.fixture(scope="module")
def catalogue(postgres: PostgresServer) -> Iterator[Catalogue]:
    engine = open_schema(postgres.url, "treeline_filters")
    DocumentStore(engine).publish(filtered_documents(), PARENTS, ())
    yield Catalogue(engine)
    engine.dispose()


@pytest.fixture
def served(tmp_path: Path, chroma: ChromaServer) -> Iterator[Corpus]:
    """A corpus whose vectors are on the server."""
    servers = Servers(chroma_url=chroma.url)
    with closing(open_folder(tmp_path / "served", MANIFEST, servers, create=True)) as corpus:
        fill(corpus, TEXTS, WordHashEmbedding())
        yield corpus
    servers.discard(tmp_path / "served")


@pytest.fixture
def stored(tmp_path: Path, postgres: PostgresServer) -> Iterator[Corpus]:
    """A corpus whose documents are in PostgreSQL."""
    servers = Servers(database_url=postgres.url)
    with closing(open_folder(tmp_path / "stored", MANIFEST, servers, create=True)) as corpus:
        fill(corpus, TEXTS, WordHashEmbedding())
        yield corpus
    servers.discard(tmp_path / "stored")


def probe(corpus: Corpus) -> None:
    for probe_store in corpus.probes().values():
        probe_store()


@pytest.mark.fault("F3")
def test_a_corpus_on_servers_equals_one_in_a_folder(
    tmp_path: Path, chroma: ChromaServer, postgres: PostgresServer
) -> None:
    servers = Servers(chroma.url, postgres.url)
    with (
        closing(make_corpus(tmp_path / "local", TEXTS, WordHashEmbedding())) as local,
        closing(open_folder(tmp_path / "remote", MANIFEST, servers, create=True)) as remote,
    ):
        fill(remote, TEXTS, WordHashEmbedding())
        fill(remote, {"03.md": "To be replaced."}, WordHashEmbedding())
        fill(remote, {"03.md": TEXTS["03.md"], "extra.md": "To be deleted."}, WordHashEmbedding())
        remote.delete(["extra.md"])

        assert remote.documents.state() == local.documents.state()
        assert remote.documents.versions() == local.documents.versions()
        assert remote.vectors.count() == remote.lexical_index.count() == remote.documents.leaf_count() == 80
        names = [node_id(version, place) for version, places in local.leaf_places().items() for place in places]
        here, there = local.vectors.fetch(names), remote.vectors.fetch(names)
        assert min(float(here[name] @ there[name]) for name in names) > 0.999
        assert [name for name, _ in remote.vectors.search(QUESTION, 1)] == [
            name for name, _ in local.vectors.search(QUESTION, 1)
        ]
        assert [brief.doc_id for brief in remote.catalogue.briefs(limit=3)] == ["00.md", "01.md", "02.md"]
        assert remote.catalogue.statistics().leaves == 80
    assert not (tmp_path / "remote" / "vectors").exists()
    assert not (tmp_path / "remote" / "documents.sqlite").exists()
    assert examine(tmp_path / "remote", servers).healthy
    (schema,) = [name for name in postgres.schemas() if remote.manifest.corpus_id in name]

    servers.discard(tmp_path / "remote")

    assert not (tmp_path / "remote").exists()
    assert schema not in postgres.schemas()


@pytest.mark.fault("C2")
@pytest.mark.timeout(60)  # a frozen server never answers
def test_a_question_gives_up_on_a_frozen_vector_server(served: Corpus, chroma: ChromaServer) -> None:
    served.vectors.search(QUESTION, 3)
    chroma.freeze()

    with pytest.raises(StoreUnavailableError, match=chroma.url):
        served.vectors.search(QUESTION, 3)

    chroma.thaw()
    assert len(served.vectors.search(QUESTION, 3)) == 3


@pytest.mark.fault("C1")
def test_a_dead_vector_server_is_told_and_used_again_when_it_is_back(
    served: Corpus, chroma: ChromaServer, tmp_path: Path
) -> None:
    probe(served)
    chroma.kill()
    with pytest.raises(StoreUnavailableError, match="RAG_INDEX__CHROMA_URL"):
        probe(served)
    with pytest.raises(StoreUnavailableError, match="RAG_INDEX__CHROMA_URL"):
        served.vectors.search(QUESTION, 3)
    with pytest.raises(StoreUnavailableError):
        fill(served, {"late.md": "Never committed."}, WordHashEmbedding())
    with pytest.raises(StoreUnavailableError):
        Servers(chroma.url).open_vectors((tmp_path / "served"), served.manifest)

    chroma.start()

    assert len(served.vectors.search(QUESTION, 3)) == 3
    assert "late.md" not in served.documents.versions()
    served.sweep()
    fill(served, {"late.md": "Committed now."}, WordHashEmbedding())
    assert served.vectors.count() == served.documents.leaf_count()


@pytest.mark.fault("C2")
@pytest.mark.timeout(60)  # a frozen server never answers
def test_a_question_gives_up_on_a_frozen_database(stored: Corpus, postgres: PostgresServer) -> None:
    postgres.freeze()

    with pytest.raises(StoreUnavailableError, match="did not answer within 3 s"):
        stored.documents.get("03.md")

    postgres.thaw()
    assert stored.documents.get("03.md") is not None


@pytest.mark.fault("C1")
def test_a_dead_database_is_told_and_used_again_when_it_is_back(stored: Corpus, postgres: PostgresServer) -> None:
    probe(stored)
    postgres.stop()
    with pytest.raises(StoreUnavailableError, match="RAG_INDEX__DATABASE_URL"):
        probe(stored)
    with pytest.raises(StoreUnavailableError, match="RAG_INDEX__DATABASE_URL") as told:
        stored.documents.get("03.md")
    with pytest.raises(StoreUnavailableError):
        fill(stored, {"late.md": "Never committed."}, WordHashEmbedding())
    assert "secret" not in str(told.value)

    postgres.start()

    assert stored.documents.get("03.md") is not None
    fill(stored, {"late.md": "Committed now."}, WordHashEmbedding())
    assert stored.documents.count() == 41


def test_a_corpus_is_not_looked_for_where_it_is_not(served: Corpus, tmp_path: Path) -> None:
    served.close()

    with pytest.raises(IndexMismatchError, match=r"vectors_at='server'.*RAG_INDEX__CHROMA_URL"):
        open_folder(tmp_path / "served", MANIFEST)
    with pytest.raises(IndexMismatchError, match="vectors_at"):
        LOCAL.discard(tmp_path / "served")
    assert (tmp_path / "served").exists()


@pytest.mark.fault("C3")
def test_documents_that_are_gone_from_the_database_are_told(
    stored: Corpus, postgres: PostgresServer, tmp_path: Path
) -> None:
    stored.close()
    servers = Servers(database_url=postgres.url)
    folder = (tmp_path / "stored").rename((tmp_path / "stored").with_name("kept"))
    servers.discard(_copy_of_manifest(folder))

    with pytest.raises(IndexDamagedError, match="are gone"):
        open_folder(folder, MANIFEST, servers)


def _copy_of_manifest(folder: Path) -> Path:
    copy = folder.with_name("copy")
    copy.mkdir()
    (copy / "manifest.json").write_bytes((folder / "manifest.json").read_bytes())
    return copy


@pytest.mark.parametrize(("filters", "found"), MEANINGS)
def test_a_filter_means_the_same_in_postgresql(catalogue: Catalogue, filters: object, found: str) -> None:
    assert "".join(catalogue.find(filters)) == found
