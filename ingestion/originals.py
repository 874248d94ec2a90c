"""Find the file that a document was read from, as long as it is the same.

Flow: a document of the corpus -> **here**, by the ledger alone -> `reading/page_renderer.py`, which opens the file and
compares its hash, or the pieces of the file for `GET /documents/{doc_id}/original`. No path ever comes from a client.
"""

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from io import BufferedReader

from errors import (
    PageUnavailableError,
    RagError,
    UnreadableError,
)
from index.corpus import Corpus
from index.documents.paragraphs import PAPER_WORDS
from index.documents.sources import SourceNote
from index.documents.store import Document, Metadata
from ingestion.reading.files import open_plain
from ingestion.reading.page_renderer import READ_TEXT, Original
from ingestion.reading.paper import paper_name
from ingestion.uploads import Uploads

PDF = "pdf"
UNKNOWN_FILE = "It is not known which file this document was read from."
INGEST_AGAIN = "Ingest it again."
# Length of the hash in hexadecimal digits.
DIGEST_CHARS = 32
_PIECE_BYTES = 1_000_000


def original_of(corpus: Corpus, document: Document, uploads: Uploads) -> Original:
    """Return the PDF file of a document.

    Raises:
        PageUnavailableError: it is not a PDF, lies in an archive or mail, or the ledger lacks its file or hash.
    """
    if document.content_type != PDF or not document.pages:
        raise PageUnavailableError("Only the pages of PDF files can be shown.", READ_TEXT)
    if document.doc_id != document.source:
        raise PageUnavailableError("Pages of files inside archives and mails cannot be shown.", READ_TEXT)
    note = original_note(corpus, document, uploads)
    if note is None:
        raise PageUnavailableError(UNKNOWN_FILE, INGEST_AGAIN)
    salt = salt_of(note.options.get("metadata"), "")
    return Original(str(note.path), (note.digest or "").partition("/")[0], salt, len(document.pages))


def salt_of(metadata: Metadata | None, file: str) -> str:
    """Return what is hashed after the bytes of a file: what else decides its documents.

    Args:
        metadata: that the run added.
        file: its path below the ingested folder.
    """
    salt = json.dumps(metadata, sort_keys=True) if metadata else ""
    is_paper = paper_name(file, anything="topic" in (metadata or {}))
    return f"{salt}{PAPER_WORDS} words" if is_paper else salt


@dataclass(frozen=True, slots=True)
class OpenedOriginal:
    """A file that has not changed since it was read.

    Attributes:
        file: open, at its beginning.
        size: in bytes.
    """

    file: BufferedReader
    size: int

    def pieces(self) -> Iterator[bytes]:
        """Yield the file, and close it.

        Raises:
            RagError: somebody wrote into it meanwhile.
        """
        with self.file:
            before = _state(self.file)
            while piece := self.file.read(_PIECE_BYTES):
                if _state(self.file) != before:
                    raise _changed()
                yield piece


def original_note(corpus: Corpus, document: Document, uploads: Uploads) -> SourceNote | None:
    """Return the note of the file that a document was read from, or of the archive or mail that it lies in."""
    note = corpus.ledger.get(document.source)
    if note is None or note.digest is None:
        return None
    # Uploaded files move with their corpus.
    return replace(note, root=str(uploads.folder(corpus.name))) if uploads.holds(corpus, note.source) else note


def is_given(corpus: Corpus, document: Document, uploads: Uploads, originals: bool | None) -> bool:
    """Say whether the file of a document is given to readers, as `RAG_SERVE__ORIGINALS` has it."""
    return uploads.holds(corpus, document.source) if originals is None else originals


def open_original(note: SourceNote) -> OpenedOriginal:
    """Open the file, and compare its hash with that of the time when it was read.

    Raises:
        RagError: it is gone, or a link or something else is in its place, or it holds something else.
    """
    try:
        file = open_plain(note.path)
    except UnreadableError as error:
        raise RagError(error.fact, "Put the file back, or ingest its folder with --prune.", "original_gone") from error
    digest, before = hashlib.sha256(), _state(file)
    while piece := file.read(_PIECE_BYTES):
        digest.update(piece)
    digest.update(salt_of(note.options.get("metadata"), note.file).encode())
    if not (note.digest or "").startswith(f"{digest.hexdigest()[:DIGEST_CHARS]}/") or _state(file) != before:
        file.close()
        raise _changed()
    file.seek(0)
    return OpenedOriginal(file, before[0])


def _state(file: BufferedReader) -> tuple[int, int]:
    status = os.fstat(file.fileno())
    return status.st_size, status.st_mtime_ns


def _changed() -> RagError:
    return RagError("The file has changed since it was read.", INGEST_AGAIN, "original_changed")
