"""Word documents, built by the test."""

import pytest

from ingestion.reading.office.docx import read_docx
from tests.fakes.word import make_docx
from tests.zoo.office import make_word

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


def paragraph(text: str, properties: str = "", run: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:rPr>{run}</w:rPr><w:t>{text}</w:t></w:r></w:p>"


def row(*cells: str, properties: str = "", run: str = "") -> str:
    """Return a row of a table; a cell may begin with its properties, up to a bar."""
    parts = []
    for cell in cells:
        before, _, text = cell.rpartition("|")
        parts.append(f"<w:tc><w:tcPr>{before}</w:tcPr>{paragraph(text, run=run)}</w:tc>")
    return f"<w:tr><w:trPr>{properties}</w:trPr>{''.join(parts)}</w:tr>"


def text_of(body: str, **parts: str) -> str:
    return read_docx(make_word(body, **parts), "a.docx", LIMIT).text


@pytest.mark.parametrize("marks", [{"properties": "<w:tblHeader/>"}, {"run": "<w:b/>"}])
def test_a_table_names_its_columns_where_it_says_so_and_fills_merged_cells(marks: dict[str, str]) -> None:
    rows = (
        row("Kind", "Place", "COP", **marks)
        + row('<w:vMerge w:val="restart"/>|Air', "Roof", "3.1")
        + row("<w:vMerge/>|", '<w:gridSpan w:val="2"/>|none')
    )

    assert (
        text_of(f"<w:tbl>{rows}</w:tbl>") == "Kind | Place | COP\n--- | --- | ---\nAir | Roof | 3.1\nAir | none | none"
    )


RUN = "<w:r><w:t>{}</w:t></w:r>"
NOTE = f'<w:footnote w:id="2">{paragraph("{}")}</w:footnote>'
PICTURE = (
    '<w:p><w:r><w:drawing><wp:docPr id="1" name="x" descr="A boat" '
    'xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"/></w:drawing></w:r></w:p>'
)


@pytest.mark.parametrize(
    ("body", "parts", "text"),
    [
        (f"<w:tbl>{row('Note')}{row('Mind the gap.')}</w:tbl>", {}, "Note\n\nMind the gap."),
        (f"<w:sdt><w:sdtContent><w:p>{RUN.format('Controlled.')}</w:p></w:sdtContent></w:sdt>"
         f"<w:p><w:ins w:id='1'>{RUN.format('Inserted.')}</w:ins>"
         "<w:del w:id='2'><w:r><w:delText>Deleted.</w:delText></w:r></w:del></w:p>", {}, "Controlled.\n\nInserted."),
        ('<w:p><w:r><w:t>Heat</w:t><w:footnoteReference w:id="2"/><w:t> pumps.</w:t><w:endnoteReference w:id="2"/>'
         f"</w:r></w:p>{paragraph('Next.')}",
         {"footnotes": NOTE.format("Or cold."), "endnotes": NOTE.format("A source.")},
         "Heat pumps.\n\nFootnote 1: Or cold.\n\nNext.\n\nEndnote 1: A source."),
        (paragraph("Seen.") + paragraph("Not seen.", run="<w:vanish/>") + PICTURE, {}, "Seen.\n\nA boat"),
        (paragraph("Kept.") + paragraph("Struck.", run="<w:strike/>") + paragraph("x", run="<w:dstrike/>"), {},
         "Kept."),
        (paragraph("Kept.", run='<w:strike w:val="0"/>'), {}, "Kept."),
    ],
    ids=["a frame", "changes", "notes", "hidden words and pictures", "struck words", "words struck no more"],
)  # fmt: skip
def test_the_text_shows_what_the_document_says(body: str, parts: dict[str, str], text: str) -> None:
    assert text_of(body, **parts) == text


def test_numbered_lists_and_clauses_show_their_numbers() -> None:
    def level(depth: int, form: str, text: str) -> str:
        return (
            f'<w:lvl w:ilvl="{depth}"><w:start w:val="1"/><w:numFmt w:val="{form}"/><w:lvlText w:val="{text}"/></w:lvl>'
        )

    levels = level(0, "decimal", "%1.") + level(1, "decimal", "%1.%2") + level(2, "lowerLetter", "(%3)")
    numbering = f'<w:abstractNum w:abstractNumId="0">{levels}</w:abstractNum>'
    numbering += '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'

    def item(text: str, depth: int) -> str:
        return paragraph(text, f'<w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="1"/></w:numPr>')

    body = item("Rent", 0) + item("Due monthly.", 1) + item("By cheque", 2) + item("Term", 0) + item("A year.", 1)

    assert text_of(body, numbering=numbering) == (
        "1. Rent\n\n1.1 Due monthly.\n\n    - (a) By cheque\n2. Term\n\n2.1 A year."
    )


def test_styles_lend_their_role_to_those_based_upon_them() -> None:
    styles = (
        '<w:style w:type="paragraph" w:styleId="H"><w:name w:val="heading 2"/></w:style>'
        '<w:style w:type="paragraph" w:styleId="Own"><w:name w:val="Chapter"/><w:basedOn w:val="H"/></w:style>'
        '<w:style w:type="paragraph" w:styleId="C"><w:name w:val="Source Code"/></w:style>'
    )
    body = paragraph("Kinds", '<w:pStyle w:val="Own"/>') + "".join(
        paragraph(line, '<w:pStyle w:val="C"/>') for line in ("a = 1", "b = 2")
    )

    assert text_of(body, styles=styles) == "## Kinds\n\n```\na = 1\nb = 2\n```"
