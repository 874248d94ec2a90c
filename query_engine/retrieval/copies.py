"""Find what the corpus holds several times only once, and of editions of one thing the newest first.

Flow: dense and lexical search (`hybrid.py`) -> **here** -> fusion; and again once leaves are scored. Pure but for the
look-up of documents.

Of documents with the same title and text one stands for all: the first by its id among those that may be found, so
that every search for a question shows the same one. Other leaves with the same text are told apart until they are
scored, because their titles and neighbours differ; then the best one stays.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from index.documents.edition import edition
from index.documents.span_tree import node_id, split_node_id
from index.documents.store import DocumentStore, StoredDocument
from query_engine.question.newest import newest_first
from query_engine.schema.hit import LeafHit

Search = Callable[[int], Sequence[tuple[str, float]]]

# Where many leaves are equal, more are asked for: by this factor a step, and up to this factor in all.
WIDER = 4
MOST_TIMES = 16
# Scores of equal leaves in documents with similar names differ by rounding only.
EQUAL_SCORE = 1e-6
# An edition is about something else if its best leaf scores lower than the best of the series by more than this.
NEAR_SCORE = 0.1


def search_distinct(
    search: Search, top_k: int, documents: DocumentStore, allowed: Collection[str] | None
) -> dict[str, float]:
    """Return the best leaves of a search, best first, until `top_k` different texts are among them.

    Args:
        search: number of leaves -> (node id, score), best first.
        top_k: how many different texts are wanted.
        documents: hold the leaves.
        allowed: document versions that may be found, None meaning all.
    """
    asked = top_k
    while True:
        hits = search(asked)
        found, enough = _first_texts(_of_originals(hits, documents, allowed), top_k, documents)
        if enough or len(hits) < asked or asked >= MOST_TIMES * top_k:
            return found
        asked *= WIDER


def without_repeats(hits: Sequence[LeafHit], documents: Mapping[str, StoredDocument]) -> list[LeafHit]:
    """Return the hits, best first, with each text once: its best leaf.

    Among equally good leaves, one of a document already shown is taken, so that passages stay whole.
    """
    by_text: dict[str, list[LeafHit]] = {}
    for hit in hits:
        by_text.setdefault(_text(hit.node_id, documents) or hit.node_id, []).append(hit)
    shown: set[str] = set()
    kept = []
    for same in by_text.values():
        equal = [hit for hit in same if same[0].score - hit.score <= EQUAL_SCORE]
        best = next((hit for hit in equal if split_node_id(hit.node_id)[0] in shown), same[0])
        shown.add(split_node_id(best.node_id)[0])
        kept.append(best)
    return kept


def editions_in_order(question: str, hits: Sequence[LeafHit], documents: Mapping[str, StoredDocument]) -> list[LeafHit]:
    """Return the hits, best first, the best leaves of a series' editions in the order in which these are to be read.

    They change places and scores, so that scores still fall.
    """
    best: dict[str, int] = {}
    by_series: dict[str, list[str]] = {}
    for place, hit in enumerate(hits):
        best.setdefault(split_node_id(hit.node_id)[0], place)
    held = ((version, documents[version]) for version in best if version in documents)
    editions = {version: edition(one.title, one.doc_id, one.metadata) for version, one in held}
    for version, found in editions.items():
        for series in found.marks:
            by_series.setdefault(series, []).append(version)
    ordered, moved = list(hits), set[str]()
    for versions in by_series.values():
        least = hits[best[versions[0]]].score - NEAR_SCORE
        near = [version for version in versions if hits[best[version]].score >= least and version not in moved]
        near = [one for one in near if any(editions[one].is_beside(editions[other]) for other in near)]
        for version, first in zip(near, newest_first(question, near, editions.__getitem__), strict=True):
            ordered[best[version]] = replace(hits[best[first]], score=hits[best[version]].score)
        moved.update(near)
    return ordered


def _of_originals(
    hits: Sequence[tuple[str, float]], documents: DocumentStore, allowed: Collection[str] | None
) -> dict[str, float]:
    """Return the hits with each leaf of a copy under the name that it has in the document that stands for it."""
    originals = documents.copies.originals((split_node_id(name)[0] for name, _ in hits), allowed)
    if not originals:
        return dict(hits)
    trees = {
        version: document.tree.spans
        for version, document in documents.get_versions({*originals, *originals.values()}).items()
    }
    found: dict[str, float] = {}
    for name, score in hits:
        version, position = split_node_id(name)
        original = originals.get(version, version)
        # Another release may have cut the same text in other places.
        if original != version and trees.get(original) == trees.get(version, ()):
            name = node_id(original, position)  # noqa: PLW2901  # the same leaf
        found.setdefault(name, score)
    return found


def _first_texts(found: Mapping[str, float], top_k: int, documents: DocumentStore) -> tuple[dict[str, float], bool]:
    """Return the first leaves that hold at most `top_k` different texts, and whether they hold so many."""
    held = documents.get_versions({split_node_id(name)[0] for name in found})
    texts: set[str] = set()
    first: dict[str, float] = {}
    for name, score in found.items():
        text = _text(name, held) or name
        if text not in texts and len(texts) == top_k:
            break
        texts.add(text)
        first[name] = score
    return first, len(texts) == top_k


def _text(name: str, documents: Mapping[str, StoredDocument]) -> str:
    """Return the text of a leaf, without space around it; empty for one whose document is gone meanwhile."""
    version, position = split_node_id(name)
    document = documents.get(version)
    if document is None or position >= len(document.tree):
        return ""
    span = document.tree[position]
    return document.text[span.start : span.end].strip()
