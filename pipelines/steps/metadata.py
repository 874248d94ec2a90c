"""Describe each document: its length, its language, and which of its sentences answer the query.

Flow: a text column -> **here** -> a column of short facts, or the text with its relevant sentences marked, which the
reader chooses (`relevance.py`), or the language model (`model_marking.py`).
"""

import re
from collections.abc import Iterable
from typing import Any

from index.lexical.language import question_language
from ingestion.reading.language import namer
from pipelines.handler import StepHandler
from pipelines.parameters import ColumnName, Text, parameter
from pipelines.state import PipelineState
from pipelines.step import FULL_TEXT, QueryParameters, RowStep, Step
from pipelines.steps.language_model import asks_model, has_model, model_parameter
from pipelines.steps.model_marking import MARK, model_marks
from pipelines.steps.relevance import best_spans, read_texts

# Log-odds from which a sentence counts as an answer.
MARKED_FROM = 0.0
MOST_MARKED = 3
READER_INSTEAD = "The service's reader marked instead."


class WordCounter(RowStep):
    """Counts words."""

    id = "word_counter"
    name = "Word Counter"
    category = "Metadata Analysis"
    description = "Counts the words of each document."
    roles = ("chip",)
    cached = False

    class Parameters(RowStep.Parameters):
        """Where it writes."""

        output_column: ColumnName = parameter("wordCount", "Output column", "Column that is added.", column="writes")

    def transform_row(self, text: Any, state: PipelineState, handler: StepHandler) -> int:  # noqa: ARG002
        """Return the number of words."""
        return len(re.findall(r"\w+(?:['’-]\w+)*", text))


class LanguageStep(RowStep):
    """Names the language."""

    id = "language_detection"
    name = "Language"
    category = "Metadata Analysis"
    description = "Names the language of each document by its ISO 639 code."
    roles = ("chip",)

    class Parameters(RowStep.Parameters):
        """Where it writes."""

        output_column: ColumnName = parameter("language", "Output column", "Column that is added.", column="writes")

    def transform_row(self, text: Any, state: PipelineState, handler: StepHandler) -> str:  # noqa: ARG002
        """Return the code; for texts too short for the model by their function words."""
        return namer().name(text) or question_language(text)


class RelevanceMarking(Step):
    """Marks the sentences that answer."""

    id = "relevance_marking_step"
    name = "Marking Relevance"
    category = "Metadata Analysis"
    description = (
        "Marks the sentences of each document that answer the query, between two asterisks, and says where they "
        "stand; by the service's reader, or by the language model that `model` names."
    )
    version = 2  # the model names sentences, and no longer copies the text
    closed = True

    class Parameters(QueryParameters):
        """Where it writes, and who marks."""

        output_column: ColumnName = parameter(
            "highlight-full-text", "Output column", "Column for the text with its marks.", column="writes"
        )
        spans_column: ColumnName = parameter(
            "relevant_spans",
            "Spans column",
            "Column for the marked sentences: start, end and quote of each; in the document where the text is its own.",
            column="writes",
        )
        model: Text = model_parameter()

    def transform(self, state: PipelineState, handler: StepHandler) -> PipelineState:
        """Add the marked text and the places of the marks."""
        query = self.given.query or state.query
        texts = state.texts(self.given.input_column)
        if asks_model(self.given) and has_model(handler, self.given.model, READER_INSTEAD):
            spans = model_marks(texts, query, handler, name=[self.id, self.version])
        else:
            read = read_texts(texts, query, handler)
            spans = [best_spans((one for one in row if one.score >= MARKED_FROM), MOST_MARKED) for row in read]
        marked = state.with_column(
            self.given.output_column, [with_marks(text, one) for text, one in zip(texts, spans, strict=True)], "text"
        )
        # Offsets of the document, where the column is the document's own text.
        own = self.given.input_column == FULL_TEXT and "start" in state.columns
        starts = [start or 0 for start in state.values("start")] if own else [0] * len(texts)
        places = [
            [{"start": start + first, "end": start + last, "quote": text[first:last]} for first, last in one]
            for text, start, one in zip(texts, starts, spans, strict=True)
        ]
        return marked.with_column(self.given.spans_column, places)


def with_marks(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return the text with two asterisks around each span; without them it is the text again."""
    parts, done = [], 0
    for start, end in spans:
        parts += [text[done:start], MARK, text[start:end], MARK]
        done = end
    return "".join([*parts, text[done:]])
