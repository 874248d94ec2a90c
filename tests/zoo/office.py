"""Small office documents, written out by hand: archives of XML, and workbooks of the old format."""

import struct
from collections.abc import Mapping, Sequence

from tests.zoo.archives import make_zip
from tests.zoo.outlook import make_ole

_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_SHEETS = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_SLIDES = (
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" '
    f'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:r="{_OFFICE}"'
)
_WORD = f'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:r="{_OFFICE}"'
_ODF = " ".join(
    f'xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for prefix, name in {
        "office": "office", "text": "text", "table": "table", "style": "style", "draw": "drawing",
        "presentation": "presentation", "svg": "svg-compatible", "fo": "xsl-fo-compatible",
    }.items()
)  # fmt: skip

Relations = Mapping[str, tuple[str, str]]


def relations(found: Relations) -> str:
    """Return the part that holds relations: id -> (last word of the type, target)."""
    rows = "".join(
        f'<Relationship Id="{name}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
        for name, (kind, target) in found.items()
    )
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{rows}</Relationships>'


def properties(title: str = "", author: str = "") -> str:
    """Return the part with a document's properties."""
    return (
        f'<cp:coreProperties xmlns:cp="{_PACKAGE}/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<dc:title>{title}</dc:title><dc:creator>{author}</dc:creator></cp:coreProperties>"
    )


def make_xlsx(
    sheets: Mapping[str, str],
    *,
    strings: Sequence[str] = (),
    styles: str = "",
    title: str = "",
    hidden: Sequence[str] = (),
    parts: Mapping[str, str] | None = None,
) -> bytes:
    """Return a workbook; each sheet is given as the XML below `worksheet`, the styles as that below `styleSheet`."""
    names = list(sheets)
    states = {name: "hidden" if name in hidden else "visible" for name in names}
    listed = "".join(
        f'<sheet name="{name}" sheetId="{at}" r:id="s{at}" state="{states[name]}"/>' for at, name in enumerate(names, 1)
    )
    found = {f"s{at}": ("worksheet", f"worksheets/sheet{at}.xml") for at in range(1, len(names) + 1)}
    found |= {"strings": ("sharedStrings", "sharedStrings.xml"), "styles": ("styles", "styles.xml")}
    items = "".join(f"<si><t>{text}</t></si>" for text in strings)
    return make_zip(
        {
            "[Content_Types].xml": "<Types/>",
            "_rels/.rels": relations({"a": ("officeDocument", "xl/workbook.xml")}),
            "docProps/core.xml": properties(title),
            "xl/workbook.xml": f'<workbook xmlns="{_SHEETS}" xmlns:r="{_OFFICE}"><sheets>{listed}</sheets></workbook>',
            "xl/_rels/workbook.xml.rels": relations(found),
            "xl/sharedStrings.xml": f'<sst xmlns="{_SHEETS}">{items}</sst>',
            "xl/styles.xml": f'<styleSheet xmlns="{_SHEETS}">{styles}</styleSheet>',
            **{
                f"xl/worksheets/sheet{at}.xml": f'<worksheet xmlns="{_SHEETS}">{sheets[name]}</worksheet>'
                for at, name in enumerate(names, 1)
            },
            **(parts or {}),
        }
    )


def sheet_data(rows: Sequence[Sequence[str | float | tuple[float, int]]], *, bold_rows: Sequence[int] = ()) -> str:
    """Return the rows of a sheet; a pair is a number with its style. Bold is style 1."""
    lines = []
    for at, row in enumerate(rows):
        style = ' s="1"' if at in bold_rows else ""
        cells = []
        for column, value in enumerate(row):
            place = f'r="{chr(65 + column)}{at + 1}"'
            if isinstance(value, tuple):
                cells.append(f'<c {place} s="{value[1]}"><v>{value[0]}</v></c>')
            elif isinstance(value, str) and value:
                cells.append(f'<c {place}{style} t="inlineStr"><is><t>{value}</t></is></c>')
            elif value != "":
                cells.append(f"<c {place}{style}><v>{value}</v></c>")
        lines.append(f'<row r="{at + 1}">{"".join(cells)}</row>')
    return f"<sheetData>{''.join(lines)}</sheetData>"


def make_pptx(slides: Sequence[str], *, notes: Mapping[int, str] | None = None, title: str = "") -> bytes:
    """Return a presentation; each slide is given as the XML below `spTree`, notes by the slide's number."""
    notes = notes or {}
    numbers = range(1, len(slides) + 1)
    listed = "".join(f'<p:sldId id="{255 + at}" r:id="s{at}"/>' for at in numbers)
    members = {
        "[Content_Types].xml": "<Types/>",
        "_rels/.rels": relations({"a": ("officeDocument", "ppt/presentation.xml")}),
        "docProps/core.xml": properties(title),
        "ppt/presentation.xml": f"<p:presentation {_SLIDES}><p:sldIdLst>{listed}</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": relations({f"s{at}": ("slide", f"slides/slide{at}.xml") for at in numbers}),
    }
    for at, slide in enumerate(slides, 1):
        members[f"ppt/slides/slide{at}.xml"] = f"<p:sld {_SLIDES}><p:cSld><p:spTree>{slide}</p:spTree></p:cSld></p:sld>"
        if at in notes:
            members[f"ppt/slides/_rels/slide{at}.xml.rels"] = relations(
                {"n": ("notesSlide", f"../notesSlides/notes{at}.xml")}
            )
            members[f"ppt/notesSlides/notes{at}.xml"] = (
                f"<p:notes {_SLIDES}><p:cSld><p:spTree>{shape(notes[at], role='body')}</p:spTree></p:cSld></p:notes>"
            )
    return make_zip(members)


