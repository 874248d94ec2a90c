"""What stands beside a file about it: `NAME.meta.json` holds metadata of all documents in the file NAME.

Flow: `files.py` lists no sidecar as a file -> `pipeline/diff.py` reads it **here**, and the file again once it changes.
"""

import json
import os
from pathlib import Path

from errors import UnreadableError
from index.documents.store import Metadata
from ingestion.reading import fields
from ingestion.reading.files import SIDECAR, open_plain

MAX_BYTES = 100_000


def read_sidecar(path: Path) -> bytes:
    """Return what stands beside a file; nothing if there is no sidecar.

    Raises:
        UnreadableError: it cannot be opened.
    """
    beside = path.with_name(path.name + SIDECAR)
    if not os.path.lexists(beside):
        return b""
    with open_plain(beside) as file:
        return file.read(MAX_BYTES + 1)


def sidecar_metadata(data: bytes) -> Metadata:
    """Return the metadata that a sidecar holds.

    Raises:
        UnreadableError: it holds something else, or `allow` names no groups.
    """
    if not data:
        return {}
    try:
        found = json.loads(data) if len(data) <= MAX_BYTES else None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise UnreadableError(
            f"The file's {SIDECAR} is not a JSON object of up to {MAX_BYTES:,} bytes.", "Correct it, or remove it."
        )
    return fields.metadata(found, without=())
