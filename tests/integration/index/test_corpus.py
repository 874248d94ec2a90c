"""A corpus as a whole: what is visible, what is swept, what is refused."""

import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.core.retrievers import AutoMergingRetriever, VectorIndexRetriever
from llama_index.core.schema import MetadataMode

from errors import IndexDamagedError, IndexMismatchError, UnknownCorpusError
from index.corpus import Corpus, corpus_names
from index.documents.sources import SourceNote
from index.documents.span_tree import node_id
from index.folder_stores import open_folder
from tests.fakes.corpora import MANIFEST, fill, make_corpus, stored
from tests.fakes.embedding import WordHashEmbedding, word_vector
from tests.fakes.words import leaves_with

TEXTS = {
    "wind.md": "Turbines turn wind into power. Blades are long. Towers are tall. Gearboxes wear out.",
    "water.md": "Dams hold water back. Rivers run turbines too. Fish need ladders.",
}


@pytest.fixture
def corpus(tmp_path: Path) -> Iterator[Corpus]:
    corpus = make_corpus(tmp_path / "books", TEXTS, WordHashEmbedding())
    yield corpus
    corpus.close()


def node_names(corpus: Corpus, doc_id: str) -> list[str]:
    document = corpus.documents.get(doc_id)
    assert document is not None
    return [node_id(document.version, position) for position in document.tree.leaves]


@pytest.mark.promise("B06")
def test_dense_search_gives_cosines_nearest_first(corpus: Corpus) -> None:
    hits = corpus.vectors.search(word_vector("Blades are long."), 7)

    assert hits[0][1] == pytest.approx(1.0, abs=1e-3)
    assert [score for _, score in hits] == sorted((score for _, score in hits), reverse=True)
    node = corpus.docstore.get_document(hits[0][0])
    assert node is not None
    assert node.get_content() == "Blades are long."


@pytest.mark.parametrize("question", ["", "???", "🙂🙂", 'AND (OR "unclosed [title:', "the of and"])
def test_odd_word_queries_give_a_list_not_an_error(corpus: Corpus, question: str) -> None:
    assert isinstance(leaves_with(corpus.lexical_index, question, 5), list)


@pytest.mark.parametrize("before", [0, 60])
def test_the_terms_that_each_leaf_holds_are_known(corpus: Corpus, before: int) -> None:
    names = dict(zip(("turn", "tall"), node_names(corpus, "wind.md")[:3:2], strict=True))
    unheld = [f"unheld{number}" for number in range(before)]

    held = corpus.lexical_index.held([*unheld, "turbin", "tower", "power", "tall"], [*names.values(), "unknown.1"])

    assert held == {
        names["turn"]: {"turbin", "power"},
        names["tall"]: {"tower", "tall"},
        "unknown.1": set(),
    }
    assert corpus.lexical_index.held([], names.values()) == dict.fromkeys(names.values(), frozenset())
    assert corpus.lexical_index.held(["turbin"], []) == {}


def test_a_changed_document_leaves_nothing_of_its_old_version(corpus: Corpus) -> None:
    fill(corpus, {"wind.md": "Sails came first."}, WordHashEmbedding())

    assert corpus.documents.leaf_count() == corpus.vectors.count() == corpus.lexical_index.count() == 4
    assert leaves_with(corpus.lexical_index, "gearboxes", 5) == []
    assert corpus.documents.pending() == []


def test_leftovers_of_a_crash_are_swept(corpus: Corpus) -> None:
    # What a crash between the stores and the commit leaves: leaves of a version that no document shows.
    lost = stored("lost.md", "Never committed. At all.")
    names = [node_id(lost.version, position) for position in lost.tree.leaves]
    corpus.documents.announce([lost.version])
    corpus.vectors.upsert(names, np.array([word_vector("never"), word_vector("all")], np.float32))
    corpus.lexical_index.add([(names[0], lost.version, "Never committed.", "lost")])

    assert corpus.sweep() == 1
    assert corpus.vectors.count() == corpus.lexical_index.count() == 7
    assert corpus.documents.pending() == []


