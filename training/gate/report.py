"""Report in Markdown what the gate's classifier learnt, from what, and how well it does on unseen questions.

Flow: `fit.py` -> **here** -> `docs/gate.md` (`report`) and stdout (also `by_data_set`). Every figure is computed
here; the prose around them must hold for any run.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import pairwise

import numpy as np

from query_engine.answerability.classifier import Classifier, Weight
from training.gate.examples import (
    ANSWERED,
    BEARING_SHARE,
    DOCUMENTS_REMOVED,
    FOREIGN,
    KINDS,
    PASSAGES_REMOVED,
    UNANSWERABLE,
    Example,
)
from training.gate.fit import FOLDS, PRIOR, Fit, Judged, judge, train

# The gate before it was trained: two features with weights rounded by hand.
BY_HAND = Classifier(-6.5, (Weight("similarity", 0.0, 1.0, 11.0), Weight("coverage", 0.0, 1.0, 3.9)))
BY_HAND_FEATURES = tuple(weight.feature for weight in BY_HAND.weights)
TRAINED, REFITTED, HAND = "trained", "`similarity` and `coverage` alone, trained", "the same two, weighed by hand"
RELIABILITY_BINS = 5

_INTRODUCTION = f"""# The gate, and how it was trained

The gate decides whether the passages found hold an answer: a logistic regression over the features in
`query_engine/answerability/features.py`. This command writes its weights
(`query_engine/answerability/gate.json`) and this page:

    python -m training.gate --data DIR --write

By default only data sets with licences for any use are taken. What is declined: [answers.md](answers.md).

## Examples

Labels were written for near misses only. Each question is searched with the service's settings:

| kind | passages |
|---|---|
| *{ANSWERED}* | as found, if one is from a document that answers |
| *{PASSAGES_REMOVED}* | without the leaves that give the answer away: every leaf of relevant documents with a short answer; of a longer one, every leaf with {BEARING_SHARE:.0%} of the words it adds to the question |
| *{DOCUMENTS_REMOVED}* | without the documents that answer |
| *{UNANSWERABLE}* | of near misses (CLAPNQ; `training/gate/data`, about articles that the reader did not learn from); weighed with *{PASSAGES_REMOVED}* |
| *{FOREIGN}* | of every other corpus's questions |

Every data set has the same weight; in each, *{ANSWERED}* counts {PRIOR:.0%} and the other kinds share the rest equally.
That prior was chosen by looking at the sample corpus, and the features among about 70 by left-out data sets, the sample,
near misses (`bench/quality/near_misses/`) and the sets of `bench helpful`. So the figures of left-out sets are somewhat
optimistic, and none of these is an unseen test, although no example is from them."""  # noqa: E501

_LIMITS = f"""## What to expect

