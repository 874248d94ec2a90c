"""Read the documents of a folder as ingestion reads them, without keeping them.

Flow: folder -> **here** -> `search_service.py`.
"""

import sys
from pathlib import Path

from errors import UnknownPathError
from index.documents.store import Document
from ingestion.reading.files import Skipped, list_files
from ingestion.reading.reader import Reader
from settings import Settings


def read_documents(folder: Path, settings: Settings) -> list[Document]:
    """Return all documents of a file or folder; what cannot be read is named on stderr.

    Raises:
        UnknownPathError: there is nothing at the path.
    """
    if not folder.exists():
        raise UnknownPathError(f"There is nothing at {folder}.", "Name a folder of documents.")
    documents = []
    with Reader(settings.ingest) as reader:
        for file in list_files(folder):
            if isinstance(file, Skipped):
                continue
            for item in reader.read(file):
                if isinstance(item, Document):
                    documents.append(item)
                else:
                    print(f"left out: {file.doc_id}: {item}", file=sys.stderr, flush=True)
    return documents
