"""Vectors that were damaged after a clean stop are refused; sound ones are opened, also after a crash."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from errors import IndexDamagedError
from index.folder_stores import open_folder
from index.health import check, child
from index.health.check import SAMPLE, examine
from index.layout.locations import LOCAL
from index.maintenance.doctor import diagnose
from index.vectors.chroma import Collection
from settings import Settings
from tests.fakes.corpora import MANIFEST, make_corpus, stored
from tests.fakes.embedding import WordHashEmbedding, word_vector

pytestmark = [pytest.mark.slow, pytest.mark.integration]

# More leaves than Chroma keeps in its log before it writes the graph's files.
TEXTS = {f"{number}.md": " ".join(f"Word{number} and {i}." for i in range(60)) for number in range(20)}
LEAVES = 1200
# Opens a corpus as the service does, and searches it.
OPEN = """
import sys
from contextlib import closing
from pathlib import Path
from errors import IndexDamagedError
from index.folder_stores import open_folder
from tests.fakes.corpora import MANIFEST
from tests.fakes.embedding import word_vector
try:
    with closing(open_folder(Path(sys.argv[1]), MANIFEST)) as corpus:
        corpus.open_derived()
        print(len(corpus.vectors.search(word_vector("Word7 and 7"), 10)), "found")
except IndexDamagedError as error:
    print("refused:", error)
"""
KILLED = "import os\n" + OPEN.replace("        print", "        os.kill(os.getpid(), 9)\n        print", 1)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sound") / "books"
    make_corpus(folder, TEXTS, WordHashEmbedding()).close()
    return folder


@pytest.fixture
def folder(sound: Path, tmp_path: Path) -> Path:
    return shutil.copytree(sound, tmp_path / "books")


def run(program: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", program, str(folder)], capture_output=True, text=True, timeout=300, check=False
    )


def flip(data: bytes) -> bytes:
    turned = bytearray(data)
    for place in range(0, len(turned), max(1, len(turned) // 64)):
        turned[place] ^= 0xFF
    return bytes(turned)


def truncate(data: bytes) -> bytes:
    return data[: len(data) // 2]


def zero(data: bytes) -> bytes:
    return bytes(len(data))


@pytest.mark.fault("A9")
@pytest.mark.parametrize("damage", [flip, truncate, zero, None])
@pytest.mark.parametrize("name", ["data_level0.bin", "header.bin", "index_metadata.pickle", "link_lists.bin"])
def test_a_graph_that_was_damaged_after_a_clean_stop_is_refused(
    folder: Path, name: str, damage: Callable[[bytes], bytes] | None
) -> None:
    (path,) = (folder / "vectors").glob(f"*/{name}")
    if damage:
        path.write_bytes(damage(path.read_bytes()))
    else:
        path.unlink()

    opened = run(OPEN, folder)

    assert opened.returncode == 0, f"the process died: {opened.stderr}"
    assert opened.stdout.startswith("refused:"), opened.stdout
    assert "doctor --corpus books --repair" in opened.stdout


def test_what_a_killed_reader_left_is_opened_without_another_look(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(KILLED, folder).returncode == -9
    monkeypatch.setattr("index.folder_stores.examine_store", None)

    with closing(open_folder(folder, MANIFEST)) as corpus:
        corpus.open_derived()


@pytest.mark.fault("A9")
def test_what_a_killed_writer_left_is_examined_and_opened(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = OPEN.replace("import sys", "import os, sys").replace(
        "        print",
        "        from tests.fakes.corpora import fill\n"
        "        from tests.fakes.embedding import WordHashEmbedding\n"
        "        fill(corpus, {'late.md': 'Came late.'}, WordHashEmbedding())\n"
        "        os.kill(os.getpid(), 9)\n        print",
    )
    assert run(program, folder).returncode == -9
    looked: list[str] = []

    def examined(*arguments: object) -> list[check.Check]:
        looked.append("vectors")
        return check.examine_store(*arguments)  # type: ignore[arg-type]  # as they came

    monkeypatch.setattr("index.folder_stores.examine_store", examined)

    with closing(open_folder(folder, MANIFEST)) as corpus:
        corpus.open_derived()
        assert corpus.vectors.count() == LEAVES + 1
    assert looked == ["vectors"]


def test_after_the_doctor_found_it_sound_it_is_opened_without_another_look(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings()
    settings = settings.model_copy(update={"index": settings.index.model_copy(update={"dir": folder.parent})})
    (folder / "vectors.seal").unlink()
    assert diagnose("books", settings).healthy
    monkeypatch.setattr("index.folder_stores.examine_store", None)

    with closing(open_folder(folder, MANIFEST)) as corpus:
        corpus.open_derived()


@pytest.mark.fault("A9")
@pytest.mark.parametrize("pending", [False, True])
def test_a_removed_vectors_folder_is_refused_even_while_versions_are_pending(folder: Path, *, pending: bool) -> None:
    if pending:
        with closing(open_folder(folder, MANIFEST)) as corpus:
            corpus.documents.announce([stored("late.md", "Never seen.").version])
    shutil.rmtree(folder / "vectors")

    for _ in range(2):
        with (
            closing(open_folder(folder, MANIFEST)) as corpus,
            pytest.raises(IndexDamagedError, match=r"vectors of corpus 'books' are gone.*--repair"),
        ):
            corpus.open_derived()
    assert not examine(folder).healthy


def test_leaves_are_counted_while_versions_are_pending(folder: Path) -> None:
    late = stored("late.md", "Never seen. Not committed.")
    with closing(open_folder(folder, MANIFEST)) as corpus:
        corpus.documents.announce([late.version])
        corpus.vectors.upsert([f"{late.version}.2"], np.array([word_vector("never")], np.float32))
        corpus.add_words([late])
        corpus.open_derived()  # what is pending is known

        corpus.vectors.delete_ids(list(corpus.vectors.ids())[:1])
        with pytest.raises(IndexDamagedError, match=f"{LEAVES} leaves, but {LEAVES - 1} vectors"):
            corpus.open_derived()


def test_leaves_that_the_graph_does_not_lead_to_are_a_figure_and_no_damage(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two of fifty made a corpus unusable, which nothing was wrong with."""
    nearest_each = Collection.nearest_each

    def losing_two(self: Collection, embeddings: npt.NDArray[np.float32], top_k: int) -> list[list[tuple[str, float]]]:
        return [[], [], *nearest_each(self, embeddings[2:], top_k)]

    monkeypatch.setattr(Collection, "nearest_each", losing_two)

    checks = list(child._vectors(child.Place(folder, LOCAL), 50))

    assert all(one.ok for one in checks)
    (reach,) = [one for one in checks if one.share is not None]
    assert reach.share == pytest.approx(0.96)
    assert reach.finding is not None
    assert reach.finding.startswith("The graph leads to 96.0% of 50 stored leaves; not to ")


@pytest.mark.fault("A9")
def test_a_graph_that_leads_to_nothing_is_damage(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Collection, "nearest_each", lambda _self, embeddings, _k: [[] for _ in embeddings])

    (broken,) = [one for one in child._vectors(child.Place(folder, LOCAL), SAMPLE) if not one.ok]
    assert broken.share == 0
    assert broken.repair is check.Repair.VECTORS