def test_a_known_id_takes_its_new_vector(corpus: Corpus) -> None:
    name = corpus.vectors.search(word_vector("Blades are long."), 1)[0][0]
    corpus.vectors.upsert([name], np.array([word_vector("zebra")], np.float32))

    (found, score), *_ = corpus.vectors.search(word_vector("zebra"), 1)
    assert found == name
    assert score == pytest.approx(1.0, abs=1e-3)


def test_more_leaves_than_one_chroma_batch_are_stored(corpus: Corpus) -> None:
    limit = corpus.vectors._batch
    many = [node_id("many", position) for position in range(limit + 10)]
    corpus.vectors.upsert(many, np.array([word_vector("same")] * len(many), np.float32))

    assert corpus.vectors.count() == 7 + limit + 10


@pytest.mark.fault("F3")
def test_the_corpus_survives_reopening(corpus: Corpus, tmp_path: Path) -> None:
    corpus.close()
    reopened = open_folder(tmp_path / "books", MANIFEST)

    assert reopened.documents.count() == 2
    assert len(reopened.vectors.search(word_vector("water"), 10)) == 7
    reopened.close()


def test_a_corpus_of_other_settings_is_refused_and_its_lock_is_freed(corpus: Corpus, tmp_path: Path) -> None:
    corpus.close()
    other = replace(MANIFEST, identity=replace(MANIFEST.identity, leaf_tokens=64))

    for _ in range(2):
        with pytest.raises(IndexMismatchError, match=r"leaf_tokens=128.*64"):
            open_folder(tmp_path / "books", other)


@pytest.mark.usefixtures("corpus")
def test_an_unknown_corpus_names_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(UnknownCorpusError, match="Known corpora: books"):
        open_folder(tmp_path / "nothing", MANIFEST)
    assert not (tmp_path / "nothing").exists()


def test_a_damaged_word_index_is_named(corpus: Corpus, tmp_path: Path) -> None:
    corpus.close()
    ((tmp_path / "books") / "words" / "meta.json").write_text("{")

    with (
        closing(open_folder(tmp_path / "books", MANIFEST)) as damaged,
        pytest.raises(IndexDamagedError, match="word index"),
    ):
        damaged.open_derived()


