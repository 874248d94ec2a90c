"""Word documents, built by the test."""

import zipfile
from io import BytesIO

import pytest
from docx import Document as new_docx
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from errors import UnreadableError
from ingestion.reading.office.docx import read_docx
from tests.fakes.word import make_docx

LIMIT = 10_000_000


def test_headings_paragraphs_lists_and_tables_stay_in_order() -> None:
    data = make_docx(
        [
            ("Title", "Heat pumps"),
            ("Normal", "They move heat."),
            ("Heading 2", "Kinds"),
            ("List Bullet", "Air"),
            ("List Bullet", "Ground"),
            [["Kind", "COP"], ["Air", "3.1"]],
            ("Normal", "The end."),
        ],
        header="Confidential",
    )

    document = read_docx(data, "a/hp_2.docx", LIMIT)

    assert document.text == (
        "# Heat pumps\n\nThey move heat.\n\n## Kinds\n\n- Air\n- Ground\n\nKind | COP\nAir | 3.1\n\nThe end."
    )
    assert (document.title, document.doc_id, document.source) == ("Heat pumps", "a/hp_2.docx", "a/hp_2.docx")


@pytest.mark.parametrize(
    ("in_properties", "blocks", "title"),
    [
        ("Annual report", [("Heading 1", "Summary")], "Annual report"),
        ("Word Document", [("Heading 1", "Summary")], "Summary"),
        ("", [("Normal", "Text.")], "my file"),
    ],
)
def test_the_title_is_the_properties_then_the_first_heading_then_the_name(
    in_properties: str, blocks: list[tuple[str, str]], title: str
) -> None:
    assert read_docx(make_docx(blocks, title=in_properties), "my_file.docx", LIMIT).title == title


def test_content_controls_and_insertions_are_read_and_deletions_are_not() -> None:
    document = new_docx()
    document.add_paragraph("First.")
    run = "<w:r><w:t>{}</w:t></w:r>"
    for xml in (
        f"<w:sdt {nsdecls('w')}><w:sdtContent><w:p>{run.format('Controlled.')}</w:p></w:sdtContent></w:sdt>",
        f'<w:p {nsdecls("w")}><w:ins w:id="1" w:author="x">{run.format("Inserted.")}</w:ins>'
        f'<w:del w:id="2" w:author="x"><w:r><w:delText>Deleted.</w:delText></w:r></w:del></w:p>',
    ):
        document.element.body.insert(1, parse_xml(xml))
    buffer = BytesIO()
    document.save(buffer)

    assert read_docx(buffer.getvalue(), "a.docx", LIMIT).text == "First.\n\nInserted.\n\nControlled."


def test_a_document_that_unpacks_to_more_than_the_limit_is_refused_before_it_is_unpacked() -> None:
    buffer = BytesIO(make_docx([("Normal", "x")]))
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/bomb.xml", bytes(20_000_000))

    with pytest.raises(UnreadableError, match="larger than 10 MB unpacked"):
        read_docx(buffer.getvalue(), "a.docx", LIMIT)


def zip_of(name: str) -> bytes:
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(name, "x")
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"no zip", "no Word document, or a damaged one"),
        (make_docx([("Normal", "x")])[:-500], "no Word document, or a damaged one"),
        (zip_of("word/document.xml"), "no Word document, or a damaged one"),
        (zip_of("readme.txt"), "zip archive, but no Word document"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "no Word document, or a damaged one"),
        (make_docx([("Normal", " ")]), "no text"),
    ],
    ids=["text", "cut", "hollow", "other zip", "old", "blank"],
)
def test_what_is_no_usable_word_document_is_refused(data: bytes, reason: str) -> None:
    with pytest.raises(UnreadableError, match=reason):
        read_docx(data, "a.docx", LIMIT)
