"""Archives: what lies in one is read as if it lay in a folder, and what is wrong with one file costs only that file."""

import gzip
import io
import random
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from ingestion.reading import containers
from ingestion.reading.options import ReadOptions
from tests.fakes.pdfs import make_pdf
from tests.fakes.readings import OPTIONS, Items, documents, refusals, reports
from tests.fakes.readings import read_all as read
from tests.zoo.archives import make_tar, make_zip

FILES = {"notes/wind.md": b"# Wind\n\nTurbines turn.", "water.txt": b"Dams hold water.", "a.pdf": make_pdf("A page.")}


def reasons(items: Items) -> list[str]:
    return list(map(str, refusals(items)))


@pytest.mark.parametrize(
    ("name", "pack"),
    [
        ("box.zip", make_zip),
        ("box.tar", make_tar),
        ("box.tgz", lambda files: make_tar(files, "w:gz")),
        ("box.tar.gz", lambda files: make_tar(files, "w:gz")),
        ("box.tar.bz2", lambda files: make_tar(files, "w:bz2")),
    ],
)
def test_members_are_documents_of_their_own(
    tmp_path: Path, name: str, pack: Callable[[Mapping[str, bytes]], bytes]
) -> None:
    found = documents(read(tmp_path, name, pack(FILES)))

    assert list(found) == [f"{name}/notes/wind.md", f"{name}/water.txt", f"{name}/a.pdf"]
    assert [one.content_type for one in found.values()] == ["markdown", "plain text", "pdf"]
    assert {one.source for one in found.values()} == {name}
    assert found[f"{name}/notes/wind.md"].title == "Wind"


def test_records_and_compressed_files_in_an_archive_are_read_as_ever(tmp_path: Path) -> None:
    archive = make_zip(
        {"a.jsonl": b'{"id": "r1", "text": "R."}\n', "b.csv": b"id,text\nr2,S.\n", "c.txt.gz": gzip.compress(b"T.")}
    )

    assert list(documents(read(tmp_path, "box.zip", archive))) == ["r1", "r2", "box.zip/c.txt.gz"]


def test_what_is_not_read_is_counted_by_type(tmp_path: Path) -> None:
    archive = make_zip({"a.png": b"x", "b.png": b"x", ".hidden.txt": b"x", "__MACOSX/c.txt": b"x", "d.txt": b"Text."})

    found = read(tmp_path, "box.zip", archive)

    assert list(documents(found)) == ["box.zip/d.txt"]
    assert ".png (2" in reports(found)
    assert "hidden" not in reports(found)


def nested(depth: int, name: str = "inner.zip") -> bytes:
    data = make_zip({"deep.txt": b"Deep."})
    for _ in range(depth):
        data = make_zip({name: data, "beside.txt": b"Beside."})
    return data


def test_archives_in_archives_are_read_to_a_limit(tmp_path: Path) -> None:
    found = read(tmp_path, "box.zip", nested(3))

    assert "box.zip/inner.zip/inner.zip/beside.txt" in documents(found)
    assert "box.zip/inner.zip/inner.zip/inner.zip/deep.txt" not in documents(found)
    (reason,) = reasons(found)
    assert reason.startswith("box.zip/inner.zip/inner.zip/inner.zip:")


@pytest.mark.fault("E1")
@pytest.mark.parametrize("name", ["../out.txt", "a/../../out.txt", "a\\..\\out.txt"])
@pytest.mark.parametrize("pack", [make_zip, make_tar])
def test_a_name_that_leads_out_is_refused(
    tmp_path: Path, name: str, pack: Callable[[Mapping[str, bytes]], bytes]
) -> None:
    box = "box.zip" if pack is make_zip else "box.tar"
    found = read(tmp_path, box, pack({name: b"Out.", "/etc/in.txt": b"In."}))

    assert list(documents(found)) == [f"{box}/etc/in.txt"]
    assert len(reasons(found)) == 1


def test_reading_goes_on_behind_a_member(tmp_path: Path) -> None:
    archive = make_zip({f"{number}.txt": b"Text." for number in range(1, 5)})
    found = read(tmp_path, "box.zip", archive, replace(OPTIONS, after_member=2))

    assert list(documents(found)) == ["box.zip/3.txt", "box.zip/4.txt"]
    assert [item for item in found if isinstance(item, containers.Begun)] == [
        (3, "box.zip/3.txt"),
        (4, "box.zip/4.txt"),
    ]


