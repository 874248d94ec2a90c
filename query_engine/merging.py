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

# A merged passage stands where its best leaf stood, so it moves everything between its leaves back in the list. It may
# move as much text as this many leaves hold: then a reader of the first 2,000 characters loses next to nothing.
MAX_DISPLACED_LEAVES = 2


@dataclass(slots=True)
class Group:
    """A stretch of one document that was hit: a leaf, joined neighbours, or the parent of several hits.

    Attributes:
        node: position of the tree node it is; of joined neighbours the first.
        hits: the leaves that were hit inside it, best first.
        ranks: the places of those leaves in the ranking, from 0, rising.
        merged: why it is more than one leaf, for people; empty for a leaf.
    """

    document: StoredDocument
    node: int
    start: int
    end: int
    hits: list[LeafHit] = field(default_factory=list)
    ranks: list[int] = field(default_factory=list)
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
    def displaced_leaves(self) -> float:
        """How many leaves' worth of text it moves back: better leaves of others, and its own text that was not hit."""
        between = self.ranks[-1] - self.ranks[0] + 1 - len(self.ranks)
        hit_chars = sum(span.end - span.start for span in map(self._span, self.hits))
        return between + (self.chars - hit_chars) * len(self.hits) / hit_chars

    def _span(self, hit: LeafHit) -> Span:
        return self.document.tree[split_node_id(hit.node_id)[1]]


def merge_leaves(
    hits: Sequence[LeafHit], documents: Mapping[str, StoredDocument], options: RetrievalSettings
) -> list[Group]:
    """Choose what to read: fill the budget with leaves, best first, then merge what belongs together.

    A parent takes the place of its children when at least `merge_ratio` of its text was hit, neighbours join when
    nothing but space lies between them; either only within the budget and as long as the passage does not move more
    than `MAX_DISPLACED_LEAVES` leaves of better evidence back.

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
        groups.append(Group(document, position, span.start, span.end, [hit], [len(groups)]))
        room -= span.end - span.start
    if options.merge:
        for level in range(LEAF - 1, -1, -1):
            groups = _raise_to_parents(groups, level, options)
        groups = _join_neighbours(groups, options.budget_chars)
    return sorted(groups, key=lambda group: -group.score)[: options.top_k]


def _raise_to_parents(groups: list[Group], level: int, options: RetrievalSettings) -> list[Group]:
    """Replace groups by their common parents on one level, where that is worth it."""
    families: dict[tuple[str, int], list[Group]] = {}
    for group in groups:
        tree = group.document.tree
        parent = next((node for node in tree.ancestors(group.node) if tree[node].level == level), None)
        if parent is not None:
            families.setdefault((group.document.version, parent), []).append(group)
    room = options.budget_chars - sum(group.chars for group in groups)
    for (_, parent), family in families.items():
        span = family[0].document.tree[parent]
        merged = _united(family, parent, span.start, span.end)
        hit_chars = sum(member.chars for member in family)
        extra = merged.chars - hit_chars
        worth = hit_chars >= options.merge_ratio * merged.chars and merged.displaced_leaves <= MAX_DISPLACED_LEAVES
        if len(family) > 1 and worth and extra <= room:
            share = round(100 * hit_chars / merged.chars)
            name = LEVEL_NAMES[level]
            merged.merged = f"{len(merged.hits)} leaves of this {name} passage matched, {share} % of its text"
            groups = [group for group in groups if group not in family] + [merged]
            room -= extra
    return groups


def _join_neighbours(groups: list[Group], budget_chars: int) -> list[Group]:
    """Join groups that follow each other in their document with nothing but space between them."""
    joined: list[Group] = []
    room = budget_chars - sum(group.chars for group in groups)
    for group in sorted(groups, key=lambda group: (group.document.doc_id, group.start)):
        before = joined[-1] if joined and joined[-1].document is group.document else None
        between = group.document.text[before.end : group.start] if before else ""
        if before and not between.strip() and len(between) <= room:
            union = _united([before, group], before.node, before.start, group.end)
            if union.displaced_leaves <= MAX_DISPLACED_LEAVES:
                union.merged = f"{len(union.hits)} matching leaves follow each other"
                joined[-1] = union
                room -= len(between)
                continue
        joined.append(group)
    return joined


def _united(family: list[Group], node: int, start: int, end: int) -> Group:
    hits = sorted((hit for member in family for hit in member.hits), key=lambda hit: -hit.score)
    ranks = sorted(rank for member in family for rank in member.ranks)
    return Group(family[0].document, node, start, end, hits, ranks)


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
