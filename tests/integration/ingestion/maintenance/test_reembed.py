"""A corpus is embedded again from its stored text: nothing is read from files, and nothing is lost on the way."""

import shutil
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from errors import CorpusLockedError, IndexMismatchError, UnknownCorpusError
from index.build import Embedding, open_corpus
from index.corpus import Corpus
from index.documents.sources import SourceNote
from index.documents.splitter import TreeSplitter
from index.folder_stores import open_folder
from ingestion.build import ingest
from ingestion.maintenance.reembed import Copying, reembed
from ingestion.pipeline import chunk_embed
from ingestion.pipeline.chunk_embed import LocalPreparation
from ingestion.pipeline.diff import fingerprint
from ingestion.schema import Progress
from settings import ChunkSettings, EmbedSettings, IndexSettings, Settings
from tests.fakes.corpora import MANIFEST, fill, make_corpus
from tests.fakes.cutting import DirectCutter
from tests.fakes.embedding import WordHashEmbedding

DOCUMENTS = 12
SENTENCES = " ".join(f"Sentence {number} tells of wind and water;" for number in range(40))
OTHER = replace(MANIFEST, identity=replace(MANIFEST.identity, document_prefix="passage: "))


class Loaded:
    """Has the embedder loaded."""

    def __init__(self) -> None:
        self.embedder = WordHashEmbedding()


def copying(old: Corpus, new: Corpus, stop: threading.Event | None = None) -> Copying:
    chunk = ChunkSettings(root_tokens=256, middle_tokens=64, leaf_tokens=16)
    splitter = TreeSplitter(chunk, lambda text: len(text.split()), 254)
    return Copying(
        old, new, LocalPreparation(new, Loaded(), splitter, DirectCutter(splitter)), stop or threading.Event()
    )


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    texts = {f"{number:03d}.md": f"Document {number}. {SENTENCES}" for number in range(DOCUMENTS)}
    folder = tmp_path_factory.mktemp("made") / "old"
    make_corpus(folder, texts, WordHashEmbedding()).close()
    return folder


@pytest.fixture
def old(made: Path, tmp_path: Path) -> Iterator[Corpus]:
    with closing(open_folder(shutil.copytree(made, tmp_path / "old"), MANIFEST)) as corpus:
        yield corpus


@pytest.fixture
def new(tmp_path: Path) -> Iterator[Corpus]:
    with closing(open_folder(tmp_path / "new", OTHER, create=True)) as corpus:
        yield corpus


def test_a_stopped_run_goes_on_where_it_ended(old: Corpus, new: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunk_embed, "BATCH_LEAVES", 50)
    stop = threading.Event()

    first = copying(old, new, stop).run(lambda _progress: stop.set())
    second = copying(old, new).run()

    assert first.stopped
    assert 0 < first.new < DOCUMENTS
    assert not second.stopped
    assert (second.new, second.unchanged) == (DOCUMENTS - first.new, first.new)
    assert new.documents.versions().keys() == old.documents.versions().keys()
    assert new.documents.leaf_count() == new.vectors.count() == new.lexical_index.count()
    assert new.documents.pending() == []


def test_documents_that_are_gone_since_the_stopped_run_are_not_brought_back(old: Corpus, new: Corpus) -> None:
    copying(old, new).run()
    old.delete(["003.md"])
    fill(old, {"004.md": "Quite another text."}, WordHashEmbedding())

    summary = copying(old, new).run()

    assert (summary.new, summary.unchanged) == (1, DOCUMENTS - 2)
    assert new.documents.versions().keys() == old.documents.versions().keys()
    document = new.documents.get("004.md")
    assert document is not None
    assert document.text == "Quite another text."


def test_what_is_known_of_source_files_goes_along(old: Corpus, new: Corpus) -> None:
    made_now, made_before = f"abc/{fingerprint(old)}", "abc/another release"
    old.ledger.note(
        [
            SourceNote("000.md", "/docs", "000.md", made_now),
            SourceNote("001.md", "/docs", "001.md", made_before, failures=("Record 3 is no JSON.",)),
            SourceNote("empty.md", "/docs", "empty.md", None),
        ]
    )

    copying(old, new).run()

    notes = {note.source: note for note in new.ledger.under("/docs")}
    assert {source: note.digest for source, note in notes.items()} == {
        "000.md": f"abc/{fingerprint(new)}",
        "001.md": None,
        "empty.md": None,
    }
    assert notes["001.md"].failures == ("Record 3 is no JSON.",)


def test_progress_counts_documents(old: Corpus, new: Corpus) -> None:
    told: list[Progress] = []

    copying(old, new).run(told.append)

    assert [progress.files for progress in told] == sorted(progress.files for progress in told)
    assert (told[-1].files, told[-1].files_total) == (DOCUMENTS, DOCUMENTS)
    assert (told[-1].bytes, told[-1].bytes_total) == (DOCUMENTS, DOCUMENTS)


@pytest.mark.promise("G24")
@pytest.mark.slow
def test_a_corpus_takes_other_settings_without_its_files(tmp_path: Path) -> None:
    files = tmp_path / "files"
    files.mkdir()
    (files / "wind.md").write_text(f"# Wind\n\n{SENTENCES}")
    before = Settings(index=IndexSettings(dir=tmp_path / "index"))
    after = before.model_copy(
        update={
            "embed": EmbedSettings(document_prefix="passage: "),
            "chunk": ChunkSettings(root_tokens=512, middle_tokens=128, leaf_tokens=64),
        }
    )
    ingest(files, before, corpus="books")
    files.rename(tmp_path / "elsewhere")
    assert reembed("books", before).unchanged == 1
    with pytest.raises(IndexMismatchError):
        open_corpus("books", after, Embedding(after).manifest)

    summary = reembed("books", after)

    assert (summary.new, summary.stopped) == (1, False)
    (tmp_path / "elsewhere").rename(files)
    assert sorted(path.name for path in (tmp_path / "index").iterdir()) == ["books"]
    again = ingest(files, after, corpus="books")
    assert (again.unchanged, again.embedded) == (1, 0)
    with closing(open_corpus("books", after, Embedding(after).manifest)) as corpus:
        embedded_again = corpus.documents.state()
    shutil.rmtree(tmp_path / "index")
    ingest(files, after, corpus="books")
    with closing(open_corpus("books", after, Embedding(after).manifest)) as corpus:
        assert corpus.documents.state() == embedded_again


def test_a_corpus_in_use_is_left_alone(tmp_path: Path) -> None:
    settings = Settings(index=IndexSettings(dir=tmp_path))
    with closing(make_corpus(tmp_path / "books", {}, WordHashEmbedding())), pytest.raises(CorpusLockedError):
        reembed("books", settings)
    with pytest.raises(UnknownCorpusError):
        reembed("nothing", settings)


@pytest.mark.fault("A12")
def test_a_corpus_that_an_older_release_cut_is_cut_again(tmp_path: Path) -> None:
    files = tmp_path / "files"
    files.mkdir()
    (files / "wind.md").write_text(f"# Wind\n\n{SENTENCES}")
    settings = Settings(index=IndexSettings(dir=tmp_path / "index"))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("ingestion.pipeline.diff.PIPELINE_VERSION", "2")
        ingest(files, settings, corpus="books")

    summary = reembed("books", settings)

    assert (summary.new, summary.unchanged) == (1, 0)
    assert reembed("books", settings).unchanged == 1
