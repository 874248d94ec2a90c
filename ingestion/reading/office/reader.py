"""Choose the reader of an office format.

Flow: `formats.py` (the format, by content and name) -> **here** -> the format's reader -> `Document`. Each is imported
when the first file of its format comes.
"""

from errors import UnreadableError
from index.documents.store import Document


def read_office(kind: str, data: bytes, doc_id: str, max_bytes: int) -> Document:
    """Return the document of a file.

    Args:
        kind: one of `files.ZIPPED`, "rtf", "xls" or "ole".
        data: the file.
        doc_id: the file's path.
        max_bytes: how much the parts of an archive may hold together, unpacked.

    Raises:
        UnreadableError: it is another kind of file, damaged, encrypted, too large, or has no text.
    """
    match kind:
        case "docx":
            from ingestion.reading.office.docx import read_docx  # noqa: PLC0415

            return read_docx(data, doc_id, max_bytes)
        case "xlsx":
            from ingestion.reading.office.xlsx import read_xlsx  # noqa: PLC0415

            return read_xlsx(data, doc_id, max_bytes)
        case "pptx":
            from ingestion.reading.office.pptx import read_pptx  # noqa: PLC0415

            return read_pptx(data, doc_id, max_bytes)
        case "odt" | "ods" | "odp":
            from ingestion.reading.office.odf import read_odf  # noqa: PLC0415

            return read_odf(kind, data, doc_id, max_bytes)
        case "epub":
            from ingestion.reading.office.epub import read_epub  # noqa: PLC0415

            return read_epub(data, doc_id, max_bytes)
        case "rtf":
            from ingestion.reading.office.rtf import read_rtf  # noqa: PLC0415

            return read_rtf(data, doc_id)
        case "xls":
            from ingestion.reading.office.xls import read_xls  # noqa: PLC0415

            return read_xls(data, doc_id)
        case _:
            from ingestion.reading.office import ole  # noqa: PLC0415

            remedy = "Save it in a format of today, such as .docx or .pptx."
            raise ole.refusal(data) or UnreadableError(
                "This is a file of an old Office format, or a damaged one.", remedy
            )
