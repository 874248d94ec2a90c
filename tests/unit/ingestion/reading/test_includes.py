"""What reStructuredText includes from other files of the ingested folder, and what is never taken."""

import os
from io import BufferedReader, RawIOBase
from pathlib import Path

import pytest

from index.documents.blobs import LeftOut
from index.documents.store import Document
from ingestion.pipeline.included import IncludedFiles
from ingestion.reading import includes
from ingestion.reading.files import open_plain
from ingestion.reading.formats import read_file
from ingestion.reading.includes import MAX_INCLUDED_BYTES, MAX_INCLUDED_FILES, MAX_READ_BYTES, expanded
from ingestion.reading.options import ReadOptions
from ingestion.reading.rst import read_rst
from ingestion.schema import RunStopped


def text_of(root: Path, source: str, name: str = "usage/boats.rst") -> str:
    path = root / name
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text(source)
    return read_rst(expanded(source.encode(), path, name).data, name).text


def test_text_code_and_values_stand_where_they_are_included(tmp_path: Path) -> None:
    (tmp_path / "usage").mkdir()
    (tmp_path / "names.inc").write_bytes(b"\xef\xbb\xbf.. |boat| replace:: Gannet\r\n")
    (tmp_path / "usage" / "hire.inc").write_text("Hire\n----\n\nAsk at the quay.\n\n.. include:: prices.inc\n")
    (tmp_path / "usage" / "prices.inc").write_text("A day is 40 euros.\n")
    (tmp_path / "sail.py").write_text("#!\nimport os\nif os:\n    sail()\nend()\n")
    (tmp_path / "seats.csv").write_text("Gannet,4\nTern,6\n")
    text = text_of(
        tmp_path,
        ".. include:: /names.inc\n.. include:: hire.inc\n\nEnd\n----\n\nThe |boat|.\n\n"
        ".. literalinclude:: ../sail.py\n   :language: python\n   :lines: 2, 4-\n\n"
        "- Item\n\n  .. include:: prices.inc\n     :literal:\n\n"
        '.. csv-table:: Seats\n   :header: "Boat", "Seats"\n   :file: ../seats.csv\n',
    )

    assert text == (
        "# Hire\n\nAsk at the quay.\n\nA day is 40 euros.\n\n# End\n\nThe Gannet.\n\n"
        "```python\nimport os\n    sail()\nend()\n```\n\n- Item\n\n```\nA day is 40 euros.\n```\n\n"
        "Seats\nBoat | Seats\n--- | ---\nGannet | 4\nTern | 6"
    )


@pytest.mark.parametrize(
    ("option", "shown"),
    [
        (":start-after: two\n   :end-before: five", "three\n\nfour"),
        (":start-line: 4", "three\n\nfour\n\nfive"),
        (":end-line: 2", "one"),
        (":start-after: nothing", "one\n\ntwo\n\nthree\n\nfour\n\nfive"),
    ],
)
def test_a_part_of_a_file_is_included(tmp_path: Path, option: str, shown: str) -> None:
    (tmp_path / "numbers.txt").write_text("one\n\ntwo\n\nthree\n\nfour\n\nfive\n")
    assert text_of(tmp_path, f".. include:: numbers.txt\n   {option}\n", "a.rst") == shown


@pytest.mark.parametrize(
    "name", ["../out.txt", "/../out.txt", ".hidden.txt", ".git/config.txt", "link.txt", "linked/in.txt", "second.txt"]
)
def test_nothing_is_taken_from_outside_or_through_links(tmp_path: Path, name: str) -> None:
    root, outside = tmp_path / "root", tmp_path / "out.txt"
    (root / ".git").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    for secret in (outside, root / ".hidden.txt", root / ".git" / "config.txt", tmp_path / "elsewhere" / "in.txt"):
        secret.write_text("Secret.")
    (root / "link.txt").symlink_to(outside)
    (root / "linked").symlink_to(tmp_path / "elsewhere")
    os.link(outside, root / "second.txt")

    assert text_of(root, f"Text.\n\n.. include:: {name}\n", "a.rst") == f"Text.\n\ninclude: {name}"