Foreign questions are recognised almost always, missing documents mostly. Where only the answering sentence is missing,
words and vectors look nearly the same, and most such questions pass. Questions in other words than the documents' are
declined too often. The examples are uncertain: a leaf left in *{PASSAGES_REMOVED}*, or the rest of a corpus of one
subject, may still answer."""


def report(examples: Sequence[Example], features: Sequence[str], threshold: float) -> str:
    """Return the page.

    Args:
        examples: of two data sets at least.
        features: what was trained on.
        threshold: the probability from which the gate opens.
    """
    fits: dict[str, Fit] = {
        TRAINED: partial(train, features=features),
        REFITTED: partial(train, features=BY_HAND_FEATURES),
        HAND: lambda _: BY_HAND,
    }
    left_out = {name: judge(examples, fit, leave_sets_out=True) for name, fit in fits.items()}
    return "\n\n".join(
        [
            _INTRODUCTION,
            _counts(examples),
            "## What it learnt",
            _learnt(examples, features),
            "Log-odds rise by the weight when a feature rises by its deviation. *Alone*: its ROC AUC; *without it*: "
            f"the log loss on left-out data sets without it ({left_out[TRAINED].log_loss():.3f} with all).",
            "## How well it does",
            f"On unseen questions: {FOLDS} folds over the questions, or trained on the other data sets only. Precision "
            f"and recall of *{ANSWERED}* at the default threshold of {threshold}.",
            _comparison({name: judge(examples, fit) for name, fit in fits.items()}, left_out, threshold),
            "By data set and by probability: [decision 0015](adr/0015-sentences-are-read-once.md#measurements).",
            _LIMITS,
        ]
    )


def by_data_set(examples: Sequence[Example], features: Sequence[str], threshold: float) -> str:
    """Return how well the classifier does on each left-out data set, and how far its probabilities can be trusted.

    Args: those of `report`.
    """
    judged = judge(examples, partial(train, features=features), leave_sets_out=True)
    return "\n\n".join(
        [
            f"By left-out data set: ROC AUC of *{ANSWERED}* against each other kind, then the share declined at "
            f"{threshold}.",
            _by_set(judged, threshold),
            "Reliability on left-out data sets: of examples with about the same probability, the share answered.",
            _reliability(judged),
        ]
    )


def _counts(examples: Sequence[Example]) -> str:
    rows = [[name, *(str(_count(examples, name, kind)) for kind in KINDS)] for name in _sets(examples)]
    totals = [str(sum(example.kind == kind for example in examples)) for kind in KINDS]
    return _table(["set", *KINDS], [*rows, ["**all**", *totals]])


def _learnt(examples: Sequence[Example], features: Sequence[str]) -> str:
    classifier = train(examples, features)
    rows = []
    for weight in classifier.weights:
        others = [name for name in features if name != weight.feature]
        without = judge(examples, partial(train, features=others), leave_sets_out=True)
        values = np.array([getattr(example.features, weight.feature) for example in examples])
        alone = Judged(examples, values, without.weights).roc_auc()
        numbers = (weight.mean, weight.scale, weight.weight, alone, without.log_loss())
        rows.append([f"`{weight.feature}`", *(f"{number:.3f}" for number in numbers)])
    return _table(["feature", "mean", "deviation", "weight", "alone", "without it"], rows)


def _comparison(folds: dict[str, Judged], left_out: dict[str, Judged], threshold: float) -> str:
    rows = []
    for method, judged_by in ((f"{FOLDS} folds", folds), ("left-out data set", left_out)):
        for name, judged in judged_by.items():
            numbers = (judged.roc_auc(), judged.log_loss(), *judged.precision_recall(threshold))
            rows.append([method, name, *(f"{number:.3f}" for number in numbers)])
    return _table(["judged by", "classifier", "ROC AUC", "log loss", "precision", "recall"], rows)


def _by_set(judged: Judged, threshold: float) -> str:
    against = (PASSAGES_REMOVED, DOCUMENTS_REMOVED, FOREIGN)
    rows = []
    for name in _sets(judged.examples):
        aucs = [_figure(judged, name, (ANSWERED, kind), Judged.roc_auc) for kind in against]
        declined = [
            _figure(judged, name, (kind,), lambda some: float((some.probabilities < threshold).mean()))
            for kind in (ANSWERED, *against)
        ]
        rows.append([name, *aucs, *declined])
    header = ["set", *(f"AUC: {kind}" for kind in against), *(f"declined: {kind}" for kind in (ANSWERED, *against))]
    return _table(header, rows)


def _figure(judged: Judged, name: str, kinds: Sequence[str], figure: Callable[[Judged], float]) -> str:
    """The figure on one set's examples of these kinds; a dash where the set has none of a kind."""
    if not all(_count(judged.examples, name, kind) for kind in kinds):
        return "–"
    return f"{figure(judged.only(lambda example: example.data_set == name and example.kind in kinds)):.2f}"


def _reliability(judged: Judged) -> str:
    edges = np.linspace(0, 1, RELIABILITY_BINS + 1)
    rows = []
    for low, high in pairwise(edges):
        here = (judged.probabilities >= low) & ((judged.probabilities < high) | (high == 1))
        weights = judged.weights[here]
        means = (np.average(values[here], weights=weights) for values in (judged.probabilities, judged.answered))
        cells = [str(here.sum()), *(f"{mean:.2f}" for mean in means)] if here.any() else ["0", "–", "–"]
        rows.append([f"{low:.1f}–{high:.1f}", *cells])
    return _table(["probability", "examples", "given", "was"], rows)


def _table(header: Iterable[str], rows: Iterable[Sequence[str]]) -> str:
    header = list(header)
    head, *lines = (f"| {' | '.join(cells)} |" for cells in (header, *rows))
    return "\n".join([head, f"|---|{'---:|' * (len(header) - 1)}", *lines])


def _sets(examples: Sequence[Example]) -> list[str]:
    return list(dict.fromkeys(example.data_set for example in examples))


def _count(examples: Sequence[Example], name: str, kind: str) -> int:
    return sum(example.data_set == name and example.kind == kind for example in examples)
