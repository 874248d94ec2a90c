"""Summarise each document, or all of them together, by quoting their most central sentences.

Flow: a text column -> sentences, embedded -> **here** chooses those near to the whole and far from each other, as
`query_engine/collection/summary.py` does for a document of a corpus. No language model: every sentence is in the
documents.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

from index.embedding.batch import embed_documents
from pipelines.handler import StepHandler
from pipelines.parameters import ColumnName, StepParameters, parameter
from pipelines.state import PipelineState, Row
from pipelines.step import FULL_TEXT, RowStep, Step
from query_engine.collection.summary import diverse
from query_engine.text.sentences import split_sentences

MIN_WORDS, MAX_CHARS = 5, 400
# Of each text; the first ones of a longer one.
MOST_SENTENCES = 60
MOST_OF_ALL = 300


class DocumentSummarizer(RowStep):
    """Summarises each document."""

    id = "llm_summarizer"
    name = "Document Summarizer"
    category = "Summarizers"
    description = "Summarises each document by quoting its most central sentences, in their order."

    class Parameters(RowStep.Parameters):
        """Where it writes, and how much."""

        output_column: ColumnName = parameter("summary", "Output column", "Column that is added.", column="writes")
        sentences: int = parameter(3, "Sentences", "Sentences of a summary, at most.", ge=1, le=20)

    def transform_row(self, text: Any, state: PipelineState, handler: StepHandler) -> str:  # noqa: ARG002
        """Return the summary; the text itself if it has no more sentences than that."""
        spans = _sentences(text)[:MOST_SENTENCES]
        if len(spans) <= self.given.sentences:
            return " ".join(_quoted(text, span) for span in spans)
        vectors = _vectors([_quoted(text, span) for span in spans], handler)
        chosen = sorted(diverse(vectors, self.given.sentences))
        return " ".join(_quoted(text, spans[place]) for place in chosen)

    def fingerprint(self, handler: StepHandler) -> str:
        """Name the embedding model."""
        return handler.services.embedding_name()


class ResultsSummarizer(Step):
    """Summarises all documents together."""

    id = "all_results_summarizer"
    name = "Query Summarizer"
    category = "Summarizers"
    description = "Summarises all documents together, by quoting the sentences that say most about the query."
    closed = True

    class Parameters(StepParameters):
        """What is read, and how much is written."""

        input_column: ColumnName = parameter(
            FULL_TEXT, "Input column", "Column that is read.", column="reads", offered=(FULL_TEXT,)
        )
        output_column: ColumnName = parameter("Summary", "Title", "Title of the summary among the aggregated data.")
        sentences: int = parameter(5, "Sentences", "Sentences of the summary, at most.", ge=1, le=20)

    def transform(self, state: PipelineState, handler: StepHandler) -> PipelineState:
        """Add the summary to the aggregated data, each sentence with its place."""
        rows = state.rows([name for name in ("doc_id", "title", "start") if name in state.columns])
        texts = state.texts(self.given.input_column)
        found: list[tuple[str, Row]] = []
        for text, row in zip(texts, rows or [{}] * len(texts), strict=True):
            for start, end in _sentences(text)[:MOST_SENTENCES]:
                offset = (row.get("start") or 0) if self.given.input_column == FULL_TEXT else 0
                place = {"start": start + offset, "end": end + offset, "quote": text[start:end]}
                found.append((" ".join(text[start:end].split()), {**row, **place}))
        if not found:
            handler.warn("There is nothing to summarise.")
            return state.with_aggregated(self.given.output_column, "")
        quotes = [quote for quote, _ in found][:MOST_OF_ALL]
        name = [self.id, self.version, handler.services.embedding_name()]

        def compute(some: list[Any]) -> Iterable[list[float]]:
            yield from (row.tolist() for row in _vectors(some, handler))

        vectors = np.asarray(handler.each(quotes, name, compute), np.float32)
        query = np.asarray(handler.services.embedder().get_query_embedding(state.query), np.float32)
        chosen = sorted(diverse(vectors, self.given.sentences, query))
        text = " ".join(f"{quotes[place]} [{number}]" for number, place in enumerate(chosen, start=1))
        return state.with_aggregated(self.given.output_column, text, [found[place][1] for place in chosen])


def _sentences(text: str) -> list[tuple[int, int]]:
    """Return the sentences that can stand alone."""
    return [
        (one.start, one.end)
        for one in split_sentences(text)
        if one.kind == "prose"
        and one.end - one.start <= MAX_CHARS
        and len(text[one.start : one.end].split()) >= MIN_WORDS
    ]


def _quoted(text: str, span: tuple[int, int]) -> str:
    return " ".join(text[span[0] : span[1]].split())


def _vectors(quotes: list[str], handler: StepHandler) -> Any:
    handler.check()
    return embed_documents(handler.services.embedder(), quotes)
