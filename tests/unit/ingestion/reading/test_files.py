"""Listing an ingest root full of things that are no plain files."""

import os
import socket
from pathlib import Path

import pytest

from errors import UnreadableError
from ingestion.reading.files import Skipped, SourceFile, list_files, open_plain


def names(root: Path) -> list[str]:
    return [item.doc_id for item in list_files(root) if isinstance(item, SourceFile)]


def reasons(root: Path) -> dict[str, str]:
    return {item.path: item.reason for item in list_files(root) if isinstance(item, Skipped)}


def write(path: Path, text: str = "text") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("tree", "listed", "skipped"),
    [
        (["b.md", "a/z.TXT", "a/b/c.html", "c.pdf"], ["a/b/c.html", "a/z.TXT", "b.md", "c.pdf"], {}),
        (["a.docx", "a.csv", "a.parquet", "a.txt.gz", "a.JSONL.BZ2", "a.b.md.gz"],
         ["a.JSONL.BZ2", "a.b.md.gz", "a.csv", "a.docx", "a.parquet", "a.txt.gz"], {}),
        ([".git/a.md", ".hidden.md"], [], {}),
        (["LICENSE", "a.exe", "b.exe.gz", "c.pdf.gz", "d.gz", "e.PNG"], [], {
            "LICENSE": "unsupported type", "a.exe": "unsupported type .exe", "b.exe.gz": "unsupported type .exe.gz",
            "c.pdf.gz": "unsupported type .pdf.gz", "d.gz": "unsupported type .gz", "e.PNG": "unsupported type .png",
        }),
        (["می‌خواهم.md", "日本 語.md"], ["می‌خواهم.md", "日本 語.md"], {}),
    ],
    ids=["in order", "every format", "hidden", "other types", "any script"],
)  # fmt: skip
def test_files_are_listed_and_what_is_not_read_is_told(
    tmp_path: Path, tree: list[str], listed: list[str], skipped: dict[str, str]
) -> None:
    for name in tree:
        write(tmp_path / name)

    assert names(tmp_path) == listed
    assert reasons(tmp_path) == skipped


def test_a_listed_file_has_an_absolute_path_and_its_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "docs/a.md", "four")
    monkeypatch.chdir(tmp_path)

    assert list(list_files(Path("docs"))) == [SourceFile(tmp_path.resolve() / "docs/a.md", "a.md", 4)]


def test_a_single_file_is_a_root_of_its_own(tmp_path: Path) -> None:
    assert names(write(tmp_path / "docs/a.md")) == ["a.md"]


def test_only_what_is_named_is_listed_each_once(tmp_path: Path) -> None:
    for name in ("a.md", "b.md", "notes/c.md", "notes/deep/d.md", "other/e.md", "x.odd"):
        write(tmp_path / name)

    only = ("notes/deep/d.md", "notes", "b.md", "gone.md", "gone/e.md", "x.odd")
    listed = list(list_files(tmp_path, only=only))

    assert [entry.doc_id for entry in listed if isinstance(entry, SourceFile)] == [
        "b.md",
        "notes/c.md",
        "notes/deep/d.md",
    ]
    assert [entry.suffix for entry in listed if isinstance(entry, Skipped)] == [".odd"]


def test_nothing_is_named_through_a_link(tmp_path: Path) -> None:
    write(tmp_path / "elsewhere" / "secret.md")
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "link").symlink_to(tmp_path / "elsewhere")

    assert list(list_files(tmp_path / "root", only=["link/secret.md"])) == []


def test_pictures_are_listed_where_they_are_read(tmp_path: Path) -> None:
    write(tmp_path / "scan.PNG")

    (picture,) = list_files(tmp_path, images=True)
    assert isinstance(picture, SourceFile)


@pytest.mark.fault("D8")
def test_links_are_reported_and_never_followed(tmp_path: Path) -> None:
    root = tmp_path / "root"
    write(root / "a.md")
    secret = write(tmp_path / "secret/key.md")
    (root / "file.md").symlink_to(secret)
    (root / "folder").symlink_to(secret.parent)
    (root / "loop").symlink_to(root)
    (root / "broken.md").symlink_to("nowhere")

    assert names(root) == ["a.md"]
    assert set(reasons(root)) == {"file.md", "folder", "loop", "broken.md"}
    assert set(reasons(root).values()) == {"symbolic link, which is not followed"}


def test_a_root_that_is_a_link_means_its_target(tmp_path: Path) -> None:
    write(tmp_path / "real/a.md")
    (tmp_path / "link").symlink_to("real")

    assert names(tmp_path / "link") == ["a.md"]


