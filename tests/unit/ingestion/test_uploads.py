"""The folders of uploaded files follow their corpus."""

from argparse import Namespace
from contextlib import suppress
from pathlib import Path

import pytest

from index.maintenance.corpora import CorpusFacts
from ingestion.commands import corpora
from ingestion.uploads import Uploads, check_name
from settings import IndexSettings, Settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(index=IndexSettings(dir=tmp_path))


def keep(settings: Settings, corpus: str, *names: str) -> Path:
    """Put files among a corpus's uploads, and return their folder."""
    uploads = Uploads(settings)
    with uploads.staging() as staged:
        for name in names:
            (staged / name).write_text("Wind.")
        with uploads.kept(staged, corpus) as folder:
            return folder


def test_what_goes_wrong_after_the_move_puts_everything_back(settings: Settings, tmp_path: Path) -> None:
    uploads, folder = Uploads(settings), keep(settings, "default", "wind.md")

    with suppress(RuntimeError), uploads.staging() as staged:
        (staged / "wind.md").write_text("Newer.")
        (staged / "calm.md").write_text("Calm.")
        with uploads.kept(staged, "default"):
            assert sorted(path.name for path in folder.iterdir()) == ["calm.md", "wind.md"]
            raise RuntimeError

    assert {path.name: path.read_text() for path in folder.iterdir()} == {"wind.md": "Wind."}
    assert list((tmp_path / ".uploads").iterdir()) == [folder]


def test_a_corpus_takes_its_uploads_along(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = keep(settings, "old", "wind.md")
    keep(settings, "new", "left.md")
    monkeypatch.setattr(corpora, "rename", lambda *_: None)

    corpora.run(Namespace(action="rename", names=["old", "new"]), settings)

    assert not folder.exists()
    assert (folder.with_name("new") / "wind.md").is_file()


def test_a_dropped_corpus_leaves_no_uploads(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, other = keep(settings, "old", "wind.md"), keep(settings, "other", "wind.md")
    monkeypatch.setattr(corpora, "drop", lambda name, _: CorpusFacts(name, 0))

    corpora.run(Namespace(action="drop", names=["old"]), settings)

    assert (folder.exists(), other.exists()) == (False, True)


def test_names_are_kept_in_one_form() -> None:
    assert check_name(" re\u0301sume\u0301.md ") == "r\u00e9sum\u00e9.md"
    assert check_name("Bericht 2026 (2).tar.md") == "Bericht 2026 (2).tar.md"
    assert check_name("data.jsonl.gz") == "data.jsonl.gz"
