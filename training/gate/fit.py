"""Learn the gate's classifier from examples, and judge it on questions it has not seen.

Flow: `examples.py` -> **here** -> `query_engine/answerability/gate.json`, and `report.py` for people.

A logistic regression over standardised features: few weights, each of which can be read, and probabilities that are
calibrated as they come (the report shows it). Examples are weighted, so that every data set counts the same and the
probabilities mean what they say where `PRIOR` of the questions can be answered.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import GroupKFold, LeaveOneGroupOut
from sklearn.preprocessing import StandardScaler

from query_engine.answerability.classifier import Classifier, Weight
from training.gate.examples import ANSWERED, PASSAGES_REMOVED, UNANSWERABLE, Example

# People ask their documents mostly what these answer. Of 2/3, 3/4 and 4/5 the one with which the sample corpus's
# answerable questions are declined no more often than by weights rounded by hand.
PRIOR = 0.75
FOLDS = 5

Array = npt.NDArray[np.float64]
Fit = Callable[[Sequence[Example]], Classifier]


@dataclass(frozen=True, slots=True)
class Judged:
    """Probabilities of examples, each by a classifier that has not seen its question (or its data set).

    Attributes:
        examples: n of them.
        probabilities: shape (n,).
        weights: shape (n,), their mean is 1.
    """

    examples: Sequence[Example]
    probabilities: Array
    weights: Array

    @property
    def answered(self) -> npt.NDArray[np.bool_]:
        """Shape (n,): whether the passages hold the answer."""
        return np.array([example.answered for example in self.examples])

    def roc_auc(self) -> float:
        """Chance that an answered example stands above one without answer."""
        return float(roc_auc_score(self.answered, self.probabilities, sample_weight=self.weights))

    def log_loss(self) -> float:
        """Mean of -ln(probability given to what was the case); lower is better."""
        return float(log_loss(self.answered, self.probabilities, sample_weight=self.weights))

    def precision_recall(self, threshold: float) -> tuple[float, float]:
        """Share of what passes that is answered, and share of what is answered that passes."""
        passes = self.probabilities >= threshold
        hits = self.weights[passes & self.answered].sum()
        return float(hits / self.weights[passes].sum()), float(hits / self.weights[self.answered].sum())

    def only(self, chosen: Callable[[Example], bool]) -> "Judged":
        """Return a part of it."""
        here = np.array([chosen(example) for example in self.examples])
        examples = [example for example in self.examples if chosen(example)]
        return Judged(examples, self.probabilities[here], self.weights[here])


def train(examples: Sequence[Example], features: Sequence[str]) -> Classifier:
    """Fit a classifier on these features."""
    values = _values(examples, features)
    weights = example_weights(examples)
    scaler = StandardScaler().fit(values, sample_weight=weights)
    regression = LogisticRegression(max_iter=1000)
    regression.fit(scaler.transform(values), [example.answered for example in examples], sample_weight=weights)
    rows = zip(features, scaler.mean_, scaler.scale_, regression.coef_[0], strict=True)
    return Classifier(
        bias=round(float(regression.intercept_[0]), 4),
        weights=tuple(Weight(name, *(round(float(number), 4) for number in numbers)) for name, *numbers in rows),
    )


def judge(examples: Sequence[Example], fit: Fit, *, leave_sets_out: bool = False) -> Judged:
    """Cross-validate: judge each part of the examples by a classifier fitted on the others.

    Args:
        examples: of at least two data sets if `leave_sets_out`.
        fit: makes the classifier.
        leave_sets_out: a part is a data set; otherwise a fifth of the questions, wherever they were asked.
    """
    probabilities = np.zeros(len(examples))
    for part in _parts(examples, leave_sets_out):
        chosen = set(part)
        classifier = fit([example for i, example in enumerate(examples) if i not in chosen])
        for i in part:
            probabilities[i] = classifier.probability(examples[i].features)
    return Judged(examples, probabilities, example_weights(examples))


def example_weights(examples: Sequence[Example]) -> Array:
    """Weigh data sets the same; in each `PRIOR` for answered examples, the rest in equal parts for the other kinds.

    The few unanswerable questions count as one kind with the passages that lack the answer.

    Returns:
        Shape (n,), mean 1.
    """
    groups = [
        (example.data_set, PASSAGES_REMOVED if example.kind == UNANSWERABLE else example.kind) for example in examples
    ]
    kinds = {data_set: {kind for name, kind in groups if name == data_set} for data_set, _ in groups}
    sizes = {group: groups.count(group) for group in set(groups)}
    weights = np.array(
        [
            (PRIOR if kind == ANSWERED else (1 - PRIOR) / len(kinds[data_set] - {ANSWERED})) / sizes[data_set, kind]
            for data_set, kind in groups
        ]
    )
    return np.asarray(weights / weights.mean())


def _parts(examples: Sequence[Example], leave_sets_out: bool) -> list[list[int]]:
    splitter = LeaveOneGroupOut() if leave_sets_out else GroupKFold(FOLDS)
    groups = [example.data_set if leave_sets_out else example.question_id for example in examples]
    return [part.tolist() for _, part in splitter.split(groups, groups=groups)]


def _values(examples: Sequence[Example], features: Sequence[str]) -> Any:
    return np.array([[getattr(example.features, name) for name in features] for example in examples])
