"""Fit the weights of the tree's evidence; report how well they generalise, and what each part of retrieval adds.

Flow: questions with regions, searched once -> **here** -> weights and a table of places; data sets -> a table of parts.

The weights make the leaves that answer the likeliest of all that were found (`listwise.py`). None is negative, and
`names` is at least `LEAST_NAMES`: each of these questions is about one manual, where names of files mislead, but
filings of companies are found by nothing else.
"""

import statistics
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from eval.cases import Case
from eval.metrics import Scores, mean_scores, score_passages
from eval.tables import aligned, figure
from index.documents.span_tree import split_node_id
from query_engine.retrieval.fusion import SCORERS, Candidates, Scorer, fuse_plainly, leaf_values, score_leaves
from query_engine.retrieval.merging.selection import choose_passages
from settings import RetrievalSettings
from training.listwise import Array, listwise_fit

Weights = Mapping[Scorer, float]
FOLDS = 5
PLACES = (1, 5, 10)
LEAST_NAMES = 0.03
PENALTY = 1e-4


@dataclass(frozen=True, slots=True)
class Ranked:
    """The leaves found for a question.

    Attributes:
        set_name: of the question.
        values: shape (leaves, `SCORERS`).
        right: shape (leaves,): at least half of the leaf, or of the region, stands in the other.
    """

    set_name: str
    values: Array
    right: npt.NDArray[np.bool_]

    def place(self, weights: Weights) -> float:
        """Return the place of the first right leaf, from 1; infinite if none was found."""
        order = np.argsort(-self.values @ _vector(weights), kind="stable")
        return 1.0 + int(np.argmax(self.right[order])) if self.right.any() else float("inf")


def ranked(set_name: str, found: Candidates, doc_id: str, regions: Collection[tuple[int, int]]) -> Ranked:
    """Return the leaves found for a question that `regions` of a document answer."""
    leaves = leaf_values(found)
    values = [[of.get(scorer, 0.0) for scorer in SCORERS] for of in leaves.values()]
    right = []
    for name in leaves:
        version, position = split_node_id(name)
        document = found.documents[version]
        leaf = document.tree[position]
        shared = [(min(leaf.end, end) - max(leaf.start, start), end - start) for start, end in regions]
        answers = any(2 * both >= min(leaf.end - leaf.start, length) for both, length in shared)
        right.append(document.doc_id == doc_id and answers)
    return Ranked(set_name, np.array(values).reshape(-1, len(SCORERS)), np.array(right, np.bool_))


def fitted(asked: Sequence[Ranked], start: Weights) -> dict[Scorer, float]:
    """Return the weights that make the right leaves likeliest, summing to 1."""
    learnt = [(one.values, one.right.astype(np.float64)) for one in asked if one.right.any()]
    # Sums of about 1 become log-odds.
    best = listwise_fit(learnt, 20 * _vector(start), np.full(len(SCORERS), PENALTY), least=0)
    weights = _normalised(dict(zip(SCORERS, best.tolist(), strict=True)))
    return _normalised({**weights, "names": max(weights["names"], LEAST_NAMES)})


def in_folds(asked: Sequence[Ranked], start: Weights) -> list[float]:
    """Return each question's place under weights that were fitted without its fold."""
    places = [0.0] * len(asked)
    for fold in range(FOLDS):
        weights = fitted([one for at, one in enumerate(asked) if at % FOLDS != fold], start)
        for at in range(fold, len(asked), FOLDS):
            places[at] = asked[at].place(weights)
    return places


def places_table(asked: Sequence[Ranked], systems: Mapping[str, Sequence[float]]) -> str:
    """Return a Markdown table: for each set, the share of questions with a right leaf among the first, 5 and 10."""
    header = [f"{name}: among {most}" for name in systems for most in PLACES]
    lines = []
    for name in dict.fromkeys(one.set_name for one in asked):
        own = [at for at, one in enumerate(asked) if one.set_name == name]
        shares = [np.mean([places[at] <= most for at in own]) for places in systems.values() for most in PLACES]
        lines.append([name, str(len(own)), *(figure(float(share)) for share in shares)])
    return aligned(["set", "questions", *header], lines)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of a data set with what the searches found for it."""

    set_name: str
    case: Case
    found: Candidates

    def scored(self, options: RetrievalSettings, weights: Weights) -> Scores:
        """Return the metrics of the passages that a question gets."""
        hits = (
            score_leaves(self.found, weights)
            if options.dense_share is None
            else fuse_plainly(self.found, options.dense_share)
        )
        groups = choose_passages(hits, self.found.documents, options)
        return score_passages(self.case, [group.passage() for group in groups])


def variants(options: RetrievalSettings, weights: Weights) -> dict[str, tuple[RetrievalSettings, Weights]]:
    """Return the variants to compare: all parts on, and each of them off."""
    table: dict[str, tuple[RetrievalSettings, Weights]] = {"all on": (options, weights)}
    for scorer in SCORERS:
        table[f"without {scorer}"] = (options, _normalised({**weights, scorer: 0.0}))
    table["only dense and lexical"] = (options, {**dict.fromkeys(SCORERS, 0.0), "dense": 0.68, "lexical": 0.32})
    table["plain fusion 60/40"] = (options.model_copy(update={"dense_share": 0.6}), weights)
    table["leaves, unmerged"] = (options.model_copy(update={"merge": False}), weights)
    return table


def parts_table(asked: Sequence[Asked], options: RetrievalSettings, weights: Weights) -> str:
    """Return a Markdown table: each variant's mean metric by set, and the mean of those."""
    names = list(dict.fromkeys(one.set_name for one in asked))
    lines = []
    for variant, given in variants(options, weights).items():
        scored = [(one.set_name, one.scored(*given)) for one in asked]
        means = [_mean(scores for of_set, scores in scored if of_set == name) for name in names]
        lines.append([variant, *map(figure, (*means, statistics.fmean(means)))])
    return aligned(["variant", *names, "mean"], lines)


def _mean(scored: Iterable[Scores]) -> float:
    """Return the mean of a set's metrics, each over the questions that have it."""
    return statistics.fmean([one.value or 0.0 for one in mean_scores(scored).values()] or [0.0])


def _vector(weights: Weights) -> Array:
    return np.array([weights[scorer] for scorer in SCORERS])


def _normalised(weights: Weights) -> dict[Scorer, float]:
    total = sum(weights.values())
    return {scorer: weights[scorer] / total for scorer in SCORERS}
