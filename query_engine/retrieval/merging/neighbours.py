"""Join chosen passages that stand side by side, as far as that moves no better one back.

Flow: `retriever.py` has filled the budget -> **here** -> passages. Pure.
"""

from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from operator import attrgetter

from index.documents.span_tree import LEVEL_NAMES, NO_PARENT, split_node_id
from index.documents.store import StoredDocument
from query_engine.retrieval.merging.group import Group

# Joining changes what is read first. The first 2,000 characters must keep every leaf that the ranking
# put there; further down a leaf may come later by this share of what is read before its end.
FIRST_READ_CHARS = 2000
MAX_LATER = 0.1
MOVES = "joining would move better passages back"
NO_ROOM = "the budget has no room for what stands between"


def join_neighbours(leaves: Sequence[Group], budget_chars: int) -> list[Group]:
    """Join leaves that follow each other in their document with nothing but space between them.

    The best leaf chooses first. Each is joined with what stands on both sides of it, or else on one.

    Args:
        leaves: best first; the one at place i has the rank i.
        budget_chars: for all of them and what stands between those that are joined.

    Returns:
        Groups in no particular order.
    """
    row = sorted(leaves, key=attrgetter("document.corpus", "document.doc_id", "start"))
    pairs = [(one, other) for one, other in pairwise(row) if _blank_between(one, other) is not None]
    # By where a passage begins or ends: the leaf before it, or after it.
    leader = {(other.document.version, other.start): one for one, other in pairs}
    follower = {(one.document.version, one.end): other for one, other in pairs}
    part = {leaf.ranks[0]: leaf for leaf in leaves}  # by rank: the passage that the leaf belongs to by now
    latest = [_latest(end) for end in accumulate(leaf.chars for leaf in leaves)]
    room = budget_chars - sum(leaf.chars for leaf in leaves)
    for leaf in leaves:
        own = part[leaf.ranks[0]]
        left = [part[one.ranks[0]] for one in (leader.get((own.document.version, own.start)),) if one]
        right = [part[one.ranks[0]] for one in (follower.get((own.document.version, own.end)),) if one]
        for family in ([*left, own, *right], [*left, own], [own, *right]):
            if len(family) == 1:
                continue
            union = _united(family)
            between = union.chars - sum(member.chars for member in family)
            joined = part | dict.fromkeys(union.ranks, union)
            if between <= room and _come_in_time(_distinct(joined), latest):
                part, room = joined, room - between
                break
    for one, other in pairs:
        before, after = part[one.ranks[0]], part[other.ranks[0]]
        if before is not after:
            before.alone = after.alone = MOVES if other.start - one.end <= room else NO_ROOM
    return _distinct(part)


def _latest(end: int) -> float:
    """Return where a leaf may end at the latest that ended here when all leaves stood in the order of their ranks."""
    return FIRST_READ_CHARS if end <= FIRST_READ_CHARS else (1 + MAX_LATER) * end


def _come_in_time(passages: Sequence[Group], latest: Sequence[float]) -> bool:
    """Say whether no leaf ends later than it may, when the passages are read in the order of their best leaves."""
    read = 0
    for passage in sorted(passages, key=lambda passage: passage.ranks[0]):
        for rank, hit in zip(passage.ranks, passage.hits, strict=True):
            end = passage.document.tree[split_node_id(hit.node_id)[1]].end
            if read + end - passage.start > latest[rank]:
                return False
        read += passage.chars
    return True


def _distinct(part: Mapping[int, Group]) -> list[Group]:
    return list({id(passage): passage for passage in part.values()}.values())


def _blank_between(one: Group, other: Group) -> str | None:
    """Return the space between two groups of one document; None if there is more than space, or another document."""
    if one.document is not other.document:
        return None
    between = one.document.text[one.end : other.start]
    return None if between.strip() else between


def _united(family: Sequence[Group]) -> Group:
    """Return neighbours, in the order of their document, as one group."""
    first, last = family[0], family[-1]
    placed = sorted(
        ((rank, hit) for member in family for rank, hit in zip(member.ranks, member.hits, strict=True)),
        key=lambda place: place[0],
    )
    hits = [hit for _, hit in placed]
    document, start, end = first.document, first.start, last.end
    node = _parent_with_span(document, first.node, start, end)
    matching = sum(hit.found for hit in hits)
    found = f"{matching} matching {'leaf' if matching == 1 else 'leaves'}"
    if matching < len(hits):
        found += f" and {len(hits) - matching} between, worth more than what else the budget would hold,"
    reason = f"{found} follow each other"
    if node is not None:
        reason = f"{found} make up this {LEVEL_NAMES[document.tree[node].level]} passage"
    own = first.node if node is None else node
    return Group(document, own, start, end, hits, [rank for rank, _ in placed], hits[0].score, reason)


def _parent_with_span(document: StoredDocument, node: int, start: int, end: int) -> int | None:
    """Return the ancestor of `node` that is exactly this text, or None."""
    tree = document.tree
    while (node := tree[node].parent) != NO_PARENT:
        if (tree[node].start, tree[node].end) == (start, end):
            return node
    return None
