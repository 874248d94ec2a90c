"""Which of the files that could not be read are read again."""

from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from index.documents.sources import SourceNote
from ingestion import build
from ingestion.schema import Summary
from settings import Settings


@pytest.mark.fault("E15")
@pytest.mark.parametrize(
    ("within", "read"),
    [
        (None, {"mine/a.md", "mine/whole.md", "other/b.md", "mine-not/c.md"}),
        (["mine"], {"mine/a.md"}),
        (["alias"], {"mine/a.md"}),
        (["mine", "mine-not"], {"mine/a.md", "mine-not/c.md"}),
        (["absent"], set()),
        ([], set()),
    ],
)
def test_what_other_folders_were_ingested_for_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, within: list[str] | None, read: set[str]
) -> None:
    for name in ("mine/a.md", "other/b.md", "mine-not/c.md"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("text")
    (tmp_path / "mine" / "whole.md").write_text("It may include a file of its root, which is not `mine`.")
    (tmp_path / "alias").symlink_to("mine")
    names = ("mine/a.md", "other/b.md", "mine-not/c.md", "mine/gone.md")
    notes = [SourceNote(name, str((tmp_path / name).parent), Path(name).name) for name in names]
    notes.append(SourceNote("whole/mine/whole.md", str(tmp_path), "mine/whole.md"))
    seen: set[str] = set()

    def with_entries(_run: object, _corpus: object, entries: Iterable[Any], *_: object, **__: object) -> Summary:
        seen.update(str(entry.path.relative_to(tmp_path)) for entry in entries)
        return Summary("aaa")

    monkeypatch.setattr(build._Run, "with_entries", with_entries)
    corpus: Any = SimpleNamespace(name="aaa", ledger=SimpleNamespace(incomplete=lambda: notes))
    folders = None if within is None else [tmp_path / name for name in within]

    embedding: Any = None
    build.retry_failed(corpus, Settings(), embedding, within=folders)

    assert seen == read
