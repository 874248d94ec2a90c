"""Find what a request wants ingested, and refuse whatever lies outside the folder that the operator opened for it.

Flow: `POST /ingest` -> **here** -> a job reads the path. The same check runs again when the job begins: it may have
waited, and a folder may have become a link meanwhile.

What lies outside is refused before anybody looks whether it exists, so that the answers map no foreign folders.
"""

from pathlib import Path

from errors import IngestRefusedError, UnknownPathError


def locate(root: Path | None, given: str) -> Path:
    """Return the real path of `given`, links resolved.

    Args:
        root: the folder that may be read; None when ingestion over HTTP is off.
        given: relative to the root, or absolute below it. Taken as it stands: `%2e` is no dot.

    Raises:
        IngestRefusedError: ingestion is off, or the path leads out of the root.
        UnknownPathError: there is nothing at this path.
    """
    if root is None:
        raise IngestRefusedError(
            "This service ingests nothing over HTTP.",
            "Set RAG_INGEST__ROOT to the folder that clients may name paths in, and start the service again.",
        )
    try:
        home = root.resolve()
        found = (home / given).resolve()
        if not found.is_relative_to(home):
            raise IngestRefusedError(
                "The path leads out of the folder that may be ingested.",
                "Name something below RAG_INGEST__ROOT, and nothing that is a link to elsewhere.",
            )
        there = found.exists()
    except (OSError, ValueError, RuntimeError):
        there = False  # too long, not encodable, a loop of links: no file can have such a name
    if not there:
        raise UnknownPathError(
            "There is nothing at this path.", "Name a file or folder by its path below RAG_INGEST__ROOT."
        )
    return found
