"""Say what the competition's ranking would see, one column for each route.

Flow: `recorder.py`'s observations, the rows and their cells -> **here** -> Markdown on stdout. Pure.
"""

import statistics
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from eval.cells import Cell, means
from eval.contract.evaluate_rules import LIMIT_S
from eval.rehearsal.recorder import Observed
from eval.rows import Row
from eval.scoring.catalogue import METRICS
from eval.scoring.judge_option import FAMILIES
from eval.tables import aligned, quantile

NOTHING = "–"
SCORES = {"rouge_l": "ROUGE-L", "bert_score_f1": "BERTScore, F1"} | {
    metric.name: f"judge: {metric.name}" for metric in METRICS.values() if metric.family in {*FAMILIES, "deepeval"}
}


@dataclass(frozen=True, slots=True)
class Column:
    """What came of the questions by one route.

    Attributes:
        route: `/run` or `/evaluate`.
        questions: that were to be asked.
        observed: by id, of those that were.
        rows: by id, as far as they were kept.
        cells: by id and metric.
    """

    route: str
    questions: int
    observed: Mapping[str, Observed]
    rows: Mapping[str, Row]
    cells: Mapping[str, Mapping[str, Cell]]

    def figures(self) -> dict[str, str]:
        """Return the lines of the table: what a figure is of, and how it is spelt."""
        seen = list(self.observed.values())
        outcomes = Counter(row.outcome for row in self.rows.values())
        seconds, first_s = [one.seconds for one in seen], [one.first_record_s for one in seen if one.first_record_s]
        size_kib = [one.size_bytes / 1024 for one in seen]
        return {
            "questions asked": f"{len(seen)} of {self.questions}",
            "answered": str(outcomes["answered"]),
            "say that they do not know": str(outcomes["declined"]),
            "empty answers": str(sum(one.empty for one in seen)),
            "errors, no reply": str(sum(bool(one.failure) and not one.empty for one in seen)),
            "replies that break the contract": str(sum(one.breaks for one in seen)),
            f"later than {LIMIT_S} s": str(sum(one.late for one in seen)),
            "whole answer, p50, s": _at(0.5, seconds),
            "whole answer, p95, s": _at(0.95, seconds),
            "whole answer, slowest, s": _at(1, seconds),
            "first record, p50, s": _at(0.5, first_s),
            "first record, p95, s": _at(0.95, first_s),
            "steps of an answer": _spread([len(one.step_chars) for one in seen]),
            "characters of a step": _spread([chars for one in seen for chars in one.step_chars]),
            "streams with steps after the answer": str(sum(one.late_steps for one in seen)),
            "on the wire, p50, KiB": _at(0.5, size_kib, ",.1f"),
            "on the wire, largest, KiB": _at(1, size_kib, ",.1f"),
        }

    def scores(self) -> dict[str, str]:
        """Return what the scores spell, by metric; those that apply to no row are left out."""
        found = means(self.cells.values(), {name for row in self.cells.values() for name in row} & SCORES.keys())
        partial = {name: f" ({mean.n}/{mean.of})" if mean.n < mean.of else "" for name, mean in found.items()}
        return {
            name: NOTHING if mean.value is None else f"{mean.value:.3f}{partial[name]}"
            for name, mean in found.items()
            if mean.of
        }


def table(columns: Sequence[Column]) -> str:
    """Return the table."""
    figures, scores = [column.figures() for column in columns], [column.scores() for column in columns]
    lines = [[name, *(column[name] for column in figures)] for name in figures[0]]
    known = [name for name in SCORES if any(name in column for column in scores)]
    lines += [[SCORES[name], *(column.get(name, NOTHING) for column in scores)] for name in known]
    return aligned(["", *(column.route for column in columns)], lines, left={0})


def failures(columns: Sequence[Column]) -> Iterator[str]:
    """Yield why replies are missing, the most frequent reason first."""
    for column in columns:
        for reason, count in Counter(one.failure for one in column.observed.values() if one.failure).most_common():
            yield f"- {column.route}, {count} of {column.questions}: {reason}"


def _at(share: float, values: Sequence[float], form: str = ".2f") -> str:
    return format(quantile(values, share), form) if values else NOTHING


def _spread(numbers: Sequence[int]) -> str:
    """Spell the median of some numbers, the smallest and the largest."""
    return f"{statistics.median(numbers):.0f} ({min(numbers)} to {max(numbers)})" if any(numbers) else NOTHING