def shape(*paragraphs: str, role: str = "", place: tuple[int, int] | None = None, marks: str = "") -> str:
    """Return a shape of a slide: its paragraphs, its role as a placeholder, its place (from the left, from the top)."""
    holder = f'<p:ph type="{role}"/>' if role else ""
    offset = f'<a:xfrm><a:off x="{place[0]}" y="{place[1]}"/></a:xfrm>' if place else ""
    lines = "".join(f"<a:p><a:pPr>{marks}</a:pPr><a:r><a:t>{text}</a:t></a:r></a:p>" for text in paragraphs)
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="1" name="x"/><p:nvPr>{holder}</p:nvPr></p:nvSpPr><p:spPr>{offset}</p:spPr>'
        f"<p:txBody>{lines}</p:txBody></p:sp>"
    )


def make_word(body: str, *, styles: str = "", numbering: str = "", footnotes: str = "", endnotes: str = "") -> bytes:
    """Return a Word document, its parts given as the XML below their root elements."""
    parts = {"styles": styles, "numbering": numbering, "footnotes": footnotes, "endnotes": endnotes}
    return make_zip(
        {
            "[Content_Types].xml": "<Types/>",
            "_rels/.rels": relations({"a": ("officeDocument", "word/document.xml")}),
            "word/document.xml": f"<w:document {_WORD}><w:body>{body}</w:body></w:document>",
            "word/_rels/document.xml.rels": relations({name: (name, f"{name}.xml") for name in parts}),
            **{f"word/{name}.xml": f"<w:{name} {_WORD}>{content}</w:{name}>" for name, content in parts.items()},
        }
    )


def make_odf(kind: str, body: str, *, styles: str = "", title: str = "", manifest: str = "") -> bytes:
    """Return an OpenDocument file of a kind, such as "text"; its content is given as the XML below that element."""
    return make_zip(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "content.xml": f"<office:document-content {_ODF}>"
            f"<office:automatic-styles>{styles}</office:automatic-styles>"
            f"<office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>",
            "meta.xml": f'<office:document-meta {_ODF} xmlns:dc="http://purl.org/dc/elements/1.1/"><office:meta>'
            f"<dc:title>{title}</dc:title></office:meta></office:document-meta>",
            "META-INF/manifest.xml": '<m:manifest xmlns:m="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
            f"{manifest}</m:manifest>",
        }
    )


def make_epub(chapters: Mapping[str, str], *, spine: Sequence[str], title: str = "", toc: str = "") -> bytes:
    """Return a book; each chapter is given as the XHTML below `body`, the table of contents as that below `nav`."""
    page = (
        '<?xml version="1.0"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml"><head><title>x</title></head>'
    )
    items = "".join(f'<item id="{name}" href="{name}.xhtml" media-type="application/xhtml+xml"/>' for name in chapters)
    items += '<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>'
    order = "".join(f'<itemref idref="{name}"/>' for name in spine)
    return make_zip(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
            '<rootfile full-path="OPS/book.opf"/></rootfiles></container>',
            "OPS/book.opf": '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/">'
            f"<metadata><dc:title>{title}</dc:title><dc:creator>A. Writer</dc:creator>"
            "<dc:language>en</dc:language></metadata>"
            f'<manifest>{items}</manifest><spine><itemref idref="nav"/>{order}</spine></package>',
            "OPS/nav.xhtml": f"{page}<body><nav>{toc}</nav></body></html>",
            **{f"OPS/{name}.xhtml": f"{page}<body>{body}</body></html>" for name, body in chapters.items()},
        }
    )


def make_xls(
    cells: Sequence[tuple[int, int, str | float, int]], *, merged: Sequence[tuple[int, int, int, int]] = ()
) -> bytes:
    """Return a workbook of the old format with one sheet, "Data".

    Args:
        cells: (row, column, value, style): style 0 is plain, 1 bold, 2 a day, 3 a percentage.
        merged: (first row, last row, first column, last column).
    """

    def record(kind: int, body: bytes) -> bytes:
        return struct.pack("<HH", kind, len(body)) + body

    def name(text: str) -> bytes:
        return struct.pack("<BB", len(text), 0) + text.encode("latin-1")

    def text16(text: str) -> bytes:
        return struct.pack("<HB", len(text), 0) + text.encode("latin-1")

    def font(weight: int) -> bytes:
        return record(0x31, struct.pack("<HHHHHBBBB", 200, 0, 0x7FFF, weight, 0, 0, 0, 0, 0) + name("Arial"))

    def style(font_number: int, code: int) -> bytes:
        return record(0xE0, struct.pack("<HHH", font_number, code, 1) + bytes(14))

    def opening(kind: int) -> bytes:
        return record(0x809, struct.pack("<HHHH", 0x600, kind, 0, 0) + bytes(8))

    end = record(0x0A, b"")
    head = opening(5) + font(400) + font(700) + record(0x41E, struct.pack("<H", 170) + text16("dd.mm.yyyy"))
    head += style(0, 0) + style(1, 0) + style(0, 170) + style(0, 10)
    body = opening(0x10)
    for row, column, value, number in cells:
        at = struct.pack("<HHH", row, column, number)
        body += (
            record(0x204, at + text16(value))
            if isinstance(value, str)
            else record(0x203, at + struct.pack("<d", value))
        )
    if merged:
        body += record(0xE5, struct.pack("<H", len(merged)) + b"".join(struct.pack("<HHHH", *one) for one in merged))
    place = len(head) + len(record(0x85, bytes(6) + name("Data"))) + len(end)
    head += record(0x85, struct.pack("<IBB", place, 0, 0) + name("Data")) + end
    return make_ole({"Workbook": (head + body + end).ljust(4096, b"\0")})
