"""Every kind of damage to a corpus is found, and mended where it can be: as if nothing had happened."""

import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from errors import IndexDamagedError
from index.corpus import Corpus
from index.documents.span_tree import node_id
from index.documents.store import StoredDocument
from index.folder_stores import open_folder
from index.health.check import SAMPLE, Diagnosis, Repair, examine, examine_store
from index.layout.locations import LOCAL
from ingestion.maintenance.repair import Mender
from tests.fakes.corpora import MANIFEST, make_corpus, stored
from tests.fakes.embedding import WordHashEmbedding, word_vector
from tests.fakes.words import leaves_with

pytestmark = [pytest.mark.slow, pytest.mark.integration]

WORDS = random.Random(3)
# More leaves than Chroma keeps in its log before it writes the graph's files.
TEXTS = {
    f"{number:02d}.md": " ".join(
        " ".join(f"w{WORDS.randrange(3000)}" for _ in range(6)).capitalize() + "." for _ in range(60)
    )
    for number in range(20)
}
DOCUMENTS, LEAVES = 20, 1200


@dataclass
class Embedder:
    """Has the embedder loaded."""

    embedder: WordHashEmbedding


def leaf_texts(document: StoredDocument) -> list[str]:
    spans = [document.tree[position] for position in document.tree.leaves]
    return [document.text[span.start : span.end] for span in spans]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sound") / "books"
    make_corpus(folder, TEXTS, WordHashEmbedding()).close()
    return folder


@pytest.fixture
def folder(sound: Path, tmp_path: Path) -> Path:
    return shutil.copytree(sound, tmp_path / "books")


