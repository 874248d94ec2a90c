"""The folders of uploaded files follow their corpus."""

import os
from argparse import Namespace
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from index.maintenance.corpora import CorpusFacts
from ingestion.commands import corpora
from ingestion.uploads import Uploads, check_name
from settings import IndexSettings, Settings
from tests.fakes.engines import SearchlessCorpus


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(index=IndexSettings(dir=tmp_path))


def keep(settings: Settings, corpus: str, *names: str) -> Path:
    """Put files among a corpus's uploads, and return their folder."""
    uploads = Uploads(settings)
    with uploads.staging() as staged, closing(SearchlessCorpus(corpus, ())) as opened:
        for name in names:
            (staged / name).write_text("Wind.")
        uploads.take(staged, opened, lambda *_: {"stopped": False})
    return uploads.folder(corpus)


def test_what_goes_wrong_after_the_move_puts_everything_back(settings: Settings, tmp_path: Path) -> None:
    uploads, folder = Uploads(settings), keep(settings, "default", "wind.md")

    def fail(there: Path, names: tuple[str, ...]) -> dict[str, Any]:
        assert sorted(path.name for path in there.iterdir()) == ["calm.md", "wind.md"] == list(names)
        raise RuntimeError

    with suppress(RuntimeError), uploads.staging() as staged, closing(SearchlessCorpus("default", ())) as corpus:
        (staged / "wind.md").write_text("Newer.")
        (staged / "calm.md").write_text("Calm.")
        uploads.take(staged, corpus, fail)

    assert {path.name: path.read_text() for path in folder.iterdir()} == {"wind.md": "Wind."}
    assert list((tmp_path / ".uploads").iterdir()) == [folder]


def test_what_a_killed_process_left_on_its_way_goes_when_it_is_old(settings: Settings, tmp_path: Path) -> None:
    old, new = tmp_path / ".uploads" / ".arriving-old", tmp_path / ".uploads" / ".arriving-new"
    for folder in (old, new):
        folder.mkdir(parents=True)
        (folder / "wind.md").write_text("Wind.")
    os.utime(old, (0, 0))

    with Uploads(settings).staging():
        assert (old.exists(), new.exists()) == (False, True)


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
