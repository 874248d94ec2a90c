"""Summarise each document, or all of them together.

Flow: a text column -> sentences, embedded -> **here** chooses those near to the whole and far from each other, by
maximal marginal relevance (Carbonell and Goldstein, SIGIR 1998): no language model, and every sentence is in the
documents. Where a model is asked for, `model_summaries.py` lets the language model write.
"""

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from errors import PipelineError
from index.documents.sentences import split_sentences
from index.embedding.batch import embed_documents
from pipelines.handler import StepHandler
from pipelines.parameters import ColumnName, StepParameters, Text, parameter
from pipelines.services import Services
from pipelines.state import PipelineState, Row
from pipelines.step import FULL_TEXT, RowStep, Step
from pipelines.steps.language_model import asks_model, check_method, has_model, model_parameter
from pipelines.steps.model_summaries import SummaryWriter

MIN_WORDS, MAX_CHARS = 5, 400
# Of each text; the first ones of a longer one.
MOST_SENTENCES = 60
MOST_OF_ALL = 300
# Penalty for a sentence that resembles one already chosen.
REDUNDANCY = 0.5
# What the model is asked about a document without a title.
WHOLE_DOCUMENT = "the whole document"
QUOTED_INSTEAD = "The summary quotes the documents instead."

Vectors = npt.NDArray[np.float32]


def method_parameter() -> Any:
    """Declare how a summary is made."""
    return parameter(
        "auto",
        "Method",
        "The documents' own sentences, or what the language model writes and they support; `auto` has the model write "
        "where `model` or an instruction is set.",
    )


class DocumentSummarizer(RowStep):
    """Summarises each document."""

    id = "llm_summarizer"
    name = "Document Summarizer"
    category = "Summarizers"
    description = (
        "Summarises each document by quoting its most central sentences, in their order; or with the language model."
    )

    class Parameters(RowStep.Parameters):
        """Where it writes, and how much."""

        output_column: ColumnName = parameter("summary", "Output column", "Column that is added.", column="writes")
        sentences: int = parameter(3, "Sentences", "Sentences of a summary, at most.", ge=1, le=20)
        method: Literal["auto", "extractive", "model"] = method_parameter()
        model: Text = model_parameter()
        summarize_prompt: Text = parameter(
            "",
            "Summarizing instruction",
            "What the language model's summary shall be about; empty: the whole document.",
        )

    def check(self, services: Services) -> None:
        """Refuse a language model that is not there, and instructions that nobody reads."""
        check_method(services, self.given)
        if self.given.summarize_prompt and self.given.method == "extractive":
            raise PipelineError(
                "`summarize_prompt` is for the language model, which the method 'extractive' does not ask.",
                "Leave `method` or `summarize_prompt` out.",
            )

    def transform(self, state: PipelineState, handler: StepHandler) -> PipelineState:
        """Add the column."""
        if not (asks_model(self.given) and has_model(handler, self.given.model, QUOTED_INSTEAD)):
            return super().transform(state, handler)
        writer = SummaryWriter(handler, self.given.sentences)
        documents = _documents(state, self.given.input_column)
        rows = [[self.given.summarize_prompt or one[2] or WHOLE_DOCUMENT, [one]] for one in documents]
        written = writer.summaries(rows, [self.id, self.version])
        for place, (document, summary) in enumerate(zip(documents, written, strict=True), start=1):
            for warning in summary.warnings:
                handler.warn(f"Document {place} ({document[1] or document[2] or 'without a name'}): {warning}")
        return state.with_column(self.given.output_column, [one.unmarked for one in written], *self.roles)

    def transform_row(self, text: Any, state: PipelineState, handler: StepHandler) -> str:  # noqa: ARG002
        """Return the summary; the text itself if it has no more sentences than that."""
        spans = _sentences(text)[:MOST_SENTENCES]
        if len(spans) <= self.given.sentences:
            return " ".join(_quoted(text, span) for span in spans)
        vectors = _vectors([_quoted(text, span) for span in spans], handler)
        chosen = sorted(_diverse(vectors, self.given.sentences))
        return " ".join(_quoted(text, spans[place]) for place in chosen)

    def fingerprint(self, handler: StepHandler) -> str:
        """Name the embedding model."""
        return handler.services.embedding_name()


