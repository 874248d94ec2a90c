"""Generates a small file of each kind that can be ingested, from a title and paragraphs.

Flow: tests -> **here** -> bytes by suffix. Written by hand where the format allows, so that
nothing is installed for it but reportlab, for PDFs (extra `dev`).
"""

import bz2
import gzip
import io
import json
from collections.abc import Callable, Sequence

import pyarrow as pa
from PIL import Image, ImageDraw, ImageFont
from pyarrow import parquet
from reportlab.pdfgen.canvas import Canvas

from tests.zoo import office
from tests.zoo.archives import make_mail, make_mbox, make_tar, make_zip
from tests.zoo.outlook import make_msg
from tests.zoo.xlsb import make_xlsb

Texts = Sequence[str]
Make = Callable[[str, Texts], bytes]
LINE_CHARS, PAGE_LINES = 80, 40


def _wrapped(make: Callable[[str], str], before: str = "", after: str = "") -> Make:
    """Return what writes `before`, in which {} is the title, the paragraphs in turn, and `after`."""
    return lambda title, texts: (before.replace("{}", title) + "".join(map(make, texts)) + after).encode()


_MARKDOWN = _wrapped("\n{}\n".format, "# {}\n")
_PLAIN = _wrapped("\n{}\n".format, "{}\n")
_HTML = _wrapped("<p>{}</p>".format, "<!doctype html><html><head><title>{}</title></head><body><h1>{}</h1>", "</body>")
_PAGE = "<page><title>{}</title><ns>0</ns><id>1</id><revision><text>"


def _lines(texts: Texts) -> list[str]:
    """Break paragraphs into lines at words."""
    lines = []
    for text in texts:
        while len(text) > LINE_CHARS:
            line, _, _ = text[:LINE_CHARS].rpartition(" ")
            lines.append(line)
            text = text[len(line) + 1 :]  # noqa: PLW2901
        lines.append(text)
    return lines


def _pdf(title: str, texts: Texts) -> bytes:
    buffer = io.BytesIO()
    canvas = Canvas(buffer)
    for number, line in enumerate(_lines([title, *texts])):
        if number and number % PAGE_LINES == 0:
            canvas.showPage()
        canvas.drawString(72, 780 - 16 * (number % PAGE_LINES), line)
    canvas.save()
    return buffer.getvalue()


def _picture(kind: str) -> Make:
    def make(title: str, texts: Texts) -> bytes:
        lines = _lines([title, *texts])
        image = Image.new("L", (1240, 60 + 34 * len(lines)), "white")
        ImageDraw.Draw(image).text((60, 30), "\n".join(lines), fill="black", font=ImageFont.load_default(24))
        buffer = io.BytesIO()
        image.save(buffer, kind)
        return buffer.getvalue()

    return make


def _docx(title: str, texts: Texts) -> bytes:
    return office.make_word("".join(f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>" for text in (title, *texts)))


def _rtf(title: str, texts: Texts) -> bytes:
    return (
        b"{\\rtf1\\ansi\\ansicpg1252{\\fonttbl{\\f0 Arial;}}"
        + b"".join(rf"{text}\par".encode("cp1252") + b"\n" for text in (title, *texts))
        + b"}"
    )


def _rows(texts: Texts) -> list[list[str | float]]:
    rows: list[list[str | float]] = [["Remark", "Litres"]]
    return rows + [[text, float(number)] for number, text in enumerate(texts)]


def _xlsx(title: str, texts: Texts) -> bytes:
    return office.make_xlsx({"Data": office.sheet_data(_rows(texts))}, title=title)


def _xls(_title: str, texts: Texts) -> bytes:
    rows = _rows(texts)
    return office.make_xls([(at, column, cell, 0) for at, row in enumerate(rows) for column, cell in enumerate(row)])


def _xlsb(_title: str, texts: Texts) -> bytes:
    rows = enumerate(_rows(texts))
    return make_xlsb({"Data": [(at, column, cell, 0) for at, row in rows for column, cell in enumerate(row)]})


def _odf(kind: str, before: str, each: str, after: str) -> Make:
    return lambda title, texts: office.make_odf(
        kind, before.replace("{}", title) + "".join(map(each.format, texts)) + after, title=title
    )


def _pptx(title: str, texts: Texts) -> bytes:
    return office.make_pptx([office.shape(title, role="title") + office.shape(text, role="body") for text in texts])


def _epub(title: str, texts: Texts) -> bytes:
    return office.make_epub({"one": f"<h1>{title}</h1>" + "".join(map("<p>{}</p>".format, texts))}, spine=["one"])


def _notebook(title: str, texts: Texts) -> bytes:
    cells = [{"cell_type": "markdown", "metadata": {}, "source": [text]} for text in (f"# {title}", *texts)]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


def _msg(title: str, texts: Texts) -> bytes:
    return make_msg({"0037": title, "1000": "\r\n\r\n".join(texts)}, {"notes.md": _MARKDOWN(title, texts[-1:])})


def _mail(title: str, texts: Texts) -> bytes:
    return make_mail("\n\n".join(texts[:-1]), attachments={"notes.md": _MARKDOWN(title, texts[-1:])}, Subject=title)


def _members(title: str, texts: Texts) -> dict[str, bytes]:
    return {f"part {number}.md": _MARKDOWN(title, [text]) for number, text in enumerate(texts)}


def _warc(kind: str) -> Make:
    def record(number: int, title: str, text: str) -> bytes:
        if kind == "response":
            block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + _HTML(title, [text])
            content_type = "application/http;msgtype=response"
        else:
            block, content_type = _PLAIN(title, [text]), "text/plain"
        head = f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: http://pages.example/{number}\r\n"
        return (
            f"{head}Content-Type: {content_type}\r\nContent-Length: {len(block)}\r\n\r\n".encode() + block + b"\r\n\r\n"
        )

    return lambda title, texts: b"".join(record(number, title, text) for number, text in enumerate(texts))


def _records(title: str, texts: Texts) -> list[dict[str, str]]:
    return [{"title": title, "text": text} for text in texts]


def _jsonl(title: str, texts: Texts) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in _records(title, texts))


def _parquet(title: str, texts: Texts) -> bytes:
    buffer = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist(_records(title, texts)), buffer)
    return buffer.getvalue()


