"""What reStructuredText includes from other files of the ingested folder, and what is never taken."""

import os
import time
from pathlib import Path

import pytest

from ingestion.reading.includes import MAX_INCLUDED_BYTES, expanded
from ingestion.reading.rst import read_rst


def text_of(root: Path, source: str, name: str = "usage/boats.rst") -> str:
    path = root / name
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text(source)
    return read_rst(expanded(source.encode(), path, name), name).text


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


def test_files_that_multiply_are_bounded_in_size_and_time(tmp_path: Path) -> None:
    for depth in range(12):
        (tmp_path / f"{depth}.inc").write_text(f".. include:: {depth + 1}.inc\n" * 20 + "x" * 1000)
    (tmp_path / "lines.inc").write_text("\n" * 90_000)
    source = (
        b".. include:: 0.inc\n" + b" " * 90 + b".. literalinclude:: lines.inc\n" + b"   :lines: " + b"1-," * 100_000
    )
    (tmp_path / "a.rst").write_bytes(source)
    started = time.process_time()

    assert len(expanded(source, tmp_path / "a.rst", "a.rst")) < 2 * MAX_INCLUDED_BYTES
    assert time.process_time() - started < 5


def test_other_files_stay_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "b.inc").write_text("Back.")
    source = b".. include:: b.inc\n"

    assert expanded(source, tmp_path / "a.txt", "a.txt") == source
    assert expanded(source, tmp_path / "a.rst", "archive.zip/a.rst") == source
    assert expanded(b".. include:: \xff\xfe\n.. include::\n.. include:: .\n", tmp_path / "a.rst", "a.rst")
