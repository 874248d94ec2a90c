"""Measure what each part of the answer path adds: ask the questions of `helpful` with one part at a time switched off.

Flow: `ablate_parts.py` (parts) -> **here**, an engine that remembers -> table, and JSON. `python -m bench ablate`.

Search results and reader scores are cached across parts, so each part costs only what it changes.
"""

import argparse
import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from bench.arguments import names_in
from bench.build import OURS, open_engines, stored_text
from bench.datasets import DataSet
from bench.figures import keep, made_on
from bench.quality.ablate_parts import Part, chosen_parts
from bench.quality.helpful.asking import Answered, System, ask_all, said
from bench.quality.helpful.command import add_natural_sets, naturally_asked
from bench.quality.helpful.sets import Asked
from bench.quality.helpful.systems import streaming
from eval.tables import aligned, figure
from query_engine.engine import Engine
from query_engine.reader.leaves import stored_documents
from query_engine.reader.model import PassageReader, PassageText, Scores, shipped_reader
from query_engine.reader.reading import LeafReader
from query_engine.schema.retrieval_result import Retrieval
from settings import RetrievalSettings, Settings

# Enough for the windows of several hundred questions, 12 kB each.
KEPT_VECTORS = 30_000
NOTHING_OFF = Part("everything on")
# The score of a question is the first of these measures that it has; a near miss scores by being declined.
ANSWERED = ("helpful", "sentence F1", "contained")
NEAR_MISSES = ("declined near misses", "declined unanswerable")
# Smaller differences between two scores are rounding.
LEAST_DIFFERENCE = 1e-9


Open = Callable[[Settings, bool], System]
"""Opens our engine with these settings; True bypasses the cached search results."""
Rows = dict[str, dict[str, list[Answered]]]
"""Set -> name of a part -> its answers, in the same order for each part."""


class RememberingReader:
    """Caches the scores of each question and passage."""

    def __init__(self, reader: PassageReader) -> None:
        self._reader = reader
        self._known: dict[tuple[str, PassageText], Scores] = {}

    def read(self, question: str, passages: Sequence[PassageText]) -> list[Scores]:
        """Return the scores of each passage, in order."""
        missing = [one for one in dict.fromkeys(passages) if (question, one) not in self._known]
        if missing:
            read = self._reader.read(question, missing)
            self._known.update(((question, one), scores) for one, scores in zip(missing, read, strict=True))
        return [self._known[question, one] for one in passages]


Found = dict[tuple[str, RetrievalSettings | None], Retrieval]


def remember_search(engine: Engine, found: Found) -> None:
    """Have an engine keep its search results by question and options in `found`, which engines may share."""
    search = engine.search.passages

    def remembered(question: str, **given: Any) -> Retrieval:
        key = question, given.get("options")
        if key not in found:
            found[key] = search(question, **given)
        return found[key]

    engine.search.passages = remembered  # type: ignore[method-assign]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `python -m bench ablate`."""
    parser.description = (
        "Ask the questions of `helpful` with every part on, then with each part off, then with each group off."
    )
    add_natural_sets(parser)
    parser.add_argument(
        "--parts", default="", help="comma-separated prefixes of the names of parts, such as `gate,windows: several`"
    )


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Ask without each part, and print one table."""
    parts = chosen_parts(names_in(arguments.parts))
    rows: Rows = {}
    for corpus in naturally_asked(arguments):
        with open_switchable(corpus.data_set, settings) as open_with:
            ask_without(parts, corpus, settings, open_with, rows)
    figures = compared(rows)
    print(f"{table(figures)}\n\n{made_on()}")
    keep("ablate", figures, settings)
    return 0


@contextmanager
def open_switchable(data_set: DataSet, settings: Settings) -> Iterator[Open]:
    """Yield a function that opens our engine with other settings; the engines share search results and reader scores.

    They quote, even if a language model is set.
    """
    embed = settings.embed.model_copy(update={"kept_vectors": KEPT_VECTORS})
    with open_engines(data_set, settings.model_copy(update={"embed": embed})) as engines:
        whole, embedder, known = engines.get(), engines.embedder, RememberingReader(shipped_reader())
        corpus = whole.corpus
        found: Found = {}

        def open_with(other: Settings, search_again: bool) -> System:
            documents = stored_documents(corpus.documents)
            # Not shared: a reader caches readings, which depend on the part that is off.
            reader = LeafReader(known, documents, corpus.lexical_index, embedder)
            engine = Engine(corpus, embedder, reader, (), settings=other, pipeline=whole.pipeline)
            remember_search(engine, {} if search_again else found)
            return streaming(OURS, engine.stream, stored_text(engine))

        yield open_with


def ask_without(parts: Sequence[Part], asked: Asked, settings: Settings, open_with: Open, rows: Rows) -> None:
    """Ask the questions of one corpus with every part on, then with each part off; add the answers to `rows`.

    Raises:
        AttributeError: a part names something that no longer exists.
    """
    for part in (NOTHING_OFF, *parts):
        with part.off(settings) as other:
            system = replace(open_with(other, part.searches), name=part.name)
            for name, cases in asked.cases.items():
                answered = asyncio.run(ask_all(cases, system, asked.documents))
                rows.setdefault(name, {}).setdefault(part.name, []).extend(answered)


def compared(rows: Rows) -> dict[str, dict[str, Any]]:
    """Return by set and part how many answers changed, the ids of better and worse ones, and the mean scores."""
    return {
        name: {part: _compared(parts[NOTHING_OFF.name], answered) for part, answered in parts.items()}
        for name, parts in rows.items()
    }


def table(figures: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> str:
    """Return a row for each part: in each set, the changed, better and worse answers and the mean scores."""
    columns = ("changed", "better", "worse", "score", "near misses declined")
    header = [f"{name}: {columns[0]}" if not at else column for name in figures for at, column in enumerate(columns)]
    parts = dict.fromkeys(part for of_set in figures.values() for part in of_set)
    lines = [[part, *(cell for of_set in figures.values() for cell in _cells(of_set[part]))] for part in parts]
    return aligned(["without", *header], lines)


def _cells(figures: Mapping[str, Any]) -> tuple[str, ...]:
    counts = (figures["changed"], len(figures["better"]), len(figures["worse"]))
    return (*map(str, counts), figure(figures["score"]), figure(figures["near_misses_declined"]))


def _compared(before: Sequence[Answered], after: Sequence[Answered]) -> dict[str, Any]:
    pairs = list(zip(before, after, strict=True))
    gains = [(now.case.id, _worth(now) - _worth(then)) for then, now in pairs]
    return {
        "changed": sum(_shown(then) != _shown(now) for then, now in pairs),
        "better": [case_id for case_id, gain in gains if gain > LEAST_DIFFERENCE],
        "worse": [case_id for case_id, gain in gains if gain < -LEAST_DIFFERENCE],
        "score": _mean(after, ANSWERED),
        "near_misses_declined": _mean(after, NEAR_MISSES),
    }


def _shown(one: Answered) -> tuple[object, ...]:
    """What a reader sees of an answer; its times and fingerprint differ anyway."""
    return said(one.row), one.row.citations, one.row.warnings


def _worth(row: Answered) -> float:
    return next(row.scores[one] for one in (*ANSWERED, *NEAR_MISSES) if one in row.scores)


def _mean(rows: Sequence[Answered], measures: Sequence[str]) -> float | None:
    values = [row.scores[one] for row in rows for one in measures if one in row.scores]
    return sum(values) / len(values) if values else None