def test_a_damaged_member_costs_itself_only(tmp_path: Path) -> None:
    archive = bytearray(make_zip({"a.txt": random.Random(1).randbytes(3000).hex().encode(), "b.txt": b"Sound."}))
    archive[200:300] = bytes(100)

    found = read(tmp_path, "box.zip", bytes(archive))

    assert list(documents(found)) == ["box.zip/b.txt"]
    assert [lost.doc_id for lost in refusals(found)] == ["box.zip/a.txt"]


def test_an_encrypted_member_is_refused_by_name(tmp_path: Path) -> None:
    archive = bytearray(make_zip({"secret.txt": b"Secret.", "open.txt": b"Open."}))
    for mark, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):  # of the first member, and of its entry at the end
        archive[archive.index(mark) + flags] |= 1

    found = read(tmp_path, "box.zip", bytes(archive))

    assert list(documents(found)) == ["box.zip/open.txt"]
    assert reasons(found)[0].startswith("box.zip/secret.txt: It is encrypted")


def bomb(size: int, said: int | None = None) -> bytes:
    """Return a zip archive with one member of this many zeros, packed from one repeated block.

    Args:
        size: in bytes.
        said: its size as the archive has it, if that is a lie.
    """
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = bytes(1_000_000)
    packed = packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)
    again = packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)
    times = size // len(block)
    data = packed + again * (times - 1) + packer.flush()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("zeros.txt", data)
    written = bytearray(buffer.getvalue())
    for mark, method, length in ((b"PK\x03\x04", 8, 22), (b"PK\x01\x02", 10, 24)):
        start = written.index(mark)
        written[start + method] = zipfile.ZIP_DEFLATED
        written[start + length : start + length + 4] = (said or size).to_bytes(4, "little")
    return bytes(written)


@pytest.mark.fault("D5")
def test_a_bomb_is_refused_unread(tmp_path: Path) -> None:
    data = bomb(4_000_000_000)

    (refused,) = reasons(read(tmp_path, "box.zip", data))

    assert len(data) < 10_000_000
    assert "unpacks to more than" in refused


@pytest.mark.fault("D5")
def test_a_bomb_that_lies_about_its_size_gets_no_further(tmp_path: Path) -> None:
    found = read(tmp_path, "box.zip", bomb(2_000_000_000, said=1000))

    assert documents(found) == {}
    assert reasons(found)[0].startswith("box.zip/zeros.txt: ")


def test_bombs_within_count_together(tmp_path: Path) -> None:
    # None is too large by itself, as it is one within ten thousand.
    inner = make_zip({f"{number}.txt": bytes(3_000_000) for number in range(3)})

    found = read(tmp_path, "box.zip", make_zip({f"{number}.zip": inner for number in range(10)}))

    assert documents(found) == {}
    assert any("unpacks to more than" in reason for reason in reasons(found))


def test_too_many_members_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(containers, "MAX_MEMBERS", 3)

    found = read(tmp_path, "box.zip", make_zip({f"{number}.txt": b"Text." for number in range(5)}))

    assert len(documents(found)) == 3
    assert "more than 3 files" in reasons(found)[0]


def test_a_member_over_the_limit_is_refused(tmp_path: Path) -> None:
    large = random.Random(1).randbytes(600).hex().encode()
    found = read(tmp_path, "box.zip", make_zip({"a.txt": large, "b.txt": b"Small."}), ReadOptions(1000, 10_000))

    assert list(documents(found)) == ["box.zip/b.txt"]
    assert reasons(found)[0].startswith("box.zip/a.txt:")


def test_a_name_in_utf_8_is_read_as_such_without_its_mark(tmp_path: Path) -> None:
    archive = make_zip({"Größe.txt": b"Text."}).replace(b"\x00\x08", b"\x00\x00")

    assert list(documents(read(tmp_path, "box.zip", archive))) == ["box.zip/Größe.txt"]


def test_a_tar_archive_damaged_in_the_middle_keeps_what_stands_before(tmp_path: Path) -> None:
    archive = bytearray(make_tar({"a.txt": b"First.", "b.txt": b"Second.", "c.txt": b"Third."}))
    archive[1024:1100] = b"\xff" * 76

    found = read(tmp_path, "box.tar", bytes(archive))

    assert list(documents(found)) == ["box.tar/a.txt"]
    assert "damaged" in reasons(found)[0]
