"""Examine one store of a corpus, in a separate process: a damaged one may kill it.

Flow: `check.py` sends a request on stdin -> **here** -> one line of JSON a check on stdout. Only looks, but that
Chroma and SQLite finish what a crash interrupted when they are opened.
"""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from errors import IndexDamagedError, RagError
from index.documents.integrity import broken_pages, leaf_places, true_totals
from index.documents.span_tree import LEAF, NO_PARENT, node_id, parent_vectors, split_node_id
from index.documents.store import DocumentStore, StoredDocument
from index.documents.tables import Database
from index.documents.totals import recorded_totals
from index.health.check import WHOLE, Check, Name, Repair, Store
from index.layout.locations import Servers
from index.layout.manifest import Manifest
from index.lexical.tantivy_index import LexicalIndex
from index.vectors.hnsw_files import torn_links

# The graph search is approximate, and leads to few of many near-alike leaves; that is quality, not damage. One that
# leads to less than half has lost its links.
LEAST_REACH = 0.5
FIRST = 10
# Cosine from which two vectors are one: Chroma computes with 24 bits.
EQUAL = 1 - 1e-6
# Unit vectors are stored.
LENGTH_TOLERANCE = 1e-3
# Below this, a parent's vector is not the mean of its leaves' vectors as they are now.
SAME_PARENT = 0.99
COMPARED_DOCUMENTS = 50
BATCH = 100

Finding = tuple[str, Repair] | None
Places = Mapping[str, range]
T = TypeVar("T")

if TYPE_CHECKING:
    from index.vectors.chroma import Collection


@dataclass(frozen=True, slots=True)
class Place:
    """Where the corpus is."""

    folder: Path
    servers: Servers

    def documents(self) -> Database:
        """Open its documents."""
        manifest = Manifest.read(self.folder)
        self.servers.check(manifest, self.folder.name)
        return self.servers.open_documents(self.folder, manifest)


def main() -> None:
    """Read the request, examine, print."""
    request = json.loads(sys.stdin.read())
    store: Store = request["store"]
    folder = Path(request["folder"])
    try:
        for check in _EXAMINERS[store](Place(folder, Servers(**request["servers"])), request["sample"]):
            _print(asdict(check))
    except (IndexDamagedError, ValueError) as error:  # stored values that cannot be decoded are damage as well
        finding = error.fact if isinstance(error, IndexDamagedError) else str(error)
        _print(asdict(_check(store, "It can be read.", (finding, WHOLE[store]))))
    except RagError as error:
        _print({"code": error.code, "fact": error.fact, "remedy": error.remedy})


def _print(line: Mapping[str, object]) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def _check(store: Name, question: str, finding: Finding) -> Check:
    if finding is None:
        return Check(store, question, ok=True)
    return Check(store, question, ok=False, finding=finding[0], repair=finding[1])


def _documents(place: Place, _sample: int | None) -> Iterator[Check]:
    try:
        Manifest.read(place.folder)
    except IndexDamagedError as error:
        yield _check("manifest", "It can be read.", (error.fact, Repair.NOTHING))
        return
    yield _check("manifest", "It can be read.", None)
    engine = place.documents()
    broken = broken_pages(engine)
    yield _check("documents", "Its file is sound.", (broken, Repair.NOTHING) if broken else None)
    if broken:
        return
    documents = DocumentStore(engine)
    wrong = [document.doc_id for document in documents.each() if not _fits(document)]
    finding = (f"Passages of {_some(wrong)} do not.", Repair.NOTHING) if wrong else None
    yield _check("documents", "Every passage lies within its text.", finding)
    recorded, true = recorded_totals(engine), true_totals(engine)
    counted = (
        f"{recorded.documents} documents with {recorded.leaves} leaves are recorded (state {recorded.state}); "
        f"there are {true.documents} with {true.leaves} ({true.state})."
    )
    yield _check("documents", "Its totals are true.", (counted, Repair.COUNT) if recorded != true else None)
    pending = documents.pending()
    left = f"Remains of {len(pending)} document versions are not yet swept."
    yield _check("documents", "No ingestion was interrupted.", (left, Repair.SWEEP) if pending else None)


def _words(place: Place, _sample: int | None) -> Iterator[Check]:
    places, pending = _expected(place.documents())
    words = LexicalIndex(place.folder / "words")
    compared = _compare(words.ids(), places, pending, Repair.WORDS)
    yield _check("words", "It holds the leaves of the documents and no others.", compared)


def _vectors(place: Place, sample: int | None) -> Iterator[Check]:
    engine = place.documents()
    places, pending = _expected(engine)
    if places and not (place.servers.chroma_url or (place.folder / "vectors").exists()):
        yield _check("vectors", "They are there.", ("Their folder is gone.", Repair.LEAVES))
        return
    with closing(place.servers.open_vectors(place.folder, Manifest.read(place.folder))) as collection:
        yield _graph_files(place)
        listed = set(collection.ids())
        compared = _compare(listed, places, pending, Repair.LEAVES)
        yield _check("vectors", "It holds the leaves of the documents and no others.", compared)
        names = [node_id(version, position) for version, positions in places.items() for position in positions]
        looked_up = _spread([name for name in names if name in listed], sample)  # those missing have been told
        yield _stored(collection, looked_up)
        yield _reach(collection, looked_up)
        documents = DocumentStore(engine)
        versions = _spread(list(places), COMPARED_DOCUMENTS)
        wrong = [version for part in _parts(versions) for version in _disagreeing(collection, documents, part)]
        finding = (f"Those of {_some(wrong)} do not.", Repair.VECTORS) if wrong else None
        yield _check("vectors", "The leaves' vectors agree with their parents'.", finding)