def test_files_that_include_each_other_end(tmp_path: Path) -> None:
    (tmp_path / "b.inc").write_text("Back.\n\n.. include:: a.rst\n.. include:: b.inc\n")
    text = text_of(tmp_path, ".. include:: b.inc\n", "a.rst")

    assert text == "Back.\n\ninclude: a.rst\ninclude: b.inc"


LONG_LINE = "x" * 1_000_000
WITHOUT_END = {
    "one line many times": {"a.rst": ".. literalinclude:: x.txt\n   :lines: " + "1," * 300, "x.txt": LONG_LINE},
    "one line many times in many places": {
        "a.rst": (".. literalinclude:: x.txt\n   :lines: " + "1," * 300 + "\n\n") * 300,
        "x.txt": LONG_LINE,
    },
    "parts of ranges": {
        "a.rst": f"{'':99}.. literalinclude:: x.txt\n{'':102}:lines: " + "1-," * 100_000,
        "x.txt": "\n" * 90_000,
    },
    "one file many times": {"a.rst": ".. include:: x.txt\n" * 990, "x.txt": LONG_LINE},
    "a little of a long file many times": {
        "a.rst": ".. include:: x.txt\n   :start-after: begin\n   :end-before: end\n\n" * 990,
        "x.txt": f"begin\nWords.\nend\n{LONG_LINE}",
    },
    "values many times": {"a.rst": ".. csv-table::\n   :file: x.txt\n\n" * 990, "x.txt": LONG_LINE},
    "blank lines far to the right": {"a.rst": f"{'':90}.. include:: x.txt\n", "x.txt": "\n" * 900_000},
    "a file that is too long": {"a.rst": ".. include:: x.txt\n", "x.txt": 11 * LONG_LINE},
    "files that are not there": {"a.rst": "".join(f".. include:: {at}.txt\n" for at in range(5000))},
    "a file with many names": {"a.rst": "".join(f".. include:: {at}.txt\n" for at in range(1100))}
    | {f"{at}.txt": "Words." for at in range(1100)},
    "a tree": {"a.rst": ".. include:: 0.txt\n"}
    | {f"{at}.txt": f".. include:: {at + 1}.txt\n" * 20 + "x" * 1000 for at in range(12)},
    "a deep chain": {"a.rst": ".. include:: 0.txt\n"}
    | {f"{at}.txt": f"Words {at}.\n\n.. include:: {at + 1}.txt\n" for at in range(30)},
}


