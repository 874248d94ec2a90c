"""Read one run whole, tell what is missing in it, and work out every figure of its report.

Flow: `RunFolder` -> **here** -> `page.py` and `results.py`, which all show the same values.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from errors import RagError
from eval.cases import Case, apart, by_category
from eval.cells import Cell, Mean, Metric, means, metric_names, score_of
from eval.comparing.pairing import Joined, Run, join, read_run
from eval.comparing.verdicts import Difference, Verdicts, judge
from eval.reporting.failures import KINDS, Kind, Verdict, classify
from eval.run_folder import RunFolder
from eval.scoring.catalogue import DECLINED, OVER_ALL, TAKES, in_order
from eval.scoring.judged.families import OWN
from eval.scoring.judged.noise import noise
from eval.scoring.ragas_metrics import OF_CONTEXTS

# The order of a report.
TITLES = {
    "reply": "Reply",
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
EXAMPLES = 3
# Of each line the first metric that was scored: what was said, whether it is backed, whether it could be found.
MAIN = (
    ("answer_correctness", "word_recall", "contains", "crag_score"),
    ("faithfulness", "deepeval_faithfulness", "citation_recall", "citation_precision"),
    ("evidence@4000", "mrr", "recall@4000", "answer@4000"),
    ("similarity", "ragas_semantic_similarity", "token_f1"),
)


@dataclass(frozen=True)
class Group:
    """Some questions of a run.

    Attributes:
        differences: from another run over these questions; empty without one.
    """

    run: "Gathered"
    cases: Sequence[Case]
    differences: Sequence[Difference] = ()

    @cached_property
    def means(self) -> dict[str, Mean]:
        """The mean of every metric."""
        return means((self.run.cells[case.id] for case in self.cases), (metric.name for metric in self.run.metrics))

    @cached_property
    def counts(self) -> Counter[str]:
        """Questions by key of their class."""
        return Counter(self.run.verdicts[case.id].kind.key for case in self.cases)

    @cached_property
    def states(self) -> Counter[str]:
        """Questions by state of their class."""
        return Counter(self.run.verdicts[case.id].kind.state for case in self.cases)

    @cached_property
    def metrics(self) -> list[Metric]:
        """The metrics that say something of these questions: one was scored, or should have been."""
        both = len({case.unanswerable for case in self.cases}) == 2
        return [
            metric
            for metric in self.run.metrics
            if (metric.name not in OVER_ALL or both)
            and (self.means[metric.name].n or any(cell.failed for cell in self._cells(metric)))
        ]

    def share(self, metric: Metric) -> float | None:
        """Return the mean of a metric whose scores lie between 0 and 1; None for others: they are not shares."""
        is_share = metric.family not in TAKES and all(0 <= score <= 1 for score in self.run.scores_of(metric))
        return self.means[metric.name].value if is_share else None

    def beside(self, metric: Metric) -> Difference | None:
        """Return what the other run differs by; None without one."""
        return next((one for one in self.differences if one.metric.name == metric.name), None)

    def lacks(self, metric: Metric) -> str:
        """Return where a metric does not apply or can say nothing, and why; empty if it applies to all questions."""
        why, lacks = self._lacking(metric), ""
        if why:
            lacks = f"Does not apply to {why.total()} of {len(self.cases)} questions: {why.most_common(1)[0][0]}."
        if metric.name in OF_CONTEXTS and (blind := sum(self._is_blind(metric, case) for case in self.cases)):
            lacks += (
                f" Is 0 for {blind} questions although the passages hold what is looked for (context@8000): RAGAS "
                "wants passages that are like a reference context as a whole, letter by letter, and longer ones never "
                "are."
            )
        return lacks.strip()

    @property
    def unmeasured(self) -> dict[str, list[str]]:
        """The metrics that apply to none of these questions, by the reason that most of them give."""
        found: dict[str, list[str]] = {}
        for metric in self.run.metrics:
            why = self._lacking(metric)
            if why and metric not in self.metrics and metric.name not in OVER_ALL:
                found.setdefault(why.most_common(1)[0][0], []).append(metric.name)
        return found

    def _cells(self, metric: Metric) -> Iterator[Cell]:
        rows = (self.run.cells[case.id] for case in self.cases)
        return (row[metric.name] for row in rows if metric.name in row)

    def _lacking(self, metric: Metric) -> Counter[str]:
        """Count why a metric does not apply to questions."""
        return Counter(cell.not_applicable for cell in self._cells(metric) if cell.not_applicable is not None)

    def _is_blind(self, metric: Metric, case: Case) -> bool:
        """Whether RAGAS finds nothing in passages that hold half of the reference contexts' runs of words, or more."""
        return self.run.score(case, metric.name) == 0 and (self.run.score(case, "context@8000") or 0) >= 0.5