def _graph_files(place: Place) -> Check:
    torn = torn_links(place.folder / "vectors")
    return _check("vectors", "The files of its graph are whole.", (torn, Repair.VECTORS) if torn else None)


def _stored(collection: "Collection", names: list[str]) -> Check:
    """Read vectors by id: what cannot be read, or is not a unit vector, is damage even if searches succeed."""
    wrong = [name for part in _parts(names) for name in _unsound(collection, part)]
    finding = (f"{len(wrong)} of {len(names)} that were read are lost or spoilt: {_some(wrong)}.", Repair.VECTORS)
    return _check("vectors", "Every leaf's vector can be read by its id.", finding if wrong else None)


def _unsound(collection: "Collection", names: list[str]) -> list[str]:
    stored = collection.fetch(names)
    return [
        name for name in names if name not in stored or not abs(np.linalg.norm(stored[name]) - 1) < LENGTH_TOLERANCE
    ]


def _reach(collection: "Collection", names: list[str]) -> Check:
    """Search for leaves by their own vectors: what is stored and not found is a matter of quality."""
    searched, missed = 0, list[str]()
    for part in _parts(names):
        stored, lost = _searched(collection, part)
        searched += stored
        missed += lost
    reach = 1 - len(missed) / searched if searched else 1.0
    figure = f"The graph leads to {reach:.1%} of {searched} stored leaves"
    figure += f"; not to {_some(missed)}." if missed else "."
    question = "The graph leads to its leaves."
    if reach < LEAST_REACH:
        return Check("vectors", question, ok=False, finding=figure, repair=Repair.VECTORS, share=reach)
    return Check("vectors", question, ok=True, finding=figure, share=reach)


_EXAMINERS: dict[Store, Callable[[Place, int | None], Iterable[Check]]] = {
    "documents": _documents,
    "words": _words,
    "vectors": _vectors,
}


def _expected(engine: Database) -> tuple[dict[str, range], set[str]]:
    return leaf_places(engine), set(DocumentStore(engine).pending())


def _fits(document: StoredDocument) -> bool:
    """Whether a tree is one, over this text, and has leaves."""
    spans = document.tree.spans
    return bool(document.tree.leaves) and all(
        0 <= span.start <= span.end <= len(document.text)
        and NO_PARENT <= span.parent < position
        and 0 <= span.level <= LEAF
        for position, span in enumerate(spans)
    )


def _compare(names: Iterable[str], places: Places, pending: set[str], repair: Repair) -> Finding:
    """Return what is missing and what belongs to no document, by number and sum of positions a version."""
    counts = dict.fromkeys(places, 0)
    sums = dict.fromkeys(places, 0)
    orphans = 0
    for name in names:
        version, position = split_node_id(name)
        if version in places and position in places[version]:
            counts[version] += 1
            sums[version] += position
        elif version not in pending:
            orphans += 1
    wrong = [
        version for version, wanted in places.items() if (counts[version], sums[version]) != (len(wanted), sum(wanted))
    ]
    missing = sum(max(0, len(places[version]) - counts[version]) for version in wrong)
    if not wrong and not orphans:
        return None
    return f"{missing} leaves of {len(wrong)} documents are missing, {orphans} belong to no document.", repair


def _searched(collection: "Collection", names: list[str]) -> tuple[int, list[str]]:
    """Return how many of the leaves are stored, and those of them that are not among the first of their own search."""
    stored = collection.fetch(names)
    kept = [name for name in names if name in stored]
    if not kept:
        return 0, []
    rows = np.stack([stored[name] for name in kept])
    hits = collection.nearest_each(np.where(np.isfinite(rows), rows, 0), FIRST)
    # Leaves of equal text have equal vectors, and count as one.
    found = {name for name, best in zip(kept, hits, strict=True) if best and (best[0][1] > EQUAL or name in dict(best))}
    return len(kept), [name for name in kept if name not in found]


def _disagreeing(collection: "Collection", documents: DocumentStore, versions: list[str]) -> list[str]:
    """Return the documents whose parents' vectors are not the means of their leaves'."""
    wrong = []
    recorded = documents.parent_vectors(versions)
    for version, document in documents.get_versions(versions).items():
        names = [node_id(version, position) for position in document.tree.leaves]
        stored = collection.fetch(names)
        if version not in recorded or len(stored) < len(names):
            continue  # another check tells that leaves are missing
        now = parent_vectors(document.tree, np.stack([stored[name] for name in names]))
        if not bool(np.all(np.sum(now * recorded[version].astype(np.float32), axis=1) >= SAME_PARENT)):
            wrong.append(document.doc_id)
    return wrong


def _spread(values: list[T], count: int | None) -> list[T]:
    if count is None or len(values) <= count:
        return values
    return [values[i * len(values) // count] for i in range(count)]


def _parts(values: list[T]) -> Iterator[list[T]]:
    return (values[start : start + BATCH] for start in range(0, len(values), BATCH))


def _some(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


if __name__ == "__main__":
    main()
