"""Climb from the leaves that matched to the passages worth reading, within a budget of characters.

Flow: leaf search -> **here** -> gate and synthesizer. `merge_leaves` is the whole rule and is pure;
`MergingRetriever` adds the look-up of the documents.

A subclass of LlamaIndex's `AutoMergingRetriever`, whose own rule has no budget, scores a parent by the mean of its
children (so a merged best hit can fall behind a mediocre leaf), fetches parents one by one, fails when one is missing
and blocks the event loop (ADR 0003).
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from llama_index.core.retrievers import AutoMergingRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.core.storage.storage_context import StorageContext

from index.corpus import Corpus
from index.documents import StoredDocument
from index.nodes import LEAF, LEVEL_NAMES, Span, chunk_id, node_id, split_node_id
from query_engine.leaves import LeafHit, LeafRetriever
from settings import RetrievalSettings


@dataclass(slots=True)
class Group:
    """A stretch of one document that was hit: a leaf, joined neighbours, or the parent of several hits.

    Attributes:
        node: position of the tree node it is; of joined neighbours the first.
        hits: the leaves that were hit inside it, best first.
        merged: why it is more than one leaf, for people; empty for a leaf.
    """

    document: StoredDocument
    node: int
    start: int
    end: int
    hits: list[LeafHit] = field(default_factory=list)
    merged: str = ""

    @property
    def chars(self) -> int:
        """Length of the text."""
        return self.end - self.start

    @property
    def score(self) -> float:
        """The best hit's score: merging must never demote the leaf that earned the place."""
        return self.hits[0].score

    @property
    def weakest(self) -> float:
        """The last hit's score."""
        return self.hits[-1].score


def merge_leaves(
    hits: Sequence[LeafHit], documents: Mapping[str, StoredDocument], options: RetrievalSettings
) -> list[Group]:
    """Choose what to read: fill the budget with leaves, merge them, keep the best passages, grow them into the rest.

    A parent takes the place of its children when at least `merge_ratio` of its text was hit and its other text fits
    into the budget, if need be in place of passages that score below every one of those children. So merging never
    pushes better evidence out. Neighbours join. Room that is left at the end goes to the parents of the best passages.

    Args:
        hits: leaves, best first.
        documents: by version; a hit of an unknown document is dropped (it is being replaced or swept).
        options: `top_k`, `budget_chars`, `merge_ratio`, and `merge` (off: leaves only).

    Returns:
        Groups that overlap nowhere, best first, at most `top_k`, together at most `budget_chars` long; a first leaf
        longer than the budget is returned alone.
    """
    groups: list[Group] = []
    room = options.budget_chars
    for hit in hits:
        version, position = split_node_id(hit.node_id)
        document = documents.get(version)
        if document is None:
            continue
        span = document.tree[position]
        if groups and span.end - span.start > room:
            break
        groups.append(Group(document, position, span.start, span.end, [hit]))
        room -= span.end - span.start
    if options.merge:
        groups = _join_neighbours(_raise_to_parents(groups, options), options.budget_chars)
    best = sorted(groups, key=lambda group: -group.score)[: options.top_k]
    return _grow(best, options.budget_chars) if options.merge else best


def _raise_to_parents(groups: list[Group], options: RetrievalSettings) -> list[Group]:
    """Replace children by parents, level by level, best groups first."""
    for level in range(LEAF - 1, -1, -1):
        families: dict[tuple[str, int], list[Group]] = {}
        for group in groups:
            parent = next((a for a in group.document.tree.ancestors(group.node) if _level(group, a) == level), None)
            if parent is not None:
                families.setdefault((group.document.version, parent), []).append(group)
        for (_, parent), family in families.items():
            if len(family) > 1 and all(any(member is group for group in groups) for member in family):
                groups = _try_parent(groups, family, parent, options)
    return groups


def _try_parent(groups: list[Group], family: list[Group], parent: int, options: RetrievalSettings) -> list[Group]:
    document = family[0].document
    span: Span = document.tree[parent]
    hit_chars = sum(member.chars for member in family)
    if hit_chars < options.merge_ratio * (span.end - span.start):
        return groups
    merged = _united(family, parent, span.start, span.end)
    share = round(100 * hit_chars / merged.chars)
    merged.merged = (
        f"{len(merged.hits)} leaves of this {LEVEL_NAMES[span.level]} passage matched, {share} % of its text"
    )
    others = [group for group in groups if group not in family]
    while sum(group.chars for group in others) + merged.chars > options.budget_chars:
        last = min(others, key=lambda group: group.score, default=None)
        if last is None or last.score >= merged.weakest:
            return groups
        others.remove(last)
    return [*others, merged]