@dataclass(frozen=True)
class Gathered(Run):
    """A run with the figures of its report.

    Attributes:
        other: another run of the same questions, beside which this one is shown.
        joined: both, the other one first.
    """

    other: "Gathered | None" = None
    joined: Joined | None = None

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.path.resolve().name.encode(errors="replace").decode()

    @cached_property
    def metrics(self) -> list[Metric]:
        """Those that were scored, in the order of `TITLES`; ones that the catalogue does not know come last."""
        families = list(TITLES)
        return sorted(in_order(metric_names(self.cells)), key=lambda metric: families.index(metric.family))

    @cached_property
    def verdicts(self) -> dict[str, Verdict]:
        """The class of each question, by its id."""
        return {case.id: classify(case, self.rows.get(case.id), self.cells[case.id]) for case in self.cases}

    @cached_property
    def scatter(self) -> dict[str, float]:
        """How far the mean of each metric that a judge scored several times scatters: its standard deviation."""
        return {name: one.mean_sd / math.sqrt(one.repeats) for name, one in noise(self.scores).items()}

    @cached_property
    def against(self) -> Verdicts | None:
        """The verdicts on this run, against the other one."""
        return judge(self.joined) if self.joined else None

    @cached_property
    def answerable(self) -> Group:
        """The questions that have an answer, or may have one."""
        return Group(self, apart(self.cases)[0], self.against.answerable if self.against else ())

    @cached_property
    def unanswerable(self) -> Group:
        """The questions that the corpus does not answer."""
        return Group(self, apart(self.cases)[1], self.against.unanswerable if self.against else ())

    @cached_property
    def everything(self) -> Group:
        """All questions."""
        return Group(self, self.cases)

    @cached_property
    def categories(self) -> dict[str, Group]:
        """The questions by category."""
        return {name: Group(self, cases) for name, cases in by_category(self.cases).items()}

    @property
    def category_metrics(self) -> list[Metric]:
        """What the table by category shows: the main metrics, and what was declined."""
        declined = (metric for metric in self.metrics if metric.name in DECLINED)
        return list(dict.fromkeys([*self.main, *declined]))

    @property
    def counts(self) -> Counter[str]:
        """Questions by key of their class."""
        return self.everything.counts

    @property
    def kinds(self) -> list[Kind]:
        """The classes that came up, in the order of `KINDS`."""
        return [kind for kind in KINDS if self.counts[kind.key]]

    @property
    def failures(self) -> list[Kind]:
        """The classes of failures that came up."""
        return [kind for kind in self.kinds if kind.state == "bad"]

    @property
    def suggestions(self) -> list[Kind]:
        """The classes that came up and against which something can be tried, the most frequent first."""
        return sorted((kind for kind in self.kinds if kind.advice), key=lambda kind: -self.counts[kind.key])

    @property
    def source(self) -> str:
        """Where the scores come from: `offline`, `judge` or `mixed`."""
        judged = {metric.family in JUDGED for metric in self.metrics if metric.family not in TAKES}
        return "mixed" if len(judged) == 2 else "judge" if True in judged else "offline"

    @cached_property
    def main(self) -> list[Metric]:
        """Up to four metrics that stand for the run; the first ones there are, where none of `MAIN` was scored."""
        known = {metric.name: metric for metric in self.metrics if self.mean(metric).n}
        chosen = dict.fromkeys(next((name for name in names if name in known), "") for names in MAIN)
        others = [name for name, metric in known.items() if metric.family not in TAKES and name not in OVER_ALL]
        return [known[name] for name in chosen if name] or [known[name] for name in others[: len(MAIN)]]

    @cached_property
    def seconds(self) -> list[float]:
        """How long the replies took to the whole answer."""
        return [row.seconds for row in self.rows.values() if row.outcome != "failed" and row.seconds > 0]

    @cached_property
    def examples(self) -> list[tuple[Kind | None, Case]]:
        """Some questions of each class of failures; where there are few, the weakest right answers, without a class."""

        def score(case: Case) -> float:
            return math.fsum(self.score(case, metric.name) or 0.0 for metric in self.main)

        failed = [(kind, case) for kind in self.failures for case in self._of_kind(kind.key)[:EXAMPLES]]
        weakest = sorted(self._of_kind("right"), key=score)[: max(0, EXAMPLES - len(failed))]
        return [*failed, *((None, case) for case in weakest)]

    @cached_property
    def notices(self) -> list[str]:
        """What is missing, as sentences."""
        return list(self._notices())

    def changes(self, other: "Gathered") -> list[tuple[Case, Kind, Kind]]:
        """Return the questions whose class is good in the other run and bad here, or the contrary; losses first."""
        questions = {case.id: case.question for case in other.cases}
        shared = (case for case in self.cases if questions.get(case.id) == case.question)
        kinds = ((case, other.verdicts[case.id].kind, self.verdicts[case.id].kind) for case in shared)
        turned = (change for change in kinds if {change[1].state, change[2].state} == {"good", "bad"})
        return sorted(turned, key=lambda change: change[2].state)

    def mean(self, metric: Metric) -> Mean:
        """Return the mean over the answerable questions; over the others if the metric is of those alone."""
        mean = self.answerable.means[metric.name]
        return mean if mean.n else self.unanswerable.means[metric.name]

    def score(self, case: Case, name: str) -> float | None:
        """Return the score of a question; None where it has none."""
        return score_of(self.cells[case.id], name)

    def scores_of(self, metric: Metric) -> list[float]:
        """Return every score of a metric, in the order of the questions."""
        return [score for case in self.cases if (score := self.score(case, metric.name)) is not None]

    def _of_kind(self, key: str) -> list[Case]:
        return [case for case in self.cases if self.verdicts[case.id].kind.key == key]

    def _notices(self) -> Iterator[str]:
        cases, rows = self.cases, self.rows
        if unasked := len(cases) - len(rows):
            yield f"The run is unfinished: {unasked} of {len(cases)} questions were not asked."
        if failed := sum(row.outcome == "failed" for row in rows.values()):
            yield f"{failed} of {len(cases)} questions got no reply. The same run command asks them again."
        families: dict[int, list[str]] = {}
        for family in dict.fromkeys(metric.family for metric in self.metrics):
            names = {metric.name for metric in self.metrics if metric.family == family}
            families.setdefault(sum(not names & self.cells[id_].keys() for id_ in rows), []).append(family)
        for bare, of in families.items():
            if bare:
                yield (
                    f"{bare} of {len(rows)} replies have no scores of {', '.join(of)}; they count as failed. "
                    "Score them: python -m eval score FOLDER."
                )
        fingerprints = {row.fingerprint for row in rows.values() if row.fingerprint}
        if len(fingerprints) > 1:
            yield f"The replies come from {len(fingerprints)} different systems: {', '.join(sorted(fingerprints))}."
        if self.joined and self.other:
            shared = len(self.joined.cases)
            if not shared == len(cases) == len(self.other.cases):
                yield f"{shared} questions are in {self.other.name} as well; only these are compared with it."


def gather(folder: RunFolder, against: RunFolder | None = None) -> Gathered:
    """Read a run, and compare it with another one.

    Raises:
        RunFolderError: a folder holds no run, or a damaged one.
        RagError: nothing was asked yet or scored, or no question is in both runs.
    """
    run = read_run(folder)
    if not run.rows:
        raise RagError(
            f"{folder.path} has no replies yet.",
            f"Go on with it: python -m eval run QUESTIONS --out {folder.path}.",
            "nothing_to_report",
        )
    other = gather(against) if against else None
    return Gathered(**vars(run), other=other, joined=join(other, run) if other else None)
