"""Make searches repeatable: have Chroma write the whole graph of a corpus's vectors.

Flow: the evaluation, before it asks -> `corpus.py` -> **here**, in a child process -> `chroma.py`. Not for every
ingestion: the graph is written as a whole, which takes long where it is large and little was changed. A child, because
Chroma releases SQLite's locks some time after a client was closed, and at the latest when the process ends.
"""

import os
import subprocess
import sys
from pathlib import Path

from errors import IndexDamagedError, RagError

_PROJECT_ROOT = Path(__file__).resolve().parents[2]


def flush_in_child(folder: Path) -> None:
    """Do what `flush` does, in a child process.

    Raises:
        IndexDamagedError: it failed.
    """
    path = os.pathsep.join([str(_PROJECT_ROOT), *(entry for entry in sys.path if entry)])
    child = subprocess.run(  # noqa: S603  # a fixed command
        [sys.executable, "-P", "-m", "index.vectors.flush", str(folder)],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": path},
        check=False,
    )
    if child.returncode:
        told = child.stderr.strip().splitlines() or [f"the process ended with {child.returncode}"]
        raise IndexDamagedError(
            f"The graph of the vectors in {folder} cannot be written: {told[-1]}",
            f"Run `python -m ingestion doctor --corpus {folder.parent.name} --repair`.",
        )


def flush(folder: Path) -> None:
    """Have the whole graph of a closed collection written to `folder`; what is written already costs a second.

    Chroma leaves up to 999 changes out, and puts them in whenever the folder is opened, in an order that differs from
    process to process; near the end of a long list searches then find other vectors.

    Raises:
        IndexDamagedError: the folder holds something that Chroma cannot open.
        StorageError: the disk is full, or refuses; or another process has held a lock for 20 s.
    """
    from index.vectors.chroma import open_embedded, while_locked  # noqa: PLC0415  # a second to import, in the child only

    collection = open_embedded(folder)
    try:
        while_locked(collection.write_graph)()
    finally:
        collection.close()
    open_embedded(folder).close()  # sets back what this one set


if __name__ == "__main__":
    try:
        flush(Path(sys.argv[1]))
    except RagError as error:
        sys.exit(str(error))
