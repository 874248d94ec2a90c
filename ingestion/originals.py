"""Find the file that a document was read from, as long as it is the same.

Flow: a document of the corpus -> **here**, by the ledger alone -> `reading/page_renderer.py`, which opens the file and
compares its hash. No path ever comes from a client.
"""

import json

from errors import PageUnavailableError
from index.corpus import Corpus
from index.documents.store import Document
from ingestion.reading.page_renderer import READ_TEXT, Original

PDF = "pdf"


def original_of(corpus: Corpus, document: Document) -> Original:
    """Return the PDF file of a document.

    Raises:
        PageUnavailableError: it is no PDF, lies in an archive or mail, or the ledger does not know its file and what it
            held.
    """
    if document.content_type != PDF or not document.pages:
        raise PageUnavailableError("Only the pages of PDF files can be shown.", READ_TEXT)
    if document.doc_id != document.source:
        raise PageUnavailableError("Pages of files inside archives and mails cannot be shown.", READ_TEXT)
    note = corpus.ledger.get(document.source)
    if note is None or note.digest is None:
        raise PageUnavailableError("It is not known which file this document was read from.", "Ingest it again.")
    metadata = note.options.get("metadata")
    # As `pipeline/diff.py` computes it.
    salt = json.dumps(metadata, sort_keys=True) if metadata else ""
    return Original(str(note.path), note.digest.partition("/")[0], salt, len(document.pages))
