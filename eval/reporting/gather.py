"""Read one run whole, and tell what is missing in it.

Flow: `RunFolder` -> **here** -> the page, the Markdown, the JSON and the CSV, which all show the same values.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from errors import RagError
from eval.cases import Case
from eval.cells import Cell, Metric
from eval.comparing.pairing import join, read_side
from eval.comparing.verdicts import Verdicts, judge
from eval.reporting.failures import KINDS, Kind, Verdict, classify
from eval.rows import Row
from eval.run_folder import Header, RunFolder, cells_of, judges_of
from eval.scoring.catalogue import METRICS
from eval.scoring.judged.families import OWN
from eval.scoring.judged.noise import noise
from eval.summary import OVER_ALL, Means, Summary, metric_names, summarise

# The order of a report.
TITLES = {
    "answer": "Answer",
    "bert_score": "BERTScore",
    "nuggets": "Nuggets",
    "citations": "Citations",
    "nuggets_judged": "Nuggets, by a judge",
    "key_points": "Key points, by a judge",
    "support": "Support by quotes, by a judge",
    "argue": "ARGUE, by a judge",
    "report_quality": "Report quality, by a judge",
    "abstention": "Abstention",
    "retrieval": "Retrieval",
    "relevance": "Relevance of passages, by a judge",
    "ragas": "RAGAS, by a judge",
    "deepeval": "DeepEval, by a judge",
    "ragas_offline": "RAGAS, computed",
    "speed": "Speed",
    "cost": "Cost",
    "other": "Other",
}
JUDGED = frozenset({*OWN, "ragas", "deepeval"})
UNKNOWN = "other"


class NothingToReportError(RagError):
    """A run has no replies, or no scores."""

    code = "nothing_to_report"


@dataclass(frozen=True, slots=True)
class Gathered:
    """A run, read.

    Attributes:
        name: of its folder.
        header: what it is of.
        cases: all questions, in their order.
        rows: reply by id; questions that were not asked have none.
        cells: id -> metric -> cell.
        metrics: those that were scored, by family; ones that the catalogue does not know come last.
        summary: the means.
        verdicts: id -> class.
        scatter: standard deviation of the mean of each metric that a judge scored several times, from how far it
            disagrees with itself.
        judges: the judging models by family, as far as the scores name them.
        notices: what is missing, as sentences.
    """

    name: str
    header: Header
    cases: tuple[Case, ...]
    rows: Mapping[str, Row]
    cells: Mapping[str, Mapping[str, Cell]]
    metrics: tuple[Metric, ...]
    summary: Summary
    verdicts: Mapping[str, Verdict]
    scatter: Mapping[str, float]
    judges: Mapping[str, str]
    notices: tuple[str, ...]

    @property
    def counts(self) -> Counter[str]:
        """Questions by key of their class."""
        return self.counts_of(self.cases)

    def counts_of(self, cases: Sequence[Case]) -> Counter[str]:
        """Return how many of these questions are in each class, by its key."""
        return Counter(self.verdicts[case.id].kind.key for case in cases)

    @property
    def kinds(self) -> list[Kind]:
        """The classes that came up, in the order of `KINDS`."""
        return [kind for kind in KINDS if self.counts[kind.key]]

    @property
    def source(self) -> str:
        """Where the scores come from: `offline`, `judge` or `mixed`."""
        judged = {metric.family in JUDGED for metric in self.metrics if metric.family not in ("speed", "cost")}
        return "mixed" if len(judged) == 2 else "judge" if True in judged else "offline"

    def of_kind(self, key: str) -> list[Case]:
        """Return the questions of a class, in their order."""
        return [case for case in self.cases if self.verdicts[case.id].kind.key == key]

    def not_applicable(self, case: Case) -> dict[str, list[str]]:
        """Return why metrics do not apply to a question: reason -> their names."""
        reasons: dict[str, list[str]] = {}
        for name, cell in self.cells.get(case.id, {}).items():
            if cell.not_applicable is not None:
                reasons.setdefault(cell.not_applicable, []).append(name)
        return reasons

    def told(self, means: Means, cases: Sequence[Case]) -> list[Metric]:
        """Return the metrics that say something of these cases: one was scored, or should have been."""
        cells = [self.cells.get(case.id, {}) for case in cases]
        both = len({case.unanswerable for case in cases}) == 2
        return [
            metric
            for metric in self.metrics
            if (metric.name not in OVER_ALL or both)
            and (means[metric.name].n or any(row[metric.name].failed for row in cells if metric.name in row))
        ]


@dataclass(frozen=True, slots=True)
class Against:
    """Another run of the same questions, beside which this one is shown.

    Attributes:
        run: the other run.
        verdicts: on this run, against it.
        notice: what to say of questions that are not in both; empty if all are.
    """

    run: Gathered
    verdicts: Verdicts
    notice: str


def gather(folder: RunFolder) -> Gathered:
    """Read a run.

    Raises:
        RunFolderError: the folder holds no run, or a damaged one.
        NothingToReportError: nothing was asked yet, or nothing was scored.
    """
    header, cases, rows = folder.header(), folder.cases(), folder.rows()
    lines = folder.scores(rows)
    cells = cells_of(lines)
    if not rows:
        raise NothingToReportError(
            f"{folder.path} has no replies yet.", f"Go on with it: python -m eval run QUESTIONS --out {folder.path}."
        )
    if not cells:
        raise NothingToReportError(
            f"{folder.path} has no scores.", f"Score it first: python -m eval score {folder.path}."
        )
    metrics = tuple(known_metrics(metric_names(cells)))
    return Gathered(
        name=folder.path.resolve().name,
        header=header,
        cases=cases,
        rows=rows,
        cells=cells,
        metrics=metrics,
        summary=summarise(cases, cells),
        verdicts={case.id: classify(case, rows.get(case.id), cells.get(case.id, {})) for case in cases},
        scatter={name: one.mean_sd / math.sqrt(one.repeats) for name, one in noise(lines).items()},
        judges=judges_of(lines),
        notices=tuple(_notices(cases, rows, cells, metrics)),
    )


def read_against(folder: RunFolder, other: RunFolder) -> Against:
    """Read another run, and compare this one with it.

    Raises:
        RunFolderError: a folder holds no run, or a damaged one.
        NotComparableError: no question is in both.
    """
    joined = join(read_side(other), read_side(folder))
    run, shared = gather(other), len(joined.cases)
    whole = shared == len(folder.cases()) == len(run.cases)
    notice = "" if whole else f"{shared} questions are in {run.name} as well; only these are compared with it."
    return Against(run, judge(joined), notice)


def known_metrics(names: Sequence[str]) -> list[Metric]:
    """Return the metrics of these names by family, each family in the catalogue's order.

    One that the catalogue does not know belongs to `other` and says so.
    """
    order = {name: place for place, name in enumerate(METRICS)}
    found = [
        METRICS.get(name) or Metric(name, UNKNOWN, "higher", "A metric that this version of Treeline does not know.")
        for name in names
    ]
    families = dict.fromkeys(
        (
            *(family for family in TITLES if family != UNKNOWN),
            *(metric.family for metric in found if metric.family != UNKNOWN),
            UNKNOWN,
        )
    )
    rank = {family: place for place, family in enumerate(families)}
    return sorted(found, key=lambda metric: (rank[metric.family], order.get(metric.name, len(order))))


def _notices(
    cases: Sequence[Case],
    rows: Mapping[str, Row],
    cells: Mapping[str, Mapping[str, Cell]],
    metrics: Sequence[Metric],
) -> list[str]:
    found = []
    if unasked := len(cases) - len(rows):
        found.append(f"The run is unfinished: {unasked} of {len(cases)} questions were not asked.")
    if failed := sum(row.outcome == "failed" for row in rows.values()):
        found.append(f"{failed} of {len(cases)} questions got no reply. The same run command asks them again.")
    families: dict[int, list[str]] = {}
    for family in dict.fromkeys(metric.family for metric in metrics):
        names = {metric.name for metric in metrics if metric.family == family}
        families.setdefault(sum(not names & cells.get(id_, {}).keys() for id_ in rows), []).append(family)
    found += [
        f"{bare} of {len(rows)} replies have no scores of {', '.join(of)}; they count as failed. "
        "Score them: python -m eval score FOLDER."
        for bare, of in families.items()
        if bare
    ]
    fingerprints = {row.fingerprint for row in rows.values() if row.fingerprint}
    if len(fingerprints) > 1:
        found.append(f"The replies come from {len(fingerprints)} different systems: {', '.join(sorted(fingerprints))}.")
    return found
