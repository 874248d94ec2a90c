"""Look at a corpus from outside: everything that its stores hold, and whether they agree.

Runs in a separate process: a damaged store may end it.
"""

import hashlib
import pickle
import random
import re
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import tantivy
from llama_index.core.schema import QueryBundle

from index.corpus import Corpus
from index.documents.span_tree import node_id, split_node_id
from index.folder_stores import open_folder
from query_engine.retrieval.hybrid import LeafRetriever
from query_engine.retrieval.merging.retriever import MergingRetriever
from settings import RetrievalSettings
from tests.fakes.corpora import MANIFEST
from tests.fakes.embedding import WordHashEmbedding

ASKED = 12
MIN_COSINE = 0.999
# A store that lost a file of its graph misses most of its vectors; one that is whole misses one in some thousands.
MAX_LOST = 0.01


@dataclass(slots=True)
class View:
    """What a corpus holds.

    Attributes:
        versions: of the visible documents, by doc_id.
        state: set-hash of them.
        texts: hash of each visible document's text.
        leaves: node ids that the visible documents should have in vectors and words.
        words: node ids in the word index.
        vectors: node id -> vector.
        reachable: node ids that a search for all neighbours finds.
        parents: version -> bytes of its parents' vectors.
        ledger: what is noted of each source.
        pending: versions that wait to be swept.
        shown_orphans: versions that the derived stores hold, no document has, and questions would see all the same.
        unanswered: documents that were asked for by their own word, and neither they nor copies of them were found.
    """

    versions: dict[str, str] = field(default_factory=dict)
    state: str = ""
    texts: dict[str, str] = field(default_factory=dict)
    leaves: set[str] = field(default_factory=set)
    words: list[str] = field(default_factory=list)
    vectors: dict[str, npt.NDArray[np.float32]] = field(default_factory=dict)
    reachable: set[str] = field(default_factory=set)
    parents: dict[str, bytes] = field(default_factory=dict)
    ledger: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    pending: list[str] = field(default_factory=list)
    shown_orphans: list[str] = field(default_factory=list)
    unanswered: list[str] = field(default_factory=list)

    def faults(self) -> list[str]:
        """Say what no crash may cause: a visible document that is not whole, or a hit that nobody owns."""
        found = {
            "leaves without words": self.leaves - set(self.words),
            "leaves without vectors": self.leaves - self.vectors.keys(),
            "vectors out of reach": self.out_of_reach if len(self.out_of_reach) > MAX_LOST * len(self.vectors) else (),
            "leaves twice in the words": {name for name, n in Counter(self.words).items() if n > 1} & self.leaves,
            "versions shown without a document": set(self.shown_orphans),
            "documents not found by their word": set(self.unanswered),
            "visible documents without parents' vectors": set(self.versions.values()) - self.parents.keys(),
        }
        return [f"{len(names)} {what}, such as {min(names)}" for what, names in found.items() if names]

    @property
    def out_of_reach(self) -> set[str]:
        """Vectors that a search for all neighbours does not find. A graph of neighbours may miss a few at any time."""
        return self.vectors.keys() - self.reachable

    def leftovers(self) -> list[str]:
        """Say what may stand after a crash, and not after a whole run."""
        found = {
            "words of no document": set(self.words) - self.leaves,
            "vectors of no document": self.vectors.keys() - self.leaves,
            "versions pending": set(self.pending),
        }
        return [f"{len(names)} {what}, such as {min(names)}" for what, names in found.items() if names]

    def differences(self, other: "View") -> list[str]:
        """Say in what this differs from another corpus."""
        found = [
            f"{what} differ: {_apart(mine, its)}"
            for what, mine, its in (
                ("documents", self.versions, other.versions),
                ("texts", self.texts, other.texts),
                ("ledgers", self.ledger, other.ledger),
                ("parents' vectors", self.parents, other.parents),
                ("words", dict.fromkeys(self.words), dict.fromkeys(other.words)),
                ("vectors", dict.fromkeys(self.vectors), dict.fromkeys(other.vectors)),
            )
            if mine != its
        ]
        if self.state != other.state:
            found.append(f"states differ: {self.state} and {other.state}")
        both = sorted(self.vectors.keys() & other.vectors.keys())
        if both:
            mine, its = (np.stack([view.vectors[name] for name in both]) for view in (self, other))
            cosines = (mine * its).sum(1) / np.linalg.norm(mine, axis=1) / np.linalg.norm(its, axis=1)
            if cosines.min() < MIN_COSINE:
                found.append(f"vectors of equal leaves differ: cosine {cosines.min():.4f}")
        return found


def look(folder: Path, files: Path, answer: Path, seed: int) -> None:
    """Write the pickled View of the corpus in `folder` to `answer`."""
    with closing(open_folder(folder, MANIFEST)) as corpus:
        answer.write_bytes(pickle.dumps(view_of(corpus, files, random.Random(seed))))


def view_of(corpus: Corpus, files: Path, dice: random.Random) -> View:
    """Look at an open corpus, whose documents come from `files`; `dice` chooses those that are asked for."""
    documents = list(corpus.documents.each())
    ids = corpus.vectors.raw.get(include=["embeddings"])
    vectors = dict(zip(ids["ids"], np.asarray(ids["embeddings"], np.float32), strict=True))
    searcher = corpus.lexical_index._index.searcher()
    hits = searcher.search(tantivy.Query.all_query(), limit=max(1, searcher.num_docs)).hits
    words = sorted(str(searcher.doc(address)["node_id"][0]) for _, address in hits)
    versions = {document.doc_id: document.version for document in documents}
    held = {split_node_id(name)[0] for name in [*vectors, *words]}
    orphans = held - set(versions.values())
    nearest = corpus.vectors.search([1.0] * MANIFEST.identity.dimension, len(vectors)) if vectors else []
    return View(
        versions=versions,
        state=corpus.documents.state(),
        texts={document.doc_id: hashlib.sha256(document.text.encode()).hexdigest() for document in documents},
        leaves={node_id(document.version, leaf) for document in documents for leaf in document.tree.leaves},
        words=words,
        vectors=vectors,
        reachable={name for name, _ in nearest},
        parents={name: rows.tobytes() for name, rows in corpus.documents.parent_vectors(versions.values()).items()},
        ledger=_ledger(corpus, files),
        pending=corpus.documents.pending(),
        shown_orphans=sorted(corpus.documents.get_versions(orphans)),
        unanswered=_unanswered(corpus, dice.sample(documents, min(ASKED, len(documents)))),
    )


def _unanswered(corpus: Corpus, documents: list[Any]) -> list[str]:
    options = RetrievalSettings(mode="lexical")
    retriever = MergingRetriever(corpus, LeafRetriever(corpus, WordHashEmbedding(), options), options)
    missed = []
    for document in documents:
        nodes = retriever.retrieve(QueryBundle(re.findall(r"canary\w+", document.text)[0]))
        # Until the file of the old name is pruned, a renamed document is there twice, and a search shows one of them.
        found = map(corpus.documents.get, {node.metadata["doc_id"] for node in nodes})
        if document.text not in {one.text for one in found if one}:
            missed.append(document.doc_id)
    return missed


def _ledger(corpus: Corpus, root: Path) -> dict[str, tuple[Any, ...]]:
    return {
        note.source: (note.file, note.digest, str(note.options), note.failures)
        for note in corpus.ledger.under(str(root))
    }


def _apart(mine: dict[str, Any], its: dict[str, Any]) -> str:
    names = sorted(name for name in mine.keys() | its.keys() if mine.get(name, its) != its.get(name, mine))
    return f"{len(names)}, such as {', '.join(names[:3])}"