class ResultsSummarizer(Step):
    """Summarises all documents together."""

    id = "all_results_summarizer"
    name = "Query Summarizer"
    category = "Summarizers"
    description = (
        "Summarises all documents together, by quoting the sentences that say most about the query; or with the "
        "language model."
    )
    closed = True

    class Parameters(StepParameters):
        """What is read, and how much is written."""

        input_column: ColumnName = parameter(
            FULL_TEXT, "Input column", "Column that is read.", column="reads", offered=(FULL_TEXT,)
        )
        output_column: ColumnName = parameter("Summary", "Title", "Title of the summary among the aggregated data.")
        sentences: int = parameter(5, "Sentences", "Sentences of the summary, at most.", ge=1, le=20)
        query: Text = parameter("", "Optional query", "Query of this step alone; empty: the pipeline's.")
        method: Literal["auto", "extractive", "model"] = method_parameter()
        model: Text = model_parameter()

    def check(self, services: Services) -> None:
        """Refuse a language model that is not there."""
        check_method(services, self.given)

    def transform(self, state: PipelineState, handler: StepHandler) -> PipelineState:
        """Add the summary to the aggregated data, with the places that it quotes or rests on."""
        query = self.given.query or state.query
        if asks_model(self.given) and has_model(handler, self.given.model, QUOTED_INSTEAD):
            return self._by_model(query, state, handler)
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
        query = np.asarray(handler.services.embedder().get_query_embedding(query), np.float32)
        chosen = sorted(_diverse(vectors, self.given.sentences, query))
        text = " ".join(f"{quotes[place]} [{number}]" for number, place in enumerate(chosen, start=1))
        citations = [{"number": number, **found[place][1]} for number, place in enumerate(chosen, start=1)]
        return state.with_aggregated(self.given.output_column, text, citations)

    def _by_model(self, query: str, state: PipelineState, handler: StepHandler) -> PipelineState:
        writer = SummaryWriter(handler, self.given.sentences)
        documents = _documents(state, self.given.input_column)
        if not any(text.strip() for *_, text in documents):
            handler.warn("There is nothing to summarise.")
            return state.with_aggregated(self.given.output_column, "")
        (summary,) = writer.summaries([[query, documents]], [self.id, self.version])
        for warning in summary.warnings:
            handler.warn(warning)
        return state.with_aggregated(self.given.output_column, summary.text, summary.citations)


def _documents(state: PipelineState, column: str) -> list[list[Any]]:
    """Return the rows as `model_summaries.py` takes them: `[id, doc_id, title, url, start, text]`.

    A document's own offsets count only where the column is its own text.
    """

    def values(name: str, otherwise: Any) -> list[Any]:
        there = state.values(name) if name in state.columns else [None] * state.count
        return [otherwise if value is None else value for value in there]

    starts = values("start", 0) if column == FULL_TEXT else [0] * state.count
    names = (values("id", ""), values("doc_id", ""), values("title", ""), values("url", None))
    return [list(row) for row in zip(*names, starts, state.texts(column), strict=True)]


def _sentences(text: str) -> list[tuple[int, int]]:
    """Return the sentences that can stand alone."""
    return [
        (one.start, one.end)
        for one in split_sentences(text)
        if one.kind == "prose"
        and one.end - one.start <= MAX_CHARS
        and len(text[one.start : one.end].split()) >= MIN_WORDS
    ]


def _diverse(vectors: Vectors, count: int, goal: Vectors | None = None) -> list[int]:
    """Return the places of at most `count` unit vectors that are near to a goal and far from each other, best first.

    Args:
        vectors: shape (n, dimension), n > 0.
        count: at most.
        goal: unit vector, shape (dimension,); the mean of all if None.
    """
    if goal is None:
        goal = vectors.mean(axis=0)
        goal /= float(np.linalg.norm(goal)) or 1.0
    relevance = vectors @ goal
    likeness = np.zeros(len(vectors), np.float32)
    chosen: list[int] = []
    while len(chosen) < min(count, len(vectors)):
        worth = relevance - REDUNDANCY * likeness
        worth[chosen] = -np.inf
        chosen.append(int(np.argmax(worth)))
        likeness = np.maximum(likeness, vectors @ vectors[chosen[-1]])
    return chosen


def _quoted(text: str, span: tuple[int, int]) -> str:
    return " ".join(text[span[0] : span[1]].split())


def _vectors(quotes: list[str], handler: StepHandler) -> Any:
    handler.check()
    return embed_documents(handler.services.embedder(), quotes)
