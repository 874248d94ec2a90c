"""Summarise each document, or all of them together.

Flow: a text column -> the sentences that most likely answer the query (`relevance.py`), quoted -> **here**: no language
model, and every sentence is in the documents. Where a model is asked for, `model_summaries.py` lets it write.
"""

import math
from typing import Any

from pipelines.handler import StepHandler
from pipelines.parameters import ColumnName, Text, parameter
from pipelines.state import PipelineState, Row
from pipelines.step import FULL_TEXT, QueryParameters, RowStep, Step
from pipelines.steps.language_model import asks_model, has_model, model_parameter
from pipelines.steps.model_summaries import SummaryWriter
from pipelines.steps.relevance import Scored, best_spans, read_texts

# What the model is asked about a document without a title.
WHOLE_DOCUMENT = "the whole document"
QUOTED_INSTEAD = "The summary quotes the documents instead."


class DocumentSummarizer(RowStep):
    """Summarises each document."""

    id = "llm_summarizer"
    name = "Document Summarizer"
    category = "Summarizers"
    description = (
        "Summarises each document by quoting the sentences that say most about the query, in their order; or by the "
        "language model that `model` names."
    )

    class Parameters(RowStep.Parameters):
        """Where it writes, and how much."""

        output_column: ColumnName = parameter("summary", "Output column", "Column that is added.", column="writes")
        sentences: int = parameter(3, "Sentences", "Sentences of a summary, at most.", ge=1, le=20)
        model: Text = model_parameter()
        summarize_prompt: Text = parameter(
            "",
            "Summarizing instruction",
            "What the summary shall be about; the service's language model writes it, also where none is named.",
        )

    def transform(self, state: PipelineState, handler: StepHandler) -> PipelineState:
        """Add the column."""
        if not (asks_model(self.given) and has_model(handler, self.given.model, QUOTED_INSTEAD)):
            texts = state.texts(self.given.input_column)
            read = read_texts(texts, state.query, handler)
            quoted = [
                " ".join(_one_line(text, *span) for span in best_spans(row, self.given.sentences))
                for text, row in zip(texts, read, strict=True)
            ]
            return self.outcome(state, quoted)
        writer = SummaryWriter(handler, self.given.sentences)
        documents = _documents(state, self.given.input_column)
        rows = [[self.given.summarize_prompt or one[2] or WHOLE_DOCUMENT, [one]] for one in documents]
        written = writer.summaries(rows, [self.id, self.version])
        for place, (document, summary) in enumerate(zip(documents, written, strict=True), start=1):
            for warning in summary.warnings:
                handler.warn(f"Document {place} ({document[1] or document[2] or 'without a name'}): {warning}")
        return self.outcome(state, [one.unmarked for one in written])


class ResultsSummarizer(Step):
    """Summarises all documents together."""

    id = "all_results_summarizer"
    name = "Query Summarizer"
    category = "Summarizers"
    description = (
        "Summarises all documents together, by quoting the sentences that say most about the query; or by the language "
        "model that `model` names."
    )
    closed = True

    class Parameters(QueryParameters):
        """How much is written, and by whom."""

        output_column: ColumnName = parameter("Summary", "Title", "Title of the summary among the aggregated data.")
        sentences: int = parameter(5, "Sentences", "Sentences of the summary, at most.", ge=1, le=20)
        model: Text = model_parameter()

    def transform(self, state: PipelineState, handler: StepHandler) -> PipelineState:
        """Add the summary to the aggregated data, with the places that it quotes or rests on."""
        documents = _documents(state, self.given.input_column)
        if not any(text.strip() for *_, text in documents):
            handler.warn("There is nothing to summarise.")
            return state.with_aggregated(self.given.output_column, "")
        query = self.given.query or state.query
        if asks_model(self.given) and has_model(handler, self.given.model, QUOTED_INSTEAD):
            writer = SummaryWriter(handler, self.given.sentences)
            (summary,) = writer.summaries([[query, documents]], [self.id, self.version])
            for warning in summary.warnings:
                handler.warn(warning)
            return state.with_aggregated(self.given.output_column, summary.text, summary.citations)
        texts = [text for *_, text in documents]
        # The reader compares sentences of one document; whether it is the right one, its rank in the table says.
        ranked = sorted(
            (
                (one.score - math.log(place + 1), place, one)
                for place, row in enumerate(read_texts(texts, query, handler))
                for one in row
            ),
            key=lambda worth: -worth[0],
        )
        found: dict[str, tuple[int, Scored]] = {}
        for _, place, one in ranked:
            if len(found) < self.given.sentences:
                found.setdefault(_one_line(texts[place], one.start, one.end), (place, one))
        chosen = sorted(found.items(), key=lambda quote: (quote[1][0], quote[1][1].start))
        text = " ".join(f"{quote} [{number}]" for number, (quote, _) in enumerate(chosen, start=1))
        citations = [
            {"number": number, **_cited(documents[place], one)}
            for number, (_, (place, one)) in enumerate(chosen, start=1)
        ]
        return state.with_aggregated(self.given.output_column, text, citations)


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


def _cited(document: list[Any], one: Scored) -> Row:
    """Return where a sentence of a document stands, and its words."""
    _, doc_id, title, _, start, text = document
    place = {"start": one.start + start, "end": one.end + start, "quote": text[one.start : one.end]}
    return {"doc_id": doc_id, "title": title, **place}


def _one_line(text: str, start: int, end: int) -> str:
    return " ".join(text[start:end].split())
