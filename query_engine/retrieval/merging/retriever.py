"""Climb from the leaves that matched to the passages worth reading, within a budget of characters.

Flow: leaves, best first -> **here** -> gate and synthesizer. `choose_passages` is the whole rule and is pure;
`MergingRetriever` adds the look-up of the documents.

A subclass of LlamaIndex's `AutoMergingRetriever`, whose own rule has no budget, scores a parent by the mean of its
children (so a merged best hit can fall behind a mediocre leaf), fetches parents one by one, fails when one is missing
and blocks the event loop (ADR 0003). With `merge_rule` `stock` the inherited code merges, for comparison.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.retrievers import AutoMergingRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.core.storage.storage_context import StorageContext

from index.corpus import Corpus
from index.documents.blocks import stop_before
from index.documents.docstore import UnknownNodeError, make_node, relationships_of, source_of
from index.documents.span_tree import LEVEL_NAMES, chunk_id, node_id, split_node_id
from index.documents.store import StoredDocument
from query_engine.retrieval.hybrid import LeafRetriever
from query_engine.retrieval.merging.group import Group
from query_engine.retrieval.merging.neighbours import join_neighbours
from query_engine.retrieval.pipeline import RefinedHits, RetrievalPipeline
from query_engine.schema.answer_warning import AnswerWarning
from query_engine.schema.hit import LeafHit
from query_engine.schema.query import Query
from settings import RetrievalSettings

logger = logging.getLogger(__name__)

# A commit that replaces all that a search found, while it looks, leaves nothing to show: it searches again.
MAX_SEARCHES = 3
NOT_MERGED = AnswerWarning("merging_skipped", "A parent passage is missing, so the passages are single leaves.")
# What a language model is shown of a passage beside its text.
SHOWN_TO_MODELS = ("title", "url")


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
    """Return the first groups that fit, up to the first one that does not; something is always returned."""
    if groups and groups[0].chars > budget_chars:
        return [_shortened(groups[0], budget_chars)]
    room = budget_chars
    for count, group in enumerate(groups):
        room -= group.chars
        if room < 0:
            return list(groups[:count])
    return list(groups)


def _shortened(group: Group, budget_chars: int) -> Group:
    """Return the part of a group that the budget holds, from its best leaf on."""
    leaf = group.document.tree[split_node_id(group.hits[0].node_id)[1]]
    start, end = leaf.start, group.end
    if end - start > budget_chars:
        end = stop_before(group.document.text, start, start + budget_chars)
    return replace(group, start=start, end=start + len(group.document.text[start:end].rstrip()))


def _capped(groups: Sequence[Group], max_per_document: int | None) -> list[Group]:
    """Return the first groups of each document."""
    taken: Counter[str] = Counter()
    kept = []
    for group in groups:
        taken[group.document.version] += 1
        if max_per_document is None or taken[group.document.version] <= max_per_document:
            kept.append(group)
    return kept


@dataclass
class _Found(QueryBundle):
    """A question, and the leaves that were found for it: what the inherited merging begins with."""

    leaves: list[NodeWithScore] = field(default_factory=list, repr=False)


class _FoundLeaves(BaseRetriever):
    """Hands the inherited code the leaves of its `_Found`; the search is over by then."""

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        assert isinstance(query_bundle, _Found)
        return query_bundle.leaves


class MergingRetriever(AutoMergingRetriever):
    """Passages for a question: leaves found, merged within the budget, best first.

    Its nodes carry the passage's fields as metadata, hidden from models but for title and address; `Passage.of` reads
    them.

    Args:
        corpus: where the leaves come from.
        leaves: the search that finds them.
        options: see `choose_passages`; with `merge_rule` `stock` the inherited code merges, and its passages are cut to
            `max_per_document`, `budget_chars` and `top_k`.
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
            _FoundLeaves(),  # type: ignore[arg-type]  # any retriever of leaves serves
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
            try:
                groups = self._choose(query, refined.hits, documents)
            except UnknownNodeError as error:  # it was replaced meanwhile, or the index lost it
                logger.warning("A parent passage is missing: %s", error)
                refined = replace(refined, warnings=(*refined.warnings, NOT_MERGED))
                groups = choose_passages(refined.hits, documents, self._options.model_copy(update={"merge": False}))
            if groups or self._documents.state() == state:
                break
        return [to_node(group) for group in groups], refined

    def _choose(self, query: Query, hits: Sequence[LeafHit], documents: Mapping[str, StoredDocument]) -> list[Group]:
        if not self._options.merge or self._options.merge_rule == "evidence":
            return choose_passages(hits, documents, self._options)
        leaves = [leaf for leaf in _leaves(hits, documents) if leaf.hits[0].found]
        nodes = [NodeWithScore(node=make_node(leaf.document, leaf.node), score=leaf.score) for leaf in leaves]
        merged = super()._retrieve(_Found(query.text, leaves=nodes))
        groups = _capped(_groups_of(merged, leaves), self._options.max_per_document)
        return _within(groups, self._options.budget_chars)[: self._options.top_k]

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self.passages(Query.of(query_bundle))

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        # The searches are synchronous: one thread hop keeps the event loop free.
        return await asyncio.to_thread(self._retrieve, query_bundle)


def _groups_of(merged: Sequence[NodeWithScore], leaves: Sequence[Group]) -> list[Group]:
    """Return what the inherited code made of leaves, each with the leaves that are in it, in the same order."""
    inside: dict[str, list[Group]] = {}
    for leaf in leaves:
        for position in (leaf.node, *leaf.document.tree.ancestors(leaf.node)):
            inside.setdefault(node_id(leaf.document.version, position), []).append(leaf)
    groups = []
    for found in merged:
        own = inside[found.node_id]
        document, position = own[0].document, split_node_id(found.node_id)[1]
        span = document.tree[position]
        hits, ranks = [leaf.hits[0] for leaf in own], [leaf.ranks[0] for leaf in own]
        reason = "" if position in document.tree.leaves else f"more than half of it matched ({len(own)} leaves)"
        groups.append(Group(document, position, span.start, span.end, hits, ranks, found.get_score(), reason))
    return groups


def to_node(group: Group) -> NodeWithScore:
    """Return a passage as a LlamaIndex node, which `Passage.of` reads."""
    document = group.document
    tree = document.tree
    span = tree[group.node]
    scores: dict[str, float] = {"fused": group.score}
    for hit in group.hits:
        for name, value in hit.scores.items():
            scores[name] = max(value, scores.get(name, value))
    whole = (span.start, span.end) == (group.start, group.end)
    metadata = {
        "chunk_id": chunk_id(document.doc_id, tree.ordinal_at(group.start)),
        "doc_id": document.doc_id,
        "title": document.title,
        "url": document.url,
        "level": LEVEL_NAMES[span.level] if whole else "span",
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
        excluded_embed_metadata_keys=list(metadata),
        excluded_llm_metadata_keys=[name for name in metadata if name not in SHOWN_TO_MODELS or not metadata[name]],
        relationships=relationships_of(document, group.node) if whole else source_of(document),
    )
    return NodeWithScore(node=node, score=group.score)
