"""Office files that are cut short, damaged, hollow or hostile: each is refused or read, and what is read is whole."""

import struct
import zipfile
from collections.abc import Callable
from io import BytesIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from errors import UnreadableError
from index.documents.store import Document
from index.documents.structure import check_blocks
from ingestion.reading.format_table import TABLE
from tests.zoo.archives import make_zip
from tests.zoo.office import make_epub, make_odf, make_pptx, make_word, make_xls, make_xlsx, shape, sheet_data

LIMIT = 1_000_000
WORD_TABLE = (
    "<w:tbl>" + "<w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc><w:tc><w:p/></w:tc></w:tr>" * 2 + "</w:tbl>"
)
FILES = {
    "xlsx": make_xlsx({"Data": sheet_data([["Boat", "Seats"], ["Gannet", 4], ["Tern", 2]])}),
    "docx": make_word(f"<w:p><w:r><w:t>Words</w:t></w:r></w:p>{WORD_TABLE}"),
    "pptx": make_pptx([shape("Heat pumps", role="title") + shape("Air", "Ground", role="body")], notes={1: "Hello."}),
    "odt": make_odf("text", '<text:h text:outline-level="1">Kinds</text:h><text:p>Words</text:p>'),
    "ods": make_odf(
        "spreadsheet",
        "<table:table><table:table-row><table:table-cell><text:p>x</text:p></table:table-cell></table:table-row>"
        "</table:table>",
    ),
    "epub": make_epub({"one": "<h1>First</h1><p>Words</p>"}, spine=["one"]),
    "xls": make_xls([(0, 0, "Boat", 1), (0, 1, "Seats", 1), (1, 0, "Gannet", 0), (1, 1, 4.0, 0)]),
    "rtf": rb"{\rtf1{\fonttbl{\f0 A;}}{\stylesheet{\s1 heading 1;}}\s1 Title\par\trowd\cellx1\intbl x\cell\row\u8364?}",
}
MAIN_PARTS = {
    "xlsx": "xl/workbook.xml", "docx": "word/document.xml", "pptx": "ppt/presentation.xml", "odt": "content.xml",
    "ods": "content.xml", "epub": "OPS/book.opf",
}  # fmt: skip


def whole(kind: str, data: bytes) -> Document:
    """Read a file."""
    document = TABLE[kind].reader()(data, f"a.{kind}", *((LIMIT,) if TABLE[kind].is_zip else ()))
    assert isinstance(document, Document)
    return document


def read(kind: str, data: bytes) -> None:
    """Read a file; only refusals are let pass."""
    try:
        document = whole(kind, data)
    except UnreadableError:
        return
    check_blocks(document.structure.blocks, document.text)
    assert document.text


def rewritten(data: bytes, change: Callable[[str, bytes], bytes | None]) -> bytes:
    """Return the archive with its members changed; a member that becomes None is left out."""
    with zipfile.ZipFile(BytesIO(data)) as archive:
        members = {name: change(name, archive.read(name)) for name in archive.namelist()}
    return make_zip({name: content for name, content in members.items() if content is not None})


@pytest.mark.parametrize("kind", FILES)
def test_whole_files_are_read(kind: str) -> None:
    document = whole(kind, FILES[kind])

    check_blocks(document.structure.blocks, document.text)


@pytest.mark.fault("D5")
@pytest.mark.parametrize("kind", FILES)
@given(share=st.floats(0, 1))
@settings(max_examples=20, deadline=None)
def test_files_that_are_cut_short(kind: str, share: float) -> None:
    read(kind, FILES[kind][: int(share * len(FILES[kind]))])


@pytest.mark.fault("D5")
@pytest.mark.parametrize("kind", FILES)
@given(flips=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), min_size=1, max_size=10))
@settings(max_examples=40, deadline=None)
def test_files_with_wrong_bytes(kind: str, flips: list[tuple[float, int]]) -> None:
    data = bytearray(FILES[kind])
    for share, byte in flips:
        data[int(share * len(data))] = byte

    read(kind, bytes(data))


@pytest.mark.parametrize("kind", MAIN_PARTS)
@given(flips=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(32, 126)), min_size=1, max_size=4))
@settings(max_examples=30, deadline=None)
def test_archives_that_are_whole_with_wrong_bytes_in_their_main_part(kind: str, flips: list[tuple[float, int]]) -> None:
    def change(name: str, content: bytes) -> bytes:
        if name != MAIN_PARTS[kind]:
            return content
        changed = bytearray(content)
        for share, byte in flips:
            changed[int(share * len(changed))] = byte
        return bytes(changed)

    read(kind, rewritten(FILES[kind], change))


@pytest.mark.parametrize("kind", MAIN_PARTS)
def test_archives_without_one_of_their_members(kind: str) -> None:
    with zipfile.ZipFile(BytesIO(FILES[kind])) as archive:
        names = archive.namelist()
    for missing in names:
        read(kind, rewritten(FILES[kind], lambda name, content: None if name == missing else content))  # noqa: B023
    with pytest.raises(UnreadableError):
        whole(kind, rewritten(FILES[kind], lambda name, content: None if name == MAIN_PARTS[kind] else content))


@pytest.mark.fault("D5")
@pytest.mark.parametrize("kind", MAIN_PARTS)
def test_archives_that_unpack_to_too_much_are_refused_before_they_are_unpacked(kind: str) -> None:
    data = rewritten(FILES[kind], lambda _, content: content)
    buffer = BytesIO(data)
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb.xml", bytes(2 * LIMIT))

    with pytest.raises(UnreadableError, match="larger than 1 MB unpacked"):
        whole(kind, buffer.getvalue())


def test_a_member_that_holds_more_than_it_declares_is_refused() -> None:
    bomb = f"<w:p><w:r><w:t>{'x' * 900_000}</w:t></w:r></w:p>"
    data = make_word(bomb)
    with zipfile.ZipFile(BytesIO(data)) as archive:
        size = archive.getinfo("word/document.xml").file_size
    lying = data.replace(struct.pack("<I", size), struct.pack("<I", 1000))

    with pytest.raises(UnreadableError):
        whole("docx", lying)


@pytest.mark.fault("D5", "E2")
@pytest.mark.parametrize("kind", MAIN_PARTS)
def test_entities_are_neither_fetched_nor_expanded(kind: str) -> None:
    def change(name: str, content: bytes) -> bytes:
        if name != MAIN_PARTS[kind]:
            return content
        return b'<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/hostname">]>' + content

    with pytest.raises(UnreadableError):
        whole(kind, rewritten(FILES[kind], change))


def test_elements_nested_too_deeply_are_refused() -> None:
    deep = "<w:sdt><w:sdtContent>" * 3000 + "<w:p/>" + "</w:sdtContent></w:sdt>" * 3000

    with pytest.raises(UnreadableError):
        whole("docx", make_word(deep))