@pytest.mark.usefixtures("corpus")
def test_folders_that_are_no_corpora_are_not_listed(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    shutil.copytree(tmp_path / "books", tmp_path / ".books.retired")

    assert corpus_names(tmp_path) == ["books"]


def test_llamaindex_users_keep_their_own_types(corpus: Corpus) -> None:
    embedder = WordHashEmbedding()
    storage = StorageContext.from_defaults(docstore=corpus.docstore, vector_store=corpus.vector_store)
    vector_index = VectorStoreIndex.from_vector_store(corpus.vector_store, embed_model=embedder)
    leaves = vector_index.as_retriever(similarity_top_k=2)

    found = leaves.retrieve("Blades are long. Towers are tall.")
    stock = AutoMergingRetriever(VectorIndexRetriever(vector_index, similarity_top_k=2), storage).retrieve(
        "Blades are long. Towers are tall."
    )

    assert {hit.node.get_content() for hit in found} == {"Blades are long.", "Towers are tall."}
    assert stock[0].node.get_content().startswith("Turbines turn wind")


def test_what_llamaindex_reads_cannot_be_written(corpus: Corpus) -> None:
    with pytest.raises(NotImplementedError, match="python -m ingestion"):
        corpus.docstore.add_documents([])
    with pytest.raises(NotImplementedError, match="python -m ingestion"):
        corpus.vector_store.add([])
    with pytest.raises(ValueError, match="no node"):
        corpus.docstore.get_document("nothing.1")


@pytest.mark.promise("G03")
def test_deleted_documents_leave_every_store_and_their_files_are_read_again(corpus: Corpus) -> None:
    corpus.ledger.note([SourceNote(name, "/docs", name, "digest") for name in TEXTS])

    assert corpus.delete(["wind.md", "nobody.md", "wind.md"]) == 1

    assert corpus.documents.versions().keys() == {"water.md"}
    assert corpus.documents.leaf_count() == corpus.vectors.count() == corpus.lexical_index.count() == 3
    assert [note.digest for note in corpus.ledger.under("/docs")] == ["digest", None]


def test_a_torn_graph_is_told_where_it_would_kill_the_process(tmp_path: Path) -> None:
    folder = tmp_path / "books"
    many = {f"{number}.md": " ".join(f"Word{number} and {i}." for i in range(60)) for number in range(20)}
    make_corpus(folder, many, WordHashEmbedding()).close()
    (links,) = folder.glob("vectors/*/link_lists.bin")
    links.write_bytes(links.read_bytes()[:-1])
    (folder / "lock").write_text('{"pid": 1}')  # its holder died

    with (
        closing(open_folder(folder, MANIFEST)) as corpus,
        pytest.raises(IndexDamagedError, match="doctor --corpus books"),
    ):
        corpus.open_derived()


def test_a_corpus_whose_holder_died_opens_when_it_is_sound(tmp_path: Path) -> None:
    make_corpus(tmp_path / "books", TEXTS, WordHashEmbedding()).close()
    (tmp_path / "books" / "lock").write_text('{"pid": 1}')

    with closing(open_folder(tmp_path / "books", MANIFEST)) as corpus:
        corpus.open_derived()
        assert len(corpus.vectors.search(word_vector("Blades"), 3)) == 3


def test_a_store_that_lost_leaves_is_told_at_opening(tmp_path: Path) -> None:
    make_corpus(tmp_path / "books", TEXTS, WordHashEmbedding()).close()
    shutil.rmtree(tmp_path / "books" / "words")

    with (
        closing(open_folder(tmp_path / "books", MANIFEST)) as corpus,
        pytest.raises(IndexDamagedError, match="7 leaves, but 0 words"),
    ):
        corpus.open_derived()


def test_models_see_the_text_and_title_of_a_node_and_nothing_else(corpus: Corpus) -> None:
    (leaf, *_) = corpus.docstore.nodes([f"{corpus.documents.versions()['wind.md']}.2"]).values()

    assert leaf.ref_doc_id == "wind.md"
    assert leaf.get_content(MetadataMode.EMBED) == leaf.get_content(MetadataMode.NONE)
    assert leaf.get_content(MetadataMode.LLM) == f"title: wind.md\n\n{leaf.text}"


class Stopping:
    """Returns true from one call on, and counts the calls."""

    def __init__(self, at: int) -> None:
        self.at, self.calls = at, 0

    def __call__(self) -> bool:
        self.calls += 1
        return self.calls >= self.at


LONG = " ".join(f"Turbine number {number} turns." for number in range(1500))


@pytest.mark.parametrize("at", [1, 3, 48, 50])
def test_a_commit_that_shall_end_shows_nothing_and_the_next_sweep_removes_the_rest(corpus: Corpus, at: int) -> None:
    document, stopping = stored("long.md", LONG), Stopping(at)
    vectors = np.ones((len(document.tree.leaves), 64), np.float32)

    assert not corpus.replace([document], vectors, ["wind.md"], stopping=stopping)

    assert corpus.documents.get("long.md") is None
    assert corpus.documents.get("wind.md") is not None
    assert stopping.calls <= at + 2  # nothing else was begun
    assert corpus.sweep() == 1
    assert corpus.vectors.count() == corpus.lexical_index.count() == 7


def test_what_a_commit_replaced_is_left_to_the_next_sweep_when_it_shall_end(corpus: Corpus) -> None:
    fill(corpus, {"long.md": LONG}, WordHashEmbedding())
    document = stored("long.md", "It is short now.")
    # Two looks before it is visible, and one before the first part of what it replaces is deleted.
    stopping = Stopping(5)

    assert corpus.replace([document], np.ones((1, 64), np.float32), stopping=stopping)

    found = corpus.documents.get("long.md")
    assert found is not None
    assert found.version == document.version
    assert corpus.vectors.count() > 8
    corpus.open_derived()
    assert corpus.sweep() == 1
    assert corpus.vectors.count() == corpus.lexical_index.count() == 8


@pytest.mark.fault("E11")
def test_only_the_owner_looks_into_the_folders(tmp_path: Path) -> None:
    make_corpus(tmp_path / "index" / "books", TEXTS, WordHashEmbedding()).close()

    for folder in (tmp_path / "index", tmp_path / "index" / "books"):
        assert folder.stat().st_mode & 0o777 == 0o700
