"""Describe each document: its length, its language, and which of its sentences answer the query.

Flow: a text column -> **here** -> a column of short facts, or the text with its relevant sentences marked. The reader
of `query_engine/reader/` judges, or the language model (`model_marking.py`); what is marked is cut from the text by
offset, so no word can be lost or changed.
"""

import hashlib
import math
import re
from collections.abc import Iterable
from functools import cache
from typing import Any, Literal

from index.documents.guess import guessed_blocks
from index.documents.structure import Structure
from index.lexical.language import question_language
from ingestion.reading.language import namer
from pipelines.handler import StepHandler
from pipelines.parameters import ColumnName, StepParameters, Text, parameter
from pipelines.services import Services
from pipelines.state import PipelineState
from pipelines.step import FULL_TEXT, RowStep, Step
from pipelines.steps.language_model import asks_model, check_method, has_model, model_parameter
from pipelines.steps.model_marking import MARK, model_marks
from query_engine.reader.layout import lay_out
from query_engine.reader.leaves import passage_text
from query_engine.reader.model import SHIPPED, PassageReader

# The most that the reader takes in one call.
WINDOW_CHARS = 850
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
        "Marks the sentences of each document that answer the query, between two asterisks, and says where they stand."
    )
    closed = True

    class Parameters(StepParameters):
        """What is read, and by which query."""

        input_column: ColumnName = parameter(
            FULL_TEXT, "Input column", "Column that is read.", column="reads", offered=(FULL_TEXT,)
        )
        output_column: ColumnName = parameter(
            "highlight-full-text", "Output column", "Column for the text with its marks.", column="writes"
        )
        spans_column: ColumnName = parameter(
            "relevant_spans",
            "Spans column",
            "Column for the marked sentences: start, end and quote of each; in the document where the text is its own.",
            column="writes",
        )
        query: Text = parameter("", "Optional query", "Query of this step alone; empty: the pipeline's.")
        method: Literal["auto", "reader", "model"] = parameter(
            "auto",
            "Method",
            "The service's reader chooses sentences; or the language model marks passages in a copy, which must "
            "reproduce the text. `auto`: the model where `model` names it.",
        )
        model: Text = model_parameter()

    def check(self, services: Services) -> None:
        """Refuse a language model that is not there."""
        check_method(services, self.given)

    def transform(self, state: PipelineState, handler: StepHandler) -> PipelineState:
        """Add the marked text and the places of the marks."""
        query = self.given.query or state.query
        texts = state.texts(self.given.input_column)
        name = [self.id, self.version]

        def compute(some: list[Any]) -> Iterable[Any]:
            reader = handler.services.reader()
            for text in some:
                yield relevant_spans(reader, query, text)

        if asks_model(self.given) and has_model(handler, self.given.model, READER_INSTEAD):
            spans: list[Any] = model_marks(texts, query, handler, name=name)
        else:
            spans = handler.each(texts, [*name, _reader_name(), query], compute)
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


def relevant_spans(reader: PassageReader, query: str, text: str) -> list[tuple[int, int]]:
    """Return the sentences of a text that most likely answer, at most three, in order, as `[start, end)`."""
    layout = lay_out(text, Structure(guessed_blocks(text)), 0, len(text))
    windows = _windows([(unit.start, unit.end) for unit in layout.units])
    if not windows:
        return []
    read = reader.read(query, [passage_text("", layout, places) for places in windows])
    scored = [
        (score, layout.units[place])
        for places, scores in zip(windows, read, strict=True)
        for place, score in zip(places, scores.units, strict=True)
        if math.isfinite(score) and not layout.units[place].label
    ]
    best = sorted((one for one in scored if one[0] >= MARKED_FROM), key=lambda one: -one[0])[:MOST_MARKED]
    return sorted((unit.start, unit.end) for _, unit in best)


def with_marks(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return the text with two asterisks around each span; without them it is the text again."""
    parts, done = [], 0
    for start, end in spans:
        parts += [text[done:start], MARK, text[start:end], MARK]
        done = end
    return "".join([*parts, text[done:]])


def _windows(units: list[tuple[int, int]]) -> list[range]:
    """Return runs of units, each as long as the reader can take."""
    found: list[range] = []
    first = 0
    for place, (_, end) in enumerate(units):
        if place > first and end - units[first][0] > WINDOW_CHARS:
            found.append(range(first, place))
            first = place
    return [*found, range(first, len(units))] if units else []


@cache
def _reader_name() -> str:
    """Name the reader by its weights."""
    with (SHIPPED / "reader.bin").open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]