def graph(folder: Path, name: str) -> Path:
    (found,) = (folder / "vectors").glob(f"*/{name}")
    return found


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def flip(path: Path) -> None:
    """Turn over bits all through the file, the head included."""
    data = bytearray(path.read_bytes())
    for place in range(0, len(data), len(data) // 64 | 1):  # odd, so that every byte of a number has its turn
        data[place] ^= 0xFF
    path.write_bytes(data)


def mend(folder: Path, embedder: WordHashEmbedding | None = None, diagnosis: Diagnosis | None = None) -> list[str]:
    with closing(open_folder(folder, MANIFEST)) as corpus:
        mender = Mender(corpus, Embedder(embedder or WordHashEmbedding()), leaf_texts)
        return mender.mend(diagnosis or examine(folder))


def assert_as_before(folder: Path, sound: Path) -> None:
    with closing(open_folder(sound, MANIFEST)) as before, closing(open_folder(folder, MANIFEST)) as after:
        assert_equal(before, after)


def assert_equal(before: Corpus, after: Corpus) -> None:
    assert after.documents.state() == before.documents.state()
    names = [node_id(version, position) for version, places in before.leaf_places().items() for position in places]
    wanted, found = before.vectors.fetch(names), after.vectors.fetch(names)
    assert after.vectors.count() == after.lexical_index.count() == len(wanted) == LEAVES
    assert min(float(wanted[name] @ found[name]) for name in names) > 0.999
    assert dict(leaves_with(after.lexical_index, "w7 w77", 500)) == pytest.approx(
        dict(leaves_with(before.lexical_index, "w7 w77", 500))
    )


def test_a_sound_corpus_is_healthy_and_nothing_is_done(folder: Path) -> None:
    diagnosis = examine(folder)

    assert diagnosis.healthy
    assert {check.store for check in diagnosis.checks} == {"manifest", "documents", "words", "vectors"}
    assert mend(folder, diagnosis=diagnosis) == []


@pytest.mark.fault("A9")
def test_damage_to_the_vector_graph_is_found_though_it_kills_the_reader(folder: Path, sound: Path) -> None:
    flip(graph(folder, "data_level0.bin"))

    diagnosis = examine(folder)

    findings = " ".join(check.finding or "" for check in diagnosis.checks if not check.ok)
    assert "died (SIGSEGV)" in findings
    assert mend(folder, diagnosis=diagnosis) == [Repair.VECTORS]
    assert examine(folder, sample=None).healthy
    assert_as_before(folder, sound)


def test_a_torn_graph_is_refused_even_after_a_run_that_did_not_open_it(folder: Path) -> None:
    flip(graph(folder, "data_level0.bin"))
    open_folder(folder, MANIFEST).close()

    with (
        closing(open_folder(folder, MANIFEST)) as corpus,
        pytest.raises(IndexDamagedError, match="doctor --corpus books --repair"),
    ):
        _ = corpus.vectors


@pytest.mark.fault("A9")
def test_a_lost_graph_is_found_though_the_database_still_counts_its_leaves(folder: Path) -> None:
    shutil.rmtree(graph(folder, "header.bin").parent)

    assert Repair.VECTORS in {check.repair for check in examine_store(folder, LOCAL, "vectors", SAMPLE)}


# The same examination of the other files, which also bars an opening: `tests/integration/index/health/test_damage.py`.
@pytest.mark.fault("A9")
@pytest.mark.parametrize("damage", [flip, truncate])
def test_a_torn_file_of_lengths_is_found(folder: Path, damage: Callable[[Path], None]) -> None:
    damage(graph(folder, "length.bin"))

    assert Repair.VECTORS in {check.repair for check in examine_store(folder, LOCAL, "vectors", SAMPLE)}


@pytest.mark.fault("A9")
@pytest.mark.parametrize("damage", [flip, truncate, Path.unlink])
def test_a_damaged_vector_database_is_found(folder: Path, damage: Callable[[Path], None]) -> None:
    damage(folder / "vectors" / "chroma.sqlite3")

    repairs = {check.repair for check in examine_store(folder, LOCAL, "vectors", SAMPLE)}
    assert repairs & {Repair.VECTORS, Repair.LEAVES}


def test_what_a_dead_holder_tore_is_rebuilt(folder: Path, sound: Path) -> None:
    (folder / "lock").write_text('{"pid": 1, "url": null}')
    flip(graph(folder, "data_level0.bin"))

    assert mend(folder) == [Repair.VECTORS]
    assert_as_before(folder, sound)


@pytest.mark.fault("A9")
def test_lost_words_and_vectors_are_rebuilt(folder: Path, sound: Path) -> None:
    shutil.rmtree(folder / "words")
    shutil.rmtree(folder / "vectors")

    assert mend(folder) == [Repair.WORDS, Repair.LEAVES]
    assert_as_before(folder, sound)


@pytest.mark.fault("A9")
@pytest.mark.parametrize(("pattern", "damage"), [("meta.json", truncate), ("*.store", flip), ("*.term", Path.unlink)])
def test_a_damaged_word_index_is_found(folder: Path, pattern: str, damage: Callable[[Path], None]) -> None:
    for path in (folder / "words").glob(pattern):
        damage(path)

    assert {check.repair for check in examine_store(folder, LOCAL, "words", None)} == {Repair.WORDS}


def test_single_leaves_are_embedded_again_and_strays_removed(folder: Path, sound: Path) -> None:
    corpus = open_folder(folder, MANIFEST)
    names = list(corpus.vectors.ids())
    corpus.vectors.delete_ids(names[5:8])
    corpus.vectors.upsert(["0123456789abcdef0123.7"], np.array([word_vector("stray")], np.float32))
    corpus.close()
    embedder = WordHashEmbedding()

    assert mend(folder, embedder) == [Repair.LEAVES]

    assert embedder.texts_embedded == 3
    assert_as_before(folder, sound)


def test_what_an_interrupted_run_left_is_swept(folder: Path, sound: Path) -> None:
    corpus = open_folder(folder, MANIFEST)
    document = stored("late.md", "Never seen. Not committed.")
    corpus.documents.announce([document.version])
    corpus.vectors.upsert([f"{document.version}.2"], np.array([word_vector("never")], np.float32))
    corpus.add_words([document])
    corpus.close()

    assert mend(folder) == [Repair.SWEEP]
    assert_as_before(folder, sound)


def test_wrong_totals_are_corrected(folder: Path, sound: Path) -> None:
    with sqlite3.connect(folder / "documents.sqlite") as database:
        database.execute("UPDATE totals SET documents = 3")
    database.close()

    assert mend(folder) == [Repair.COUNT]
    assert_as_before(folder, sound)


@pytest.mark.fault("A9")
@pytest.mark.parametrize("damage", [flip, truncate, Path.unlink])
def test_damaged_documents_are_found_and_said_to_be_beyond_repair(folder: Path, damage: Callable[[Path], None]) -> None:
    damage(folder / "documents.sqlite")

    diagnosis = examine(folder)

    assert Repair.NOTHING in diagnosis.repairs
    corpus_of_others = make_corpus(folder.parent / "other", {}, WordHashEmbedding())
    with closing(corpus_of_others), pytest.raises(IndexDamagedError, match=r"cannot be mended.* restore the corpus"):
        Mender(corpus_of_others, Embedder(WordHashEmbedding()), leaf_texts).mend(diagnosis)


def test_a_passage_beyond_its_text_is_found(folder: Path) -> None:
    with sqlite3.connect(folder / "documents.sqlite") as database:
        database.execute("UPDATE documents SET text = substr(text, 1, 20) WHERE doc_id = '03.md'")
    database.close()

    (finding,) = [check for check in examine_store(folder, LOCAL, "documents", None) if not check.ok]
    assert finding.finding == "Passages of 03.md do not."


@pytest.mark.fault("A9")
def test_a_torn_manifest_is_found(folder: Path) -> None:
    truncate(folder / "manifest.json")

    (check,) = examine(folder).checks
    assert check.store == "manifest"
    assert check.repair is Repair.NOTHING
