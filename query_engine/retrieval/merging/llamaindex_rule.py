"""LlamaIndex's own merging rule, for whoever wants to compare.

Flow: leaves -> **here**, when `merge_rule` is `stock` -> passages. A parent takes the place of its children when more
than half of them matched, and gets the mean of their scores; level by level, without a budget. The rule is that of
`llama_index.core.retrievers.AutoMergingRetriever`, with `simple_ratio_thresh` 0.5.
"""

from collections.abc import Sequence
from statistics import fmean

from index.documents.span_tree import NO_PARENT
from query_engine.retrieval.merging.group import Group

RATIO = 0.5


def merge_by_stock_rule(leaves: Sequence[Group]) -> list[Group]:
    """Return leaves, and the parents that took the place of some of them, in no particular order."""
    groups = [group for group in leaves if group.hits[0].ranks]
    while True:
        families: dict[tuple[str, int], list[Group]] = {}
        for group in groups:
            parent = group.document.tree[group.node].parent
            if parent != NO_PARENT:
                families.setdefault((group.document.version, parent), []).append(group)
        merged = [
            _parent(parent, family)
            for (_, parent), family in families.items()
            if len(family) > RATIO * len(family[0].document.tree.children[parent])
        ]
        if not merged:
            return groups
        gone = {id(member) for _, members in merged for member in members}
        groups = [group for group in groups if id(group) not in gone] + [parent for parent, _ in merged]


def _parent(node: int, family: Sequence[Group]) -> tuple[Group, Sequence[Group]]:
    document = family[0].document
    span, children = document.tree[node], len(document.tree.children[node])
    hits = sorted((hit for member in family for hit in member.hits), key=lambda hit: -hit.score)
    ranks = sorted(rank for member in family for rank in member.ranks)
    merged = f"{len(family)} of {children} children matched"
    score = fmean(member.score for member in family)
    return Group(document, node, span.start, span.end, hits, ranks, score, merged), family