class Opened:
    """Notes which included files are opened, and how much is read of them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.paths: list[Path] = []
        self.bytes_read = 0
        monkeypatch.setattr(includes, "open_plain", self._open)

    def _open(self, path: Path) -> BufferedReader:
        self.paths.append(path)
        return _Counted(open_plain(path).detach(), self)


class _Counted(BufferedReader):
    def __init__(self, raw: RawIOBase, opened: Opened) -> None:
        super().__init__(raw)
        self._opened = opened

    def read(self, size: int | None = -1, /) -> bytes:
        data = super().read(size)
        self._opened.bytes_read += len(data)
        return data


def write(folder: Path, files: dict[str, str]) -> None:
    for name, content in files.items():
        (folder / name).write_text(content)


@pytest.mark.fault("D9")
@pytest.mark.parametrize("files", WITHOUT_END.values(), ids=WITHOUT_END)
def test_what_is_included_without_end_is_bounded_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str]
) -> None:
    write(tmp_path, files)
    opened = Opened(monkeypatch)

    found = expanded(files["a.rst"].encode(), tmp_path / "a.rst", "a.rst")

    assert len(found.data) <= len(files["a.rst"]) + MAX_INCLUDED_BYTES
    assert found.cut
    assert len(opened.paths) <= MAX_INCLUDED_FILES
    assert opened.bytes_read <= MAX_READ_BYTES


@pytest.mark.fault("D9")
def test_the_report_tells_what_was_too_much(tmp_path: Path) -> None:
    write(tmp_path, {"a.rst": "Words.\n\n.. include:: x.txt\n", "x.txt": 11 * LONG_LINE})

    document, left_out = read_file(tmp_path / "a.rst", "a.rst", ReadOptions(max_bytes=50_000_000, max_chars=1_000_000))

    assert isinstance(document, Document)
    assert document.text == "Words.\n\ninclude: x.txt"
    assert isinstance(left_out, LeftOut)
    assert "10 MB" in left_out.reason


def test_nothing_is_told_of_files_that_include_each_other_or_are_not_there(tmp_path: Path) -> None:
    write(tmp_path, {"a.rst": ".. include:: b.txt\n.. include:: c.txt\n", "b.txt": "B.\n\n.. include:: a.rst\n"})

    assert not expanded((tmp_path / "a.rst").read_bytes(), tmp_path / "a.rst", "a.rst").cut


@pytest.mark.fault("D9")
@pytest.mark.parametrize("files", WITHOUT_END.values(), ids=WITHOUT_END)
def test_the_digest_of_pages_takes_each_file_once_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str]
) -> None:
    write(tmp_path, files)
    opened = Opened(monkeypatch)
    included = IncludedFiles(lambda: None)
    page = files["a.rst"].encode()

    digests = {included.digest(page, tmp_path / name, name) for name in ("a.rst", "b.rst", "c.rst")}

    assert len(digests) == 1
    assert len(opened.paths) == len(set(opened.paths)) <= MAX_INCLUDED_FILES
    assert opened.bytes_read <= MAX_INCLUDED_BYTES  # of each; here one is long


@pytest.mark.fault("D9")
def test_the_digest_of_a_page_can_be_stopped_within_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"x.txt": 9 * LONG_LINE})
    opened = Opened(monkeypatch)

    def check() -> None:
        if opened.bytes_read:
            raise RunStopped

    with pytest.raises(RunStopped):
        IncludedFiles(check).digest(b".. include:: x.txt\n", tmp_path / "a.rst", "a.rst")
    assert opened.bytes_read < 9 * len(LONG_LINE)


@pytest.mark.parametrize(
    "page", [".. include:: b.txt\n", ".. literalinclude:: /b.txt\n", ".. csv-table::\n   :file: b.txt"]
)
@pytest.mark.parametrize(
    ("change", "changes"),
    [
        ({"b.txt": "New."}, True),
        ({"c.txt": "New."}, True),  # by b.txt
        ({"d.txt": "New."}, True),  # it was not there
        ({"e.txt": "New."}, False),
        ({"b.txt": ".. include:: c.txt\r\n.. include:: d.txt\r.. include:: a.rst\n"}, False),
    ],
)
def test_the_digest_changes_with_each_file_that_is_included(
    tmp_path: Path, page: str, change: dict[str, str], changes: bool
) -> None:
    write(tmp_path, {"a.rst": page, "c.txt": "Old.", "e.txt": "Old."})
    (tmp_path / "b.txt").write_bytes(b".. include:: c.txt\r\n.. include:: d.txt\r.. include:: a.rst\n")

    def digest() -> str:
        return IncludedFiles(lambda: None).digest(page.encode(), tmp_path / "a.rst", "a.rst")

    before = digest()
    for name, content in change.items():
        (tmp_path / name).write_bytes(content.encode())

    assert before
    assert (digest() != before) == changes


@pytest.mark.parametrize("name", ["../out.txt", "/../out.txt", ".hidden.txt", "link.txt", "second.txt"])
def test_the_digest_takes_nothing_from_outside_or_through_links(tmp_path: Path, name: str) -> None:
    root, outside = tmp_path / "root", tmp_path / "out.txt"
    root.mkdir()
    for secret in (outside, root / ".hidden.txt"):
        secret.write_text("Secret.")
    (root / "link.txt").symlink_to(outside)
    os.link(outside, root / "second.txt")

    def digest() -> str:
        return IncludedFiles(lambda: None).digest(f".. include:: {name}\n".encode(), root / "a.rst", "a.rst")

    before = digest()
    for secret in (outside, root / ".hidden.txt"):
        secret.write_text("Another one.")

    assert digest() == before


def test_other_files_stay_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "b.inc").write_text("Back.")
    source = b".. include:: b.inc\n"

    assert expanded(source, tmp_path / "a.txt", "a.txt").data == source
    assert expanded(source, tmp_path / "a.rst", "archive.zip/a.rst").data == source
    assert expanded(b".. include:: \xff\xfe\n.. include::\n.. include:: .\n", tmp_path / "a.rst", "a.rst").data
