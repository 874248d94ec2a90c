"""How files are read. Flow: `reader.py` -> child process -> **here** -> `formats.py`."""

from dataclasses import dataclass

TURN_ON_OCR = (
    "Install the extra `ocr`, set RAG_INGEST__OCR=true and run `python -m ingestion retry-failed`; "
    "or run OCR on it first."
)


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What the child process is told with every file.

    Attributes:
        max_bytes: of a file that is read as a whole, decompressed.
        max_chars: of one document's text.
        papers: every text file is a paper or an object of one, by any name.
        languages: ISO 639 codes; documents in others are left out. Empty: all are read.
        ocr: read pictures of text, and pages of PDFs that hold none.
        after_member: go on behind this member of an archive, counted from 1, and say of each one when it is started; 0
            begins with the first one, None does so and says nothing.
    """

    max_bytes: int
    max_chars: int
    papers: bool = False
    languages: tuple[str, ...] = ()
    ocr: bool = False
    after_member: int | None = None
