"""Every format that is read: its suffixes, its reader, and what matters about it before it is read.

Flow: **here** -> `kind.py` tells a file's format by its content, `formats.py` calls the reader, `files.py` passes over
what no format names. A new format is a row, a reader and, if its content tells it, a mark in `kind.py`. Pure.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import PurePath
from typing import Any, cast


@dataclass(frozen=True, slots=True)
class Format:
    """A format of files.

    Attributes:
        name: of the format, `content_type` of its documents.
        suffixes: which promise it, in lower case.
        module: below `ingestion.reading`; its function `read_…` of the same name takes the whole file and its id, of
            an archive also how much it may hold unpacked. Empty where the reader takes more, and `formats.py` calls it.
        is_streamed: it holds many records and is never held in memory, so it may have any size.
        has_records: it is a list of records, however long.
        has_members: it holds files or mails, each read as one of its own.
        is_zip: it is a zip archive, which its members name.
        is_compressed: compressing it again would be odd; `a.pdf.gz` is not read.
    """

    name: str
    suffixes: tuple[str, ...] = ()
    module: str = ""
    is_streamed: bool = False
    has_records: bool = False
    has_members: bool = False
    is_zip: bool = False
    is_compressed: bool = False

    def reader(self) -> Callable[..., Any]:
        """Return what reads a whole file: its document, or what is in it, one by one.

        Its parser is imported now, not before.
        """
        module = import_module(f"ingestion.reading.{self.module}")
        return cast("Callable[..., Any]", getattr(module, f"read_{self.module.rpartition('.')[2]}"))


_ROWS = (
    Format("markdown", (".md", ".markdown", ".mdx"), "markdown"),
    Format("plain text", (".txt", ".text")),
    Format("html", (".html", ".htm", ".xhtml"), "html"),
    Format("pdf", (".pdf",), is_compressed=True),
    Format("docx", (".docx", ".docm"), "office.docx", is_zip=True, is_compressed=True),
    Format("xlsx", (".xlsx", ".xlsm", ".xlsb"), "office.xlsx", is_zip=True, is_compressed=True),
    Format("pptx", (".pptx", ".pptm", ".ppsx"), "office.pptx", is_zip=True, is_compressed=True),
    Format("odt", (".odt",), "office.odf", is_zip=True, is_compressed=True),
    Format("ods", (".ods",), "office.odf", is_zip=True, is_compressed=True),
    Format("odp", (".odp",), "office.odf", is_zip=True, is_compressed=True),
    Format("epub", (".epub",), "office.epub", is_zip=True, is_compressed=True),
    Format("rtf", (".rtf",), "office.rtf"),
    Format("xls", (".xls",), "office.xls"),
    Format(
        "ole", (".doc", ".ppt"), "office.ole"
    ),  # refused with a remedy, except the many that are RTF or a web page inside
    Format("csv", (".csv", ".tsv"), is_streamed=True, has_records=True),
    Format("jsonl", (".jsonl", ".ndjson"), is_streamed=True, has_records=True),
    Format("json", (".json",), "json", has_records=True),
    Format("parquet", (".parquet",), is_streamed=True, has_records=True, is_compressed=True),
    Format("mail", (".eml",), "mail", has_members=True),
    Format("mbox", (".mbox",), is_streamed=True, has_members=True),
    Format("msg", (".msg",), "msg", has_members=True, is_compressed=True),
    Format("zip", (".zip",), is_streamed=True, has_members=True, is_compressed=True),
    Format("tar", (".tar", ".tgz"), is_streamed=True, has_members=True),
    Format("warc", (".warc", ".wet"), is_streamed=True, has_members=True),
    Format("xml", (".xml",), "xml"),
    Format("mediawiki", is_streamed=True, has_records=True),  # an XML file by its name
    Format("restructuredtext", (".rst",), "rst"),
    Format("asciidoc", (".adoc", ".asciidoc"), "asciidoc"),
    Format("org", (".org",), "org"),
    Format("notebook", (".ipynb",), "notebook"),
    Format("image", is_compressed=True),
)
TABLE = {row.name: row for row in _ROWS}
FORMATS = {suffix: row.name for row in _ROWS for suffix in row.suffixes}
COMPRESSIONS = (".gz", ".bz2")
# Pictures of text, which are read only where OCR is on.
IMAGES = dict.fromkeys((".png", ".jpg", ".jpeg", ".tif", ".tiff"), "image")


def inner_name(name: str) -> str:
    """Return a file's name without the suffix of its compression: `a.txt.gz` -> `a.txt`."""
    stem, dot, suffix = name.rpartition(".")
    return stem if dot + suffix.lower() in COMPRESSIONS else name


def format_of(name: str, *, images: bool = False) -> str | None:
    """Return the format that a file's suffix names, or None. Formats of text may be compressed.

    Args:
        name: of the file.
        images: pictures are read too.
    """
    inner = inner_name(name)
    suffix = PurePath(inner).suffix.lower()
    found = FORMATS.get(suffix) or (IMAGES.get(suffix) if images else None)
    return None if found and inner != name and TABLE[found].is_compressed else found
