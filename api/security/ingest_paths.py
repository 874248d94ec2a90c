"""Find what a request wants ingested, and refuse paths outside the folders that the operator opened for it.

Flow: `POST /ingest` -> **here** -> a job reads the path. The same check runs again when the job begins: it may have
waited, and a folder may have become a link meanwhile.

What lies outside is refused before anybody looks whether it exists, so that the answers map no foreign folders.
"""

from collections.abc import Sequence
from pathlib import Path

from errors import IngestRefusedError, UnknownPathError


def locate(roots: Sequence[Path], given: str) -> Path:
    """Return the real path of `given`, links resolved.

    Args:
        roots: the folders that may be read; none when ingestion over HTTP is off.
        given: absolute, or relative to a root or to the working directory: the first of these that exists counts.
            Taken as it stands: `%2e` is not a dot.

    Raises:
        IngestRefusedError: ingestion is off, or the path leads out of the roots.
        UnknownPathError: there is nothing at this path.
    """
    if not roots:
        raise IngestRefusedError(
            "This service ingests nothing over HTTP.",
            "Set RAG_INGEST__ROOT to the folder that clients may name paths in, and start the service again.",
        )
    try:
        homes = [root.resolve() for root in roots]
        named = [(folder / given).resolve() for folder in (*homes, Path.cwd())]
        inside = [path for path in named if any(map(path.is_relative_to, homes))]
        if not inside:
            raise IngestRefusedError(
                "The path leads out of the folders that may be ingested.",
                "Name something below RAG_INGEST__ROOT, or the folder the service was started with by --ingest, and "
                "nothing that is a link to elsewhere.",
            )
        there = [path for path in inside if path.exists()]
    except (OSError, ValueError, RuntimeError):
        there = []  # too long, not encodable, a loop of links: no file can have such a name
    if not there:
        raise UnknownPathError(
            "There is nothing at this path.",
            "Name a file or folder by its path below RAG_INGEST__ROOT or the folder of --ingest.",
        )
    return there[0]