@pytest.mark.fault("D8")
def test_pipes_and_sockets_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    monkeypatch.chdir(tmp_path)  # the path of a socket may not be long
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket.md")

        assert reasons(tmp_path) == {"pipe.md": "named pipe", "socket.md": "socket"}


@pytest.mark.fault("D8")
def test_names_that_cannot_be_written_down_are_reported_in_a_form_that_can(tmp_path: Path) -> None:
    write(tmp_path / "a\nb.md")
    try:
        (tmp_path / os.fsdecode(b"bad\xff.md")).write_text("text")
    except OSError:
        pytest.skip("this file system takes no names that are not UTF-8")

    assert reasons(tmp_path) == {
        "a\\nb.md": "its name holds control characters or is not valid UTF-8",
        "bad\\udcff.md": "its name holds control characters or is not valid UTF-8",
    }


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_may_not_be_read_is_reported(tmp_path: Path) -> None:
    write(tmp_path / "closed/a.md")
    (tmp_path / "closed").chmod(0)
    try:
        assert reasons(tmp_path) == {"closed": "cannot be read: Permission denied"}
    finally:
        (tmp_path / "closed").chmod(0o700)


def test_a_root_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match="nowhere cannot be read: No such file or directory"):
        list(list_files(tmp_path / "nowhere"))


@pytest.mark.fault("D8", "E1")
def test_opening_follows_no_link(tmp_path: Path) -> None:
    (tmp_path / "link.md").symlink_to(write(tmp_path / "a.md"))

    with pytest.raises(UnreadableError, match="cannot be opened"):
        open_plain(tmp_path / "link.md")


def test_a_folder_that_became_a_link_lets_no_foreign_file_in(tmp_path: Path) -> None:
    write(tmp_path / "elsewhere/deep/a.md", "secret")
    write(tmp_path / "root/inner/deep/a.md")
    (file,) = list_files(tmp_path / "root")
    assert isinstance(file, SourceFile)
    (tmp_path / "root/inner").rename(tmp_path / "root/.before")
    (tmp_path / "root/inner").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(UnreadableError, match="a symbolic link leads to it"):
        open_plain(file.path)


def test_a_root_that_became_a_link_after_it_was_resolved_is_not_listed(tmp_path: Path) -> None:
    write(tmp_path / "elsewhere/a.md")
    (tmp_path / "root").symlink_to(tmp_path / "elsewhere")

    assert len(list(list_files(tmp_path / "root"))) == 1
    with pytest.raises(UnreadableError, match="has become a symbolic link"):
        list_files(tmp_path / "root", resolved=True)


def test_files_below_a_root_that_is_a_link_can_be_opened(tmp_path: Path) -> None:
    write(tmp_path / "elsewhere/b/a.md", "four")
    (tmp_path / "root").symlink_to(tmp_path / "elsewhere")
    (file,) = list_files(tmp_path / "root")
    assert isinstance(file, SourceFile)

    with open_plain(file.path) as stream:
        assert stream.read() == b"four"


def test_opening_leaves_no_folder_open(tmp_path: Path) -> None:
    path = write(tmp_path / "a/b/c.md")
    before = len(os.listdir("/dev/fd"))

    open_plain(path).close()
    with pytest.raises(UnreadableError):
        open_plain(tmp_path / "a/nowhere/c.md")

    assert len(os.listdir("/dev/fd")) == before


def test_opening_a_pipe_is_refused_and_does_not_wait_for_a_writer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")

    with pytest.raises(UnreadableError, match="not a plain file"):
        open_plain(tmp_path / "pipe.md")


@pytest.mark.fault("E1")
def test_a_file_with_another_name_is_read_only_where_that_is_wanted(tmp_path: Path) -> None:
    (tmp_path / "private").mkdir()
    secret = tmp_path / "private" / "secret.md"
    secret.write_text("canary")
    root = tmp_path / "root"
    root.mkdir()
    (root / "inbox.md").hardlink_to(secret)
    (root / "own.md").write_text("Wind turns blades.")

    def read(path: Path, *, hard_links: bool) -> list[str]:
        return [one.doc_id for one in list_files(path, hard_links=hard_links) if isinstance(one, SourceFile)]

    assert read(root, hard_links=False) == ["own.md"]
    assert read(root / "inbox.md", hard_links=False) == []
    assert read(root, hard_links=True) == ["inbox.md", "own.md"]
    (refused,) = [one for one in list_files(root, hard_links=False) if isinstance(one, Skipped)]
    assert "RAG_INGEST__HARD_LINKS" in refused.reason
