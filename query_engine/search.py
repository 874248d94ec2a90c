"""Search one corpus: what the engine, the routes of passages, and the LlamaIndex retrievers ask.

Flow: `engine.py` and `POST /retrieve` -> **here** -> `retrieval/` (leaves, fused, reordered, merged) -> passages with
their times and warnings. Which question is searched for, and what becomes of the passages, is the callers' business.
"""

import logging
import time
from collections.abc import Mapping
from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding

from index.corpus import Corpus
from query_engine.question.newest import naming_dates
from query_engine.retrieval.hybrid import LeafRetriever
from query_engine.retrieval.merging.retriever import MergingRetriever
from query_engine.retrieval.pipeline import RetrievalPipeline
from query_engine.retrieval.steering import Steering
from query_engine.runtime.deadline import Deadline
from query_engine.schema.answer_warning import AnswerWarning
from query_engine.schema.query import Query
from query_engine.schema.retrieval_result import Retrieval, ms_since
from query_engine.synthesis.fallback_chain import QUOTING_S
from settings import RetrievalSettings

logger = logging.getLogger(__name__)

NOT_STEERED = AnswerWarning("steering_skipped", "Only the search by meaning can be steered, and the mode is lexical.")


class CorpusSearch:
    """Finds passages; safe from many threads.

    Args:
        corpus: an open corpus.
        embedder: the model the corpus was built with.
        options: how to search, unless a call says otherwise.
        pipeline: what is done before and after the search for leaves, unless a call says otherwise.
    """

    def __init__(
        self, corpus: Corpus, embedder: BaseEmbedding, options: RetrievalSettings, pipeline: RetrievalPipeline
    ) -> None:
        self._corpus = corpus
        self._embedder = embedder
        self._options = options
        self._pipeline = pipeline

    def retriever(
        self, options: RetrievalSettings | None = None, pipeline: RetrievalPipeline | None = None
    ) -> MergingRetriever:
        """Return a LlamaIndex retriever of merged passages."""
        options = options or self._options
        return MergingRetriever(self._corpus, self.leaf_retriever(options), options, pipeline or self._pipeline)

    def leaf_retriever(self, options: RetrievalSettings) -> LeafRetriever:
        """Return the search for leaves, before they are reordered and merged."""
        return LeafRetriever(self._corpus, self._embedder, options)

    def versions(self, filters: Mapping[str, Any] | None) -> frozenset[str] | None:
        """Return the versions of the documents that may be found; None if all may.

        Raises:
            FilterError: the filter is empty or has no meaning.
        """
        return None if filters is None else self._corpus.catalogue.versions(filters)

    def passages(
        self,
        question: str,
        *,
        versions: frozenset[str] | None = None,
        steering: Steering | None = None,
        options: RetrievalSettings | None = None,
        pipeline: RetrievalPipeline | None = None,
        deadline: Deadline | None = None,
    ) -> Retrieval:
        """Find passages; blocks.

        Args:
            question: cleaned.
            versions: see `versions`.
            steering: moves the question; None leaves it.
            options: in place of those of the search.
            pipeline: likewise.
            deadline: limits expansion and reranking; None sets no limit.

        Raises:
            OutOfTimeError: the client has left.
        """
        started = time.perf_counter()
        options = options or self._options
        # What can be left out leaves time for quoting what was found without it.
        spared = None if deadline is None else deadline.sparing(QUOTING_S)
        query = Query(question, versions=versions, deadline=spared)
        warnings: tuple[AnswerWarning, ...] = ()
        if steering is not None and options.mode == "lexical":
            warnings = (NOT_STEERED,)
        elif steering is not None:
            query = steering.steer(query, self._embedder)
        found = self.retriever(options, pipeline).search(query)
        warnings += found.warnings
        for warning in warnings:
            logger.warning("A stage was left out: %s", warning)
        passages, left_out = (naming_dates(question, some) for some in (found.passages, found.left_out))
        return Retrieval(passages, {"retrieve": ms_since(started), **found.timings_ms}, warnings, left_out)
