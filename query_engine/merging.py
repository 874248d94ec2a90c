"""Climb from the leaves that matched to the passages worth reading, within a budget of characters.

Flow: leaves, best first -> **here** -> gate and synthesizer. `choose_passages` is the whole rule and is pure;
`MergingRetriever` adds the look-up of the documents.

A subclass of LlamaIndex's `AutoMergingRetriever`, whose own rule has no budget, scores a parent by the mean of its
children (so a merged best hit can fall behind a mediocre leaf), fetches parents one by one, fails when one is missing
and blocks the event loop (ADR 0003).
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate

from llama_index.core.retrievers import AutoMergingRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.core.storage.storage_context import StorageContext

from index.corpus import Corpus
from index.documents import StoredDocument
from index.nodes import LEVEL_NAMES, NO_PARENT, chunk_id, node_id, split_node_id
from query_engine.hits import LeafHit
from query_engine.leaves import LeafRetriever
from query_engine.passage_groups import Group
from query_engine.query import Query
from query_engine.refining import Refined, Refinement
from query_engine.stock_merging import merge_by_stock_rule
from settings import RetrievalSettings

logger = logging.getLogger(__name__)

# A passage stands where its best leaf stood, so the rest of it overtakes better leaves of others. All joins together
# move none of them back by more than this share of the text before it: whoever reads less than all loses next to
# nothing.
MAX_MOVED = 0.1
MOVES = "joining would move better passages back"
NO_ROOM = "the budget has no room for what stands between"


def choose_passages(
    hits: Sequence[LeafHit], documents: Mapping[str, StoredDocument], options: RetrievalSettings
) -> list[Group]:
    """Choose what to read: fill the budget with leaves, best first, then merge what belongs together.

    Every leaf carries its evidence, also one that no search found and that stands beside one it did. Filling the budget
    by evidence therefore decides what text between two matches is worth its length: it is read when it is worth more
    than the leaf it would push out, and only then. What was chosen and stands side by side is joined, as long as that
    moves no better leaf back by more than `MAX_MOVED` of the text before it; a joined stretch that makes up a parent
    becomes that parent.

    Args:
        hits: leaves, best first.
        documents: by version; a hit of an unknown document is dropped (it is being replaced or swept).
        options: `top_k`, `budget_chars`, `max_per_document`, `merge_rule`, and `merge` (off: leaves only).

    Returns:
        Groups that overlap nowhere, best first, at most `top_k`, together at most `budget_chars` long; a first leaf
        longer than the budget is returned alone.
    """
    leaves = _leaves(hits, documents)
    if options.merge and options.merge_rule == "stock":
        groups = merge_by_stock_rule(leaves)
        groups.sort(key=lambda group: -group.score)
        return _capped(_within(groups, options.budget_chars), options)
    if not options.merge:
        leaves = [leaf for leaf in leaves if leaf.hits[0].found]
    chosen = _within(leaves, options.budget_chars)
    for rank, group in enumerate(chosen):
        group.ranks = [rank]
    if options.merge:
        chosen = _join_neighbours(chosen, options.budget_chars)
    return _capped(sorted(chosen, key=lambda group: group.ranks[0]), options)


def _leaves(hits: Sequence[LeafHit], documents: Mapping[str, StoredDocument]) -> list[Group]:
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


def _within(groups: Sequence[Group], budget_chars: int) -> list[Group]:
    """Return the first groups that fit, up to the first one that does not."""
    room = budget_chars
    for count, group in enumerate(groups):
        room -= group.chars
        if room < 0 and count:
            return list(groups[:count])
    return list(groups)


def _capped(groups: Sequence[Group], options: RetrievalSettings) -> list[Group]:
    """Return the first `top_k` groups, of each document at most `max_per_document`."""
    taken: dict[str, int] = {}
    kept = []
    for group in groups:
        taken[group.document.version] = count = taken.get(group.document.version, 0) + 1
        if options.max_per_document is None or count <= options.max_per_document:
            kept.append(group)
    return kept[: options.top_k]


def _join_neighbours(groups: Sequence[Group], budget_chars: int) -> list[Group]:
    """Join groups that follow each other in their document with nothing but space between them."""
    joined: list[Group] = []
    room = budget_chars - sum(group.chars for group in groups)
    moved: Counter[int] = Counter()
    before_it = list(accumulate((group.chars for group in groups), initial=0))
    for group in sorted(groups, key=lambda group: (group.document.doc_id, group.start)):
        before = joined[-1] if joined and joined[-1].document is group.document else None
        between = group.document.text[before.end : group.start] if before else ""
        if before and not between.strip():
            union = _united([before, group])
            further = union.overtaken() - before.overtaken()
            fits = len(between) <= room
            if fits and all(moved[place] + chars <= MAX_MOVED * before_it[place] for place, chars in further.items()):
                moved.update(further)
                joined[-1] = union
                room -= len(between)
                continue
            group.alone = before.alone = MOVES if fits else NO_ROOM
        joined.append(group)
    return joined


def _united(family: Sequence[Group]) -> Group:
    first, last = family[0], family[-1]
    hits = sorted((hit for member in family for hit in member.hits), key=lambda hit: -hit.score)
    ranks = sorted(rank for member in family for rank in member.ranks)
    document, start, end = first.document, first.start, last.end
    node = _parent_with_span(document, first.node, start, end)
    matching = sum(hit.found for hit in hits)
    found = f"{matching} matching {'leaf' if matching == 1 else 'leaves'}"
    if matching < len(hits):
        found += f" and {len(hits) - matching} beside, worth more than what else the budget would hold,"
    reason = f"{found} follow each other"
    if node is not None:
        reason = f"{found} make up this {LEVEL_NAMES[document.tree[node].level]} passage"
    return Group(document, first.node if node is None else node, start, end, hits, ranks, hits[0].score, reason)


def _parent_with_span(document: StoredDocument, node: int, start: int, end: int) -> int | None:
    """Return the ancestor of `node` that is exactly this text, or None."""
    tree = document.tree
    while (node := tree[node].parent) != NO_PARENT:
        if (tree[node].start, tree[node].end) == (start, end):
            return node
    return None


class MergingRetriever(AutoMergingRetriever):
    """Passages for a question: leaves found, merged within the budget, best first.

    Its nodes carry the passage's fields as metadata; `Passage.of` reads them.

    Args:
        corpus: where the leaves come from.
        leaves: the search that finds them.
        options: see `choose_passages`.
        refinement: what is done before and after the search; nothing by default.
    """

    def __init__(
        self,
        corpus: Corpus,
        leaves: LeafRetriever,
        options: RetrievalSettings,
        refinement: Refinement | None = None,
    ) -> None:
        super().__init__(
            leaves,  # type: ignore[arg-type]  # any retriever of leaves serves
            StorageContext.from_defaults(docstore=corpus.docstore, vector_store=corpus.vectors),
        )
        self._leaves = leaves
        self._documents = corpus.documents
        self._options = options
        self._refinement = refinement or Refinement()

    def passages(self, query: Query) -> list[NodeWithScore]:
        """Return at most `top_k` passages within `budget_chars`, best first; `[]` if nothing was found."""
        return self.search(query)[0]

    def search(self, query: Query) -> tuple[list[NodeWithScore], Refined]:
        """Return what `passages` returns, and the leaves behind it with what was left out and how long it took."""
        refined = self._refinement.search(query, self._leaves.search)
        documents = self._documents.get_versions(split_node_id(hit.node_id)[0] for hit in refined.hits)
        return [to_node(group) for group in choose_passages(refined.hits, documents, self._options)], refined

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self.passages(Query.of(query_bundle))

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        # The searches are synchronous: one thread hop keeps the event loop free.
        return await asyncio.to_thread(self._retrieve, query_bundle)


def to_node(group: Group) -> NodeWithScore:
    """Return a passage as a LlamaIndex node, which `Passage.of` reads."""
    document = group.document
    tree = document.tree
    span = tree[group.node]
    scores: dict[str, float] = {"fused": group.score}
    for hit in group.hits:
        for name, value in hit.scores.items():
            scores[name] = max(value, scores.get(name, value))
    metadata = {
        "chunk_id": chunk_id(document.doc_id, tree.ordinal_at(group.start)),
        "doc_id": document.doc_id,
        "title": document.title,
        "url": document.url,
        "level": LEVEL_NAMES[span.level] if (span.start, span.end) == (group.start, group.end) else "span",
        "pages": document.pages_of(group.start, group.end),
        "scores": scores,
        "hits": tuple(group.hits),
        "merged": group.merged,
        "alone": group.alone,
    }
    node = TextNode(
        id_=node_id(document.version, group.node),
        text=document.text[group.start : group.end],
        start_char_idx=group.start,
        end_char_idx=group.end,
        metadata=metadata,
    )
    return NodeWithScore(node=node, score=group.score)
