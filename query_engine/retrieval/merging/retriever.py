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
from dataclasses import replace

from llama_index.core.retrievers import AutoMergingRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.core.storage.storage_context import StorageContext

from index.corpus import Corpus
from index.documents.span_tree import LEVEL_NAMES, chunk_id, node_id, split_node_id
from index.documents.store import StoredDocument
from query_engine.retrieval.hybrid import LeafRetriever
from query_engine.retrieval.merging.group import Group
from query_engine.retrieval.merging.llamaindex_rule import merge_by_stock_rule
from query_engine.retrieval.merging.neighbours import join_neighbours
from query_engine.retrieval.pipeline import RefinedHits, RetrievalPipeline
from query_engine.schema.hit import LeafHit
from query_engine.schema.query import Query
from settings import RetrievalSettings

logger = logging.getLogger(__name__)

# A commit that replaces all that a search found, while it looks, leaves nothing to show: it searches again.
MAX_SEARCHES = 3


def choose_passages(
    hits: Sequence[LeafHit], documents: Mapping[str, StoredDocument], options: RetrievalSettings
) -> list[Group]:
    """Choose what to read: fill the budget with leaves, best first, then merge what belongs together.

    Every leaf carries its evidence, also one that no search found and that stands between two. Filling the budget
    by evidence therefore decides what text between two matches is worth its length: it is read when it is worth more
    than the leaf it would push out, and only then. What was chosen and stands side by side is joined (`neighbours.py`).

    Args:
        hits: leaves, best first.
        documents: by version; a hit of an unknown document is dropped (it is being replaced or swept).
        options: `top_k`, `budget_chars`, `max_per_document`, `merge_rule`, and `merge` (off: leaves only).

    Returns:
        Groups that overlap nowhere, best first, at most `top_k`, together at most `budget_chars` long; a first leaf
        longer than the budget is returned alone.
    """
    leaves = _leaves(hits, documents)
    if not options.merge:
        leaves = [leaf for leaf in leaves if leaf.hits[0].found]
    full: dict[str, set[tuple[int, int]]] = {}
    while True:
        groups = _choose([leaf for leaf in leaves if _may_be_read(leaf, full)], options)
        kept = _capped(groups, options.max_per_document)
        if len(kept) == len(groups):
            return groups[: options.top_k]
        # A document that has its passages gets no others; what they took of the budget goes to the next leaves.
        taken = Counter(group.document.version for group in groups)
        for version in taken - Counter(group.document.version for group in kept):
            full[version] = {(group.start, group.end) for group in kept if group.document.version == version}


def _choose(leaves: Sequence[Group], options: RetrievalSettings) -> list[Group]:
    """Return the passages that fill the budget, best first."""
    if options.merge and options.merge_rule == "stock":
        groups = sorted(merge_by_stock_rule(leaves), key=lambda group: -group.score)
        return _within(groups, options.budget_chars)
    chosen = [replace(leaf, ranks=[rank]) for rank, leaf in enumerate(_within(leaves, options.budget_chars))]
    if options.merge:
        chosen = join_neighbours(chosen, options.budget_chars)
    return sorted(chosen, key=lambda group: group.ranks[0])


def _may_be_read(leaf: Group, full: Mapping[str, set[tuple[int, int]]]) -> bool:
    spans = full.get(leaf.document.version)
    return spans is None or any(start <= leaf.start and leaf.end <= end for start, end in spans)


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


def _capped(groups: Sequence[Group], max_per_document: int | None) -> list[Group]:
    """Return the first groups of each document."""
    taken: Counter[str] = Counter()
    kept = []
    for group in groups:
        taken[group.document.version] += 1
        if max_per_document is None or taken[group.document.version] <= max_per_document:
            kept.append(group)
    return kept


class MergingRetriever(AutoMergingRetriever):
    """Passages for a question: leaves found, merged within the budget, best first.

    Its nodes carry the passage's fields as metadata; `Passage.of` reads them.

    Args:
        corpus: where the leaves come from.
        leaves: the search that finds them.
        options: see `choose_passages`.
        pipeline: what is done before and after the search; nothing by default.
    """

    def __init__(
        self,
        corpus: Corpus,
        leaves: LeafRetriever,
        options: RetrievalSettings,
        pipeline: RetrievalPipeline | None = None,
    ) -> None:
        super().__init__(
            leaves,  # type: ignore[arg-type]  # any retriever of leaves serves
            StorageContext.from_defaults(docstore=corpus.docstore, vector_store=corpus.vectors),
        )
        self._leaves = leaves
        self._documents = corpus.documents
        self._options = options
        self._pipeline = pipeline or RetrievalPipeline()

    def passages(self, query: Query) -> list[NodeWithScore]:
        """Return at most `top_k` passages within `budget_chars`, best first; `[]` if nothing was found."""
        return self.search(query)[0]

    def search(self, query: Query) -> tuple[list[NodeWithScore], RefinedHits]:
        """Return what `passages` returns, and the leaves behind it with what was left out and how long it took."""
        for _ in range(MAX_SEARCHES):
            state = self._documents.state()
            refined = self._pipeline.search(query, self._leaves.search)
            documents = self._documents.get_versions(split_node_id(hit.node_id)[0] for hit in refined.hits)
            groups = choose_passages(refined.hits, documents, self._options)
            if groups or self._documents.state() == state:
                break
        return [to_node(group) for group in groups], refined

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
