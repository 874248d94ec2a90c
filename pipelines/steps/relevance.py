"""Find the sentences of texts that answer a query, without a language model.

Flow: `metadata.py` marks them, `summaries.py` quotes them, also in place of a language model that is not there ->
**here** -> the reader of `query_engine/reader/`. What is found is cut from the text by offset, so no word can be lost
or changed.
"""

import hashlib
import math
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, NamedTuple

from index.documents.guess import guessed_blocks
from index.documents.structure import Structure
from pipelines.handler import StepHandler
from query_engine.reader.layout import lay_out
from query_engine.reader.leaves import passage_text
from query_engine.reader.model import SHIPPED, PassageReader

# The most that the reader takes in one call.
WINDOW_CHARS = 850


class Scored(NamedTuple):
    """`[start, end)` of a text, and how likely it answers, as log-odds."""

    score: float
    start: int
    end: int


def read_texts(texts: list[str], query: str, handler: StepHandler) -> list[list[Scored]]:
    """Return the sentences of each text with their scores, in order; from the row cache where they are there."""

    def compute(some: list[Any]) -> Iterator[list[Scored]]:
        reader = handler.services.reader()
        for text in some:
            yield scored_sentences(reader, query, text)

    rows = handler.each(texts, ["relevance", _reader_name(), query], compute)
    return [[Scored(*one) for one in row] for row in rows]


def scored_sentences(reader: PassageReader, query: str, text: str) -> list[Scored]:
    """Return the sentences, rows and lines of a text that can answer by themselves, in order."""
    layout = lay_out(text, Structure(guessed_blocks(text)), 0, len(text))
    windows = _windows([(unit.start, unit.end) for unit in layout.units])
    read = reader.read(query, [passage_text("", layout, places) for places in windows]) if windows else []
    return [
        Scored(score, layout.units[place].start, layout.units[place].end)
        for places, scores in zip(windows, read, strict=True)
        for place, score in zip(places, scores.units, strict=True)
        if math.isfinite(score) and not layout.units[place].label and _says_something(layout.words(place))
    ]


def best_spans(sentences: Iterable[Scored], most: int) -> list[tuple[int, int]]:
    """Return the places of the sentences that most likely answer, at most so many, in their order."""
    best = sorted(sentences, key=lambda one: -one.score)[:most]
    return sorted((one.start, one.end) for one in best)


def _says_something(words: str) -> bool:
    """Say whether a unit is neither a rule nor the lead of a list."""
    return not words.endswith(":") and any(map(str.isalnum, words))


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
