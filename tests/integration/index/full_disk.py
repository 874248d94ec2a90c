"""Run by `test_full_disk.py` where a small disk is mounted: fill it, ask, give it room, finish; print what was seen."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import index.folder_stores
from errors import RagError
from index.corpus import Corpus
from index.documents.span_tree import node_id
from index.documents.store import StoredDocument
from index.folder_stores import open_folder
from tests.fakes.corpora import MANIFEST, stored
from tests.fakes.words import leaves_with

Batch = tuple[list[StoredDocument], npt.NDArray[np.float32]]


def batches(count: int) -> list[Batch]:
    """Return batches of documents whose every word and vector is random, the same ones in every run."""
    random = np.random.default_rng(7)
    return [_batch(number, random) for number in range(count)]


def _batch(number: int, random: np.random.Generator) -> Batch:
    texts = [
        " ".join(
            f"{word:x}." if i % 12 == 11 else f"{word:x}" for i, word in enumerate(random.integers(2**32, size=600))
        )
        for _ in range(8)
    ]
    documents = [stored(f"{number:03d}-{i}", text) for i, text in enumerate(texts)]
    rows = random.normal(size=(sum(len(document.tree.leaves) for document in documents), 64))
    return documents, (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def fill(corpus: Corpus, wanted: list[Batch]) -> str | None:
    """Do what an ingestion does: sweep, pass over what is known, commit batch by batch. Return why it stopped."""
    try:
        corpus.sweep()
        known = set(corpus.documents.versions().values())
        for documents, rows in wanted:
            if documents[0].version not in known:
                corpus.replace(documents, rows)
    except RagError as error:
        return f"{type(error).__name__}: {error}"
    return None


def stop(corpus: Corpus, wanted: list[Batch]) -> dict[str, Any]:
    """Fill the disk until the corpus refuses; say why, and what is left of it."""
    stopped = fill(corpus, wanted)
    return {"stopped": stopped, "documents": len(list(corpus.documents.each()))}


def finish(corpus: Corpus, wanted: list[Batch], uninterrupted: Corpus) -> dict[str, Any]:
    """Fill on, and compare with what an uninterrupted run gives."""
    before = corpus.documents.versions()
    stopped = fill(corpus, wanted)
    fill(uninterrupted, wanted)
    names = [
        node_id(document.version, leaf)
        for documents, _ in wanted
        for document in documents
        for leaf in document.tree.leaves
    ]
    rows = np.concatenate([rows for _, rows in wanted])
    found = corpus.vectors.fetch(names)
    return {
        "stopped": stopped,
        "kept": before.items() <= corpus.documents.versions().items(),
        "equal": corpus.documents.state() == uninterrupted.documents.state(),
        "pending": corpus.documents.pending(),
        "counts": {corpus.documents.leaf_count(), corpus.vectors.count(), corpus.lexical_index.count()} == {len(names)},
        "cosine": float(min(found[name] @ row for name, row in zip(names, rows, strict=True))),
        "unreachable": [
            names[i] for i in range(0, len(names), 20) if corpus.vectors.search(rows[i].tolist(), 1)[0][0] != names[i]
        ],
    }


def main(disk: Path, *, floor: bool) -> None:
    """Fill the disk; with the floor, ask then, and finish with more room."""
    if not floor:
        setattr(index.folder_stores, "check_space", lambda *_: None)  # noqa: B010  # for mypy, it is not ours to set
    wanted = batches(20)
    corpus = open_folder(disk / "full", MANIFEST, create=True)
    seen = stop(corpus, wanted)
    if floor:
        documents, rows = wanted[0]
        seen["hits"] = [
            len(corpus.vectors.search(rows[0].tolist(), 3)),
            len(leaves_with(corpus.lexical_index, documents[0].text, 3)),
        ]
        corpus.close()
        subprocess.run(["mount", "-o", "remount,size=400m", str(disk)], check=True)
        corpus = open_folder(disk / "full", MANIFEST)
        seen["finished"] = finish(corpus, wanted, open_folder(disk / "roomy", MANIFEST, create=True))
    sys.stdout.write(json.dumps(seen))


main(Path(sys.argv[1]), floor=sys.argv[2] == "floor")
