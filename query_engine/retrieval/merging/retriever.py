"""Replace neighbouring leaves by the larger passage they make up, within a budget of characters.

Flow: leaves, best first -> **here** -> gate and synthesizer. `selection.py` holds the rule; this adds the stores.

A subclass of LlamaIndex's `AutoMergingRetriever`, whose own rule has no budget, scores a parent by the mean of its
children (so a merged best hit can fall behind a mediocre leaf), fetches parents one by one, fails when one is missing
and blocks the event loop (ADR 0014). `python -m bench retrieval` compares the two.
"""

import asyncio

from llama_index.core.instrumentation.events.retrieval import RetrievalEndEvent, RetrievalStartEvent
from llama_index.core.retrievers import AutoMergingRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index.core.storage.storage_context import StorageContext
from llama_index_instrumentation import get_dispatcher

from index.corpus import Corpus
from index.documents.span_tree import split_node_id
from query_engine.retrieval.hybrid import LeafRetriever
from query_engine.retrieval.merging.group import Group
from query_engine.retrieval.merging.llamaindex import to_node
from query_engine.retrieval.merging.selection import choose_passages, leaves_of, left_out
from query_engine.retrieval.pipeline import RefinedHits, RetrievalPipeline
from query_engine.schema.query import Query
from query_engine.schema.retrieval_result import Retrieval
from settings import RetrievalSettings

dispatcher = get_dispatcher(__name__)

# A commit during a search may replace everything found, and leave nothing to show: it searches again.
MAX_SEARCHES = 3
# Enough to see what a larger budget would add.
MOST_LEFT_OUT = 20


class MergingRetriever(AutoMergingRetriever):
    """Passages for a question: leaves found, merged within the budget, best first.

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
            StorageContext.from_defaults(docstore=corpus.docstore, vector_store=corpus.vector_store),
        )
        self._leaves = leaves
        self._documents = corpus.documents
        self._options = options
        self._pipeline = pipeline or RetrievalPipeline()

    def search(self, query: Query) -> Retrieval:
        """Return at most `top_k` passages within `budget_chars`, best first, and what was left out; blocks.

        Like `retrieve`, it tells LlamaIndex's instrumentation when it begins and what it found.
        """
        dispatcher.event(RetrievalStartEvent(str_or_query_bundle=query.text))
        groups, others, refined = self._search(query)
        dispatcher.event(RetrievalEndEvent(str_or_query_bundle=query.text, nodes=list(map(to_node, groups))))
        passages, rest = (tuple(group.passage() for group in some) for some in (groups, others))
        return Retrieval(passages, refined.timings_ms, refined.warnings, rest)

    def _search(self, query: Query) -> tuple[list[Group], list[Group], RefinedHits]:
        """Return what is read, the best of what is left out, and what the search found."""
        for _ in range(MAX_SEARCHES):
            state = self._documents.state()
            refined = self._pipeline.search(query, self._leaves.search)
            documents = self._documents.get_versions(split_node_id(hit.node_id)[0] for hit in refined.hits)
            groups = choose_passages(refined.hits, documents, self._options)
            if groups or self._documents.state() == state:
                break
        others = left_out(leaves_of(refined.hits, documents), groups)
        return groups, others[:MOST_LEFT_OUT], refined

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return list(map(to_node, self._search(Query.of(query_bundle))[0]))

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        # The searches are synchronous: one thread hop keeps the event loop free.
        return await asyncio.to_thread(self._retrieve, query_bundle)
