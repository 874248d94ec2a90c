"""What one metric says of one row: a score, "not applicable", or "failed: why"; and means that tell their coverage.

Flow: a metric -> **here** -> `run_folder.py` keeps it, `comparing/` and `reporting/` read it. Pure.

Three states, because a judge that broke is neither a zero nor a row to be passed over: zeros move a mean, and a mean
over the rows that happened to work rises when the hard ones fail. So every mean stands beside its coverage.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

Better = Literal["higher", "lower"]


class Cell(BaseModel):
    """One metric of one row. Exactly one of the three is set.

    Attributes:
        score: finite.
        not_applicable: what the row lacks for this metric, as one clause.
        failed: why there is no score although there should be one.
    """

    model_config = ConfigDict(frozen=True)

    score: Annotated[float, Field(allow_inf_nan=False)] | None = None
    not_applicable: str | None = None
    failed: str | None = None

    @model_validator(mode="after")
    def _one_state(self) -> Self:
        if sum(state is not None for state in (self.score, self.not_applicable, self.failed)) != 1:
            raise ValueError("A cell is a score, not applicable, or failed: exactly one of them.")
        return self


def scored(value: float) -> Cell:
    """Return a score; NaN and infinity are failures, never numbers."""
    return Cell(score=float(value)) if math.isfinite(value) else Cell(failed=f"the score is {value}")


def not_applicable(why: str) -> Cell:
    """Return "not applicable": `why` names what the row lacks."""
    return Cell(not_applicable=why)


def failed(why: str) -> Cell:
    """Return a failure."""
    return Cell(failed=why)


@dataclass(frozen=True, slots=True)
class Metric:
    """What a reader of a score must know.

    Attributes:
        name: key of the cells, e.g. `answer_recall@2000`.
        family: `retrieval`, `answer`, `citations`, `abstention`, `speed`, `ragas`, `deepeval`.
        better: which way is better.
        about: one sentence: what it measures, its range and unit.
    """

    name: str
    family: str
    better: Better
    about: str


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean and what it rests on.

    Attributes:
        value: None if nothing was scored.
        n: rows that were scored.
        of: rows that should have been: `n` and the failed ones. Rows the metric does not apply to are not counted.
    """

    value: float | None
    n: int
    of: int


def score_of(cells: Mapping[str, Cell], name: str) -> float | None:
    """Return a row's score by a metric; None if it has none."""
    return cells[name].score if name in cells else None


def mean(cells: Iterable[Cell | None]) -> Mean:
    """Average the scores; None (the row was never scored) counts as failed."""
    wanted = [cell for cell in cells if cell is None or cell.not_applicable is None]
    values = [cell.score for cell in wanted if cell is not None and cell.score is not None]
    return Mean(math.fsum(values) / len(values) if values else None, len(values), len(wanted))


def metric_names(cells: Mapping[str, Mapping[str, Cell]]) -> list[str]:
    """Return the names of all metrics, in order of their first appearance."""
    return list(dict.fromkeys(name for row in cells.values() for name in row))


def means(rows: Iterable[Mapping[str, Cell]], names: Iterable[str]) -> dict[str, Mean]:
    """Average each named metric over the rows."""
    kept = list(rows)
    return {name: mean(row.get(name) for row in kept) for name in names}
