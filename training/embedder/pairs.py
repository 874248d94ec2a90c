"""Find the leaves that answer questions.

Flow: documents, `training/questions.py` -> **here** -> pairs -> `negatives.py`, `measure.py`. It is the leaf of a
question's document that holds the reference text; without a reference text the leaf nearest to the question among those
that hold the answer.
"""

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

import numpy as np
import numpy.typing as npt

from eval.cases import Case
from eval.metrics import contains, file_name, shingle_recall
from index.documents.span_tree import node_id
from index.documents.splitter import TreeSplitter
from index.documents.store import StoredDocument
from training.embedder.rows import Leaf, Pair

Vectors = npt.NDArray[np.float32]

# Of the reference text's shingles, so many have to stand in one leaf: a leaf may cut it.
MIN_REFERENCE_SHARE = 0.5


@dataclass(slots=True)
class Sides:
    """Leaves of documents that are learnt from, and of those that are held out for measuring."""

    learnt: list[Leaf] = field(default_factory=list)
    held_out: list[Leaf] = field(default_factory=list)
    documents: int = 0
    documents_held_out: int = 0


def divide(documents: Iterable[StoredDocument], splitter: TreeSplitter, share: float, seed: int) -> Sides:
    """Hold out about a `share` of the documents, chosen by a hash of their text, so that copies stand on one side.

    Args:
        documents: of the corpus.
        splitter: says what is embedded for a leaf.
        share: in (0, 1).
        seed: chooses others.
    """
    sides = Sides()
    for document in documents:
        drawn = int.from_bytes(sha256(f"{seed}:{document.text}".encode()).digest()[:8]) / 2**64
        if drawn < share:
            sides.documents_held_out += 1
            sides.held_out += leaves_of(document, splitter)
        else:
            sides.documents += 1
            sides.learnt += leaves_of(document, splitter)
    return sides


def leaves_of(document: StoredDocument, splitter: TreeSplitter) -> list[Leaf]:
    """Return a document's leaves in their order."""
    leaves = []
    for position, embedded in zip(document.tree.leaves, splitter.leaf_texts(document), strict=True):
        start, end = document.tree[position].start, document.tree[position].end
        name, text = node_id(document.version, position), document.text[start:end]
        leaves.append(Leaf(name, document.doc_id, embedded, text, document.pages_of(start, end)))
    return leaves


def pairs_of_questions(
    cases: Sequence[Case], leaves: Sequence[Leaf], vectors: Vectors, embed: Callable[[str], Vectors]
) -> list[Pair]:
    """Return the pairs of those questions whose passage is found among the leaves.

    Args:
        cases: questions; those without relevant documents, or without reference text and answer, are left out.
        leaves: where to look.
        vectors: of the leaves, shape (leaves, dimension), unit length.
        embed: gives a question's vector, shape (dimension,).
    """
    places = defaultdict[str, list[int]](list)
    for place, leaf in enumerate(leaves):
        places[file_name(leaf.doc_id)].append(place)
    pairs = []
    for case in cases:
        named = [*case.relevant_docs, *(name for name, gain in case.relevance.items() if gain > 0)]
        candidates = [place for name in dict.fromkeys(named) for place in places.get(file_name(name), [])]
        best = _best(case, candidates, leaves, vectors, embed)
        if best is not None:
            pairs.append(Pair(case, leaves[best]))
    return pairs


def _best(
    case: Case, places: Sequence[int], leaves: Sequence[Leaf], vectors: Vectors, embed: Callable[[str], Vectors]
) -> int | None:
    if not places:
        return None
    if case.references:
        shares = [shingle_recall(leaves[place].text, case.references[:1]) for place in places]
        best = int(np.argmax(shares))
        return places[best] if shares[best] >= MIN_REFERENCE_SHARE else None
    answer = case.answer
    holding = [place for place in places if answer and contains(leaves[place].text, answer)]
    if not holding:
        return None
    return holding[int(np.argmax(vectors[holding] @ embed(case.question)))]


def searched(leaves: Sequence[Leaf], pairs: Sequence[Pair], count: int, seed: int) -> list[int]:
    """Return the places of the leaves to search, in order: all of the pairs' documents, and others up to `count`."""
    named = {pair.leaf.doc_id for pair in pairs}
    inside = [place for place, leaf in enumerate(leaves) if leaf.doc_id in named]
    others = [place for place, leaf in enumerate(leaves) if leaf.doc_id not in named]
    random.Random(seed).shuffle(others)  # noqa: S311
    return sorted([*inside, *others[: max(0, count - len(inside))]])
