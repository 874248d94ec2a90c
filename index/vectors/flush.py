"""Make searches repeatable: have Chroma write the whole graph of a corpus's vectors.

Flow: the evaluation, before it asks -> `corpus.py` -> **here** -> `chroma.py`. Not for every ingestion: the graph is
written as a whole, which takes long where it is large and little was changed.
"""

from pathlib import Path

from index.vectors.chroma import open_embedded


def settle(folder: Path) -> None:
    """Have the whole graph of a closed collection written to `folder`; what is written already costs a second.

    Chroma leaves up to 999 changes out, and puts them in whenever the folder is opened, in an order that differs from
    process to process; near the end of a long list searches then find other vectors.

    Raises:
        IndexDamagedError: the folder holds something that Chroma cannot open.
        StorageError: the disk is full, or refuses.
    """
    collection = open_embedded(folder)
    try:
        collection.write_graph()
    finally:
        collection.close()
    open_embedded(folder).close()  # sets back what this one set
