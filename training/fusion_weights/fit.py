"""Fit the weights of the tree's evidence; report how well they generalise, and what each part of retrieval adds.

Flow: data sets -> each question is searched once -> **here** -> weights, two tables. Weighing and merging are done
again for each variant, with the functions that answer questions; the searches are not.

The weights are fitted by coordinate ascent on the mean, over the sets, of each set's mean metric. To say how well they
generalise, they are fitted on the questions at even places and scored on the others, and the other way round; the
scores of both halves together are the two-fold figures. The weights to ship are fitted on all questions, on several
bootstrap samples of them (Efron 1979), and the median of each weight is taken, so that a single question does not
decide a weight.
"""

import random
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from bench.quality.retrieval import in_order
from eval.cases import Case
from eval.metrics import BUDGETS_CHARS, Scores, score_passages
from index.documents.span_tree import split_node_id
from query_engine.retrieval.fusion import SCORERS, WEIGHTS, Candidates, Scorer, fuse_plainly, leaf_values, score_leaves
from query_engine.retrieval.hybrid import LeafRetriever
from query_engine.retrieval.merging.selection import choose_passages
from query_engine.schema.query import Query
from settings import RetrievalSettings

Weights = Mapping[Scorer, float]
STEPS = (0.0, 0.5, 0.75, 1.33, 2.0)
ROUNDS = 3
SAMPLES = 9


@dataclass(frozen=True, slots=True)
class _Leaf:
    """A leaf as the metrics want it."""

    doc_id: str
    text: str
    pages: tuple[int, ...]


@dataclass
class Asked:
    """One question with what the searches found for it.

    Attributes:
        set_name: the data set it belongs to.
    """

    set_name: str
    case: Case
    found: Candidates
    _known: dict[tuple[int, ...], Scores] = field(default_factory=dict)

    def score(self, weights: Weights) -> Scores:
        """Return the metrics of the best leaves that fill the budget, unmerged: what the weights are fitted by."""
        order = np.argsort(-self._values @ np.array([weights[scorer] for scorer in SCORERS]), kind="stable")
        taken: list[int] = []
        room = max(BUDGETS_CHARS)
        for place in order.tolist():
            room -= len(self._leaves[place].text)
            if taken and room < 0:
                break
            taken.append(place)
        key = tuple(taken)
        if key not in self._known:
            self._known[key] = score_passages(self.case, [self._leaves[place] for place in key])
        return self._known[key]

    def score_passages(self, options: RetrievalSettings, weights: Weights) -> Scores:
        """Return the metrics of the passages that a question gets."""
        hits = (
            fuse_plainly(self.found, options.dense_share)
            if options.fusion == "plain"
            else score_leaves(self.found, weights)
        )
        groups = choose_passages(hits, self.found.documents, options)
        return score_passages(self.case, [group.passage() for group in groups])

    @cached_property
    def _known_values(self) -> dict[str, dict[Scorer, float]]:
        return leaf_values(self.found)

    @cached_property
    def _values(self) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
        # No word of the question may occur; then the lexical search judges no leaf.
        rows = [[values.get(scorer, 0.0) for scorer in SCORERS] for values in self._known_values.values()]
        return np.array(rows).reshape(-1, len(SCORERS))

    @cached_property
    def _leaves(self) -> list[_Leaf]:
        return [self._leaf(name) for name in self._known_values]

    def _leaf(self, name: str) -> _Leaf:
        version, position = split_node_id(name)
        document = self.found.documents[version]
        span = document.tree[position]
        pages = document.pages_of(span.start, span.end)
        return _Leaf(document.doc_id, document.text[span.start : span.end], pages)


def ask(set_name: str, retriever: LeafRetriever, cases: Sequence[Case]) -> list[Asked]:
    """Search once for every question that has a metric."""
    asked = [Asked(set_name, case, retriever.find(Query(case.question))) for case in cases]
    return [one for one in asked if one.score(WEIGHTS)]


def fit(asked: Sequence[Asked], start: Weights = WEIGHTS) -> dict[Scorer, float]:
    """Return the weights that do best on these questions, summing to 1."""
    weights = dict(start)
    best = _objective(asked, lambda one: one.score(weights))
    for _ in range(ROUNDS):
        for scorer in SCORERS:
            for step in STEPS:
                trial = weights | {scorer: weights[scorer] * step or (0.0 if step == 0 else 0.02)}
                score = _objective(asked, lambda one, trial=trial: one.score(trial))  # type: ignore[misc]
                if score > best:
                    best, weights = score, trial
    return _normalised(weights)