def _table(separator: str) -> Make:
    return _wrapped(f"{{}}{separator}12\n".format, f"remark{separator}litres\n")


_TEXT_DOCUMENT = _odf("text", '<text:h text:outline-level="1">{}</text:h>', "<text:p>{}</text:p>", "")
_CELL = "<table:table-row><table:table-cell><text:p>{}</text:p></table:table-cell></table:table-row>"
_SLIDE = "<draw:page><draw:frame><draw:text-box><text:p>{}</text:p></draw:text-box></draw:frame></draw:page>"

KINDS: dict[str, Make] = {
    **dict.fromkeys((".md", ".markdown", ".mdx"), _MARKDOWN),
    **dict.fromkeys((".txt", ".text"), _PLAIN),
    **dict.fromkeys((".html", ".htm", ".xhtml"), _HTML),
    ".pdf": _pdf,
    **dict.fromkeys((".docx", ".docm"), _docx),
    ".odt": _TEXT_DOCUMENT,
    ".rtf": _rtf,
    **dict.fromkeys((".xlsx", ".xlsm"), _xlsx),
    ".xlsb": _xlsb,
    ".xls": _xls,
    ".ods": _odf("spreadsheet", '<table:table table:name="{}">', _CELL, "</table:table>"),
    **dict.fromkeys((".pptx", ".pptm", ".ppsx"), _pptx),
    ".odp": _odf("presentation", "", _SLIDE, ""),
    ".epub": _epub,
    ".rst": _wrapped("\n{}\n".format, "{}\n==============================\n"),
    **dict.fromkeys((".adoc", ".asciidoc"), _wrapped("\n{}\n".format, "= {}\n")),
    ".org": _wrapped("\n{}\n".format, "* {}\n"),
    ".ipynb": _notebook,
    ".xml": _wrapped("<note><body>{}</body></note>".format, "<notes><title>{}</title>", "</notes>"),
    ".docbook.xml": _wrapped("<para>{}</para>".format, "<article><title>{}</title><section>", "</section></article>"),
    ".jats.xml": _wrapped(
        "<p>{}</p>".format,
        "<article><front><article-meta><title-group><article-title>{}</article-title></title-group></article-meta>"
        "</front><body><sec><title>Method</title>",
        "</sec></body></article>",
    ),
    ".mediawiki.xml": _wrapped("{}\n\n".format, f"<mediawiki>{_PAGE}", "</text></revision></page></mediawiki>"),
    ".eml": _mail,
    ".msg": _msg,
    ".mbox": lambda title, texts: make_mbox(*(_mail(title, [text, text]) for text in texts)),
    ".zip": lambda title, texts: make_zip(_members(title, texts)),
    ".tar": lambda title, texts: make_tar(_members(title, texts)),
    **dict.fromkeys((".tgz", ".tar.gz"), lambda title, texts: make_tar(_members(title, texts), "w:gz")),
    ".warc": _warc("response"),
    ".wet": _warc("conversion"),
    ".csv": _table(","),
    ".tsv": _table("\t"),
    **dict.fromkeys((".jsonl", ".ndjson"), _jsonl),
    ".parquet": _parquet,
    ".json": lambda title, texts: json.dumps(_records(title, texts)).encode(),
    ".md.gz": lambda title, texts: gzip.compress(_MARKDOWN(title, texts), mtime=0),
    ".txt.bz2": lambda title, texts: bz2.compress(_PLAIN(title, texts)),
}
# Read only where OCR is on.
PICTURES: dict[str, Make] = {
    ".scan.pdf": _picture("PDF"),
    ".png": _picture("PNG"),
    ".jpg": _picture("JPEG"),
    ".tiff": _picture("TIFF"),
}
