"""Choose which leaves are read, and merge those that belong together: the rule of merging, without I/O.

Flow: leaves, best first -> **here** (`neighbours.py` joins) -> `retriever.py`. Pure.
"""

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from index.documents.atoms import stop_before
from index.documents.span_tree import split_node_id
from index.documents.store import StoredDocument
from query_engine.retrieval.merging.group import Group
from query_engine.retrieval.merging.neighbours import join_neighbours
from query_engine.schema.hit import LeafHit
from settings import RetrievalSettings

logger = logging.getLogger(__name__)


def choose_passages(
    hits: Sequence[LeafHit], documents: Mapping[str, StoredDocument], options: RetrievalSettings
) -> list[Group]:
    """Choose what to read by the evidence: fill the budget with leaves, best first, then merge what belongs together.

    Every leaf carries its evidence, also one that no search found and that stands between two. Filling the budget
    by evidence therefore decides what text between two matches is worth its length: it is read when it is worth more
    than the leaf it would push out, and only then. What was chosen and stands side by side is joined (`neighbours.py`).

    Args:
        hits: leaves, best first.
        documents: by version; a hit of an unknown document is dropped (it is being replaced or swept).
        options: `top_k`, `budget_chars`, `max_per_document`, and `merge` (off: leaves only).

    Returns:
        Groups that overlap nowhere, best first, at most `top_k`, together at most `budget_chars` long; of a first one
        that is longer, the part with its best leaf.
    """
    leaves = leaves_of(hits, documents)
    if not options.merge:
        leaves = [leaf for leaf in leaves if leaf.hits[0].found]
    full: dict[str, set[tuple[int, int]]] = {}
    while True:
        groups = _choose([leaf for leaf in leaves if _may_be_read(leaf, full)], options)
        kept = capped(groups, options.max_per_document)
        if len(kept) == len(groups):
            return groups[: options.top_k]
        # A document that has its passages gets no others; what they took of the budget goes to the next leaves.
        taken = Counter(group.document.version for group in groups)
        for version in taken - Counter(group.document.version for group in kept):
            full[version] = {(group.start, group.end) for group in kept if group.document.version == version}


def _choose(leaves: Sequence[Group], options: RetrievalSettings) -> list[Group]:
    """Return the passages that fill the budget, best first."""
    chosen = [replace(leaf, ranks=[rank]) for rank, leaf in enumerate(within_budget(leaves, options.budget_chars))]
    if options.merge:
        chosen = join_neighbours(chosen, options.budget_chars)
    return sorted(chosen, key=lambda group: group.ranks[0])


def _may_be_read(leaf: Group, full: Mapping[str, set[tuple[int, int]]]) -> bool:
    spans = full.get(leaf.document.version)
    return spans is None or any(start <= leaf.start and leaf.end <= end for start, end in spans)


def leaves_of(hits: Sequence[LeafHit], documents: Mapping[str, StoredDocument]) -> list[Group]:
    """Return each hit as a group, in the same order; those of unknown documents are left out and logged."""
    groups = []
    lost = 0
    for rank, hit in enumerate(hits):
        version, position = split_node_id(hit.node_id)
        document = documents.get(version)
        if document is None or position >= len(document.tree):
            lost += 1
            continue
        span = document.tree[position]
        groups.append(Group(document, position, span.start, span.end, [hit], [rank], hit.score))
    if lost:
        logger.info("%d of %d hits belong to documents that are being replaced; they are left out", lost, len(hits))
    return groups


def within_budget(groups: Sequence[Group], budget_chars: int) -> list[Group]:
    """Return the first groups that fit, up to the first one that does not; something is always returned."""
    if groups and groups[0].chars > budget_chars:
        return [_shortened(groups[0], budget_chars)]
    room = budget_chars
    for count, group in enumerate(groups):
        room -= group.chars
        if room < 0:
            return list(groups[:count])
    return list(groups)


def left_out(leaves: Sequence[Group], groups: Sequence[Group]) -> list[Group]:
    """Return the leaves that a search found and of which no group holds anything, in the same order."""
    spans: dict[str, list[tuple[int, int]]] = {}
    for group in groups:
        spans.setdefault(group.document.version, []).append((group.start, group.end))
    return [
        leaf
        for leaf in leaves
        if leaf.hits[0].found
        and not any(start < leaf.end and leaf.start < end for start, end in spans.get(leaf.document.version, ()))
    ]


def _shortened(group: Group, budget_chars: int) -> Group:
    """Return the part of a group that the budget holds, from its best leaf on."""
    leaf = group.document.tree[split_node_id(group.hits[0].node_id)[1]]
    start, end = leaf.start, group.end
    if end - start > budget_chars:
        end = stop_before(group.document.text, start, start + budget_chars)
    return replace(group, start=start, end=start + len(group.document.text[start:end].rstrip()))


def capped(groups: Sequence[Group], max_per_document: int | None) -> list[Group]:
    """Return the first groups of each document."""
    taken: Counter[str] = Counter()
    kept = []
    for group in groups:
        taken[group.document.version] += 1
        if max_per_document is None or taken[group.document.version] <= max_per_document:
            kept.append(group)
    return kept