def fit_robustly(asked: Sequence[Asked], seed: int) -> dict[Scorer, float]:
    """Return the median of each weight over fits on bootstrap samples of the questions, summing to 1."""
    draw = random.Random(seed)  # noqa: S311  # repeatable, and no secret
    by_set = _by_set(asked)
    fits = [
        fit([one for of_set in by_set.values() for one in draw.choices(of_set, k=len(of_set))]) for _ in range(SAMPLES)
    ]
    return _normalised({scorer: statistics.median(weights[scorer] for weights in fits) for scorer in SCORERS})


def two_fold(asked: Sequence[Asked], options: RetrievalSettings, seed: int) -> list[tuple[Asked, Scores]]:
    """Return the metrics of each question under weights that were fitted without its half."""
    places = [place for of_set in _by_set(asked).values() for place in range(len(of_set))]
    ordered = [one for of_set in _by_set(asked).values() for one in of_set]
    scored = []
    for half in (0, 1):
        own = [one for one, place in zip(ordered, places, strict=True) if place % 2 == half]
        weights = fit_robustly([one for one, place in zip(ordered, places, strict=True) if place % 2 != half], seed)
        scored += [(one, one.score_passages(options, weights)) for one in own]
    return scored


def variants(options: RetrievalSettings, weights: Weights) -> dict[str, tuple[RetrievalSettings, Weights]]:
    """Return the variants to compare: all parts on, and each of them off."""
    table: dict[str, tuple[RetrievalSettings, Weights]] = {"all on": (options, weights)}
    for scorer in SCORERS:
        table[f"without {scorer}"] = (options, _normalised({**weights, scorer: 0.0}))
    table["only dense and lexical"] = (options, {**dict.fromkeys(SCORERS, 0.0), "dense": 0.68, "lexical": 0.32})
    table["plain fusion 60/40"] = (options.model_copy(update={"fusion": "plain"}), weights)
    table["leaves, unmerged"] = (options.model_copy(update={"merge": False}), weights)
    return table


def ablation(asked: Sequence[Asked], options: RetrievalSettings, weights: Weights) -> str:
    """Return a Markdown table: each variant's mean metric by set, and the mean of those."""
    names = list(_by_set(asked))
    lines = [f"| variant | {' | '.join(names)} | mean |", f"|---|{'---:|' * (len(names) + 1)}"]
    for variant, (own_options, own_weights) in variants(options, weights).items():
        scored = [(one, one.score_passages(own_options, own_weights)) for one in asked]
        means = [statistics.fmean(of_set.values()) for of_set in means_by_set(scored).values()]
        cells = [f"{value:.3f}" for value in (*means, statistics.fmean(means))]
        lines.append(f"| {variant} | {' | '.join(cells)} |")
    return "\n".join(lines)


def comparison(systems: Mapping[str, Mapping[str, Mapping[str, float]]]) -> str:
    """Return a Markdown table of system -> set -> metric -> mean."""
    first = next(iter(systems.values()))
    lines = [f"| set | metric | {' | '.join(systems)} |", f"|---|---|{'---:|' * len(systems)}"]
    for name, metrics in first.items():
        for metric in in_order(metrics):
            cells = [f"{system[name][metric]:.3f}" for system in systems.values()]
            lines.append(f"| {name} | {metric} | {' | '.join(cells)} |")
    return "\n".join(lines)


def means_by_set(scored: Sequence[tuple[Asked, Scores]]) -> dict[str, dict[str, float]]:
    """Return set -> metric -> mean over the questions that have it."""
    values: dict[str, dict[str, list[float]]] = {}
    for one, scores in scored:
        for metric, score in scores.items():
            values.setdefault(one.set_name, {}).setdefault(metric, []).append(score)
    return {name: {metric: statistics.fmean(of) for metric, of in metrics.items()} for name, metrics in values.items()}


def _objective(asked: Sequence[Asked], score: Callable[[Asked], Scores]) -> float:
    means = means_by_set([(one, score(one)) for one in asked])
    return statistics.fmean(statistics.fmean(metrics.values()) for metrics in means.values())


def _by_set(asked: Sequence[Asked]) -> dict[str, list[Asked]]:
    sets: dict[str, list[Asked]] = {}
    for one in asked:
        sets.setdefault(one.set_name, []).append(one)
    return sets


def _normalised(weights: Weights) -> dict[Scorer, float]:
    total = sum(weights.values())
    return {scorer: weights[scorer] / total for scorer in SCORERS}