def _join_neighbours(groups: list[Group], budget_chars: int) -> list[Group]:
    """Join groups that follow each other in their document with nothing but space between them."""
    joined: list[Group] = []
    room = budget_chars - sum(group.chars for group in groups)
    for group in sorted(groups, key=lambda group: (group.document.doc_id, group.start)):
        before = joined[-1] if joined and joined[-1].document is group.document else None
        between = group.document.text[before.end : group.start] if before else ""
        if before and not between.strip() and len(between) <= room:
            joined[-1] = _united([before, group], before.node, before.start, group.end)
            joined[-1].merged = f"{len(joined[-1].hits)} matching leaves follow each other"
            room -= len(between)
        else:
            joined.append(group)
    return joined


def _grow(groups: list[Group], budget_chars: int) -> list[Group]:
    """Replace groups by their parents while there is room: to middles first, then to roots, best groups first."""
    for level in range(LEAF - 1, -1, -1):
        for group in list(groups):
            parent = next((a for a in group.document.tree.ancestors(group.node) if _level(group, a) == level), None)
            if parent is None or not any(other is group for other in groups):
                continue
            span = group.document.tree[parent]
            # Joined neighbours may reach over the parent's edge, and other groups may lie inside it.
            family = [other for other in groups if other.document is group.document and _overlap(other, span)]
            start = min(span.start, *(other.start for other in family), group.start)
            end = max(span.end, *(other.end for other in family), group.end)
            others = [other for other in groups if other not in family]
            if end - start + sum(other.chars for other in others) > budget_chars:
                continue
            grown = _united(family, parent, start, end)
            grown.merged = f"there was room for the whole {LEVEL_NAMES[level]} passage"
            groups = sorted([*others, grown], key=lambda other: -other.score)
    return groups


def _overlap(group: Group, span: Span) -> bool:
    return group.start < span.end and span.start < group.end


def _united(family: list[Group], node: int, start: int, end: int) -> Group:
    hits = sorted((hit for member in family for hit in member.hits), key=lambda hit: -hit.score)
    return Group(family[0].document, node, start, end, hits)


def _level(group: Group, position: int) -> int:
    return group.document.tree[position].level


class MergingRetriever(AutoMergingRetriever):
    """Passages for a question: leaves found, merged within the budget, best first.

    Its nodes carry the passage's fields as metadata; `Passage.of` reads them.

    Args:
        corpus: where the leaves come from.
        leaves: the search that finds them.
        options: `top_k`, `budget_chars`, `merge`, `merge_ratio`.
    """

    def __init__(self, corpus: Corpus, leaves: LeafRetriever, options: RetrievalSettings) -> None:
        super().__init__(
            leaves,  # type: ignore[arg-type]  # any retriever of leaves serves
            StorageContext.from_defaults(docstore=corpus.docstore, vector_store=corpus.vectors),
            simple_ratio_thresh=options.merge_ratio,
        )
        self._leaves = leaves
        self._documents = corpus.documents
        self._options = options

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """Return at most `top_k` passages within `budget_chars`, best first; `[]` if nothing was found."""
        hits = self._leaves.search(query_bundle)
        documents = self._documents.get_versions(split_node_id(hit.node_id)[0] for hit in hits)
        return [_to_node(group) for group in merge_leaves(hits, documents, self._options)]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        # The searches are synchronous: one thread hop keeps the event loop free.
        return await asyncio.to_thread(self._retrieve, query_bundle)


def _to_node(group: Group) -> NodeWithScore:
    document = group.document
    tree = document.tree
    joined = group.end > tree[group.node].end
    scores: dict[str, float] = {"fused": group.score}
    for hit in group.hits:
        for name, value in hit.scores.items():
            scores[name] = max(value, scores.get(name, value))
    metadata = {
        "chunk_id": chunk_id(document.doc_id, tree.ordinal_at(group.start)),
        "doc_id": document.doc_id,
        "title": document.title,
        "url": document.url,
        "level": "span" if joined else LEVEL_NAMES[tree[group.node].level],
        "pages": document.pages_of(group.start, group.end),
        "scores": scores,
        "leaves": tuple(hit.node_id for hit in group.hits),
        "merged": group.merged,
    }
    node = TextNode(
        id_=node_id(document.version, group.node),
        text=document.text[group.start : group.end],
        start_char_idx=group.start,
        end_char_idx=group.end,
        metadata=metadata,
    )
    return NodeWithScore(node=node, score=group.score)
