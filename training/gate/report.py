"""Report in Markdown what the gate's classifier learnt, from what, and how well it does on unseen questions.

Flow: `fit.py` -> **here** -> `docs/gate.md` and stdout. Every figure is computed
here; the prose around them must hold for any run.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np

from eval.tables import aligned
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
from training.gate.fit import FOLDS, PRIOR, Judged, judge, train

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
| *{PASSAGES_REMOVED}* | without the leaves that give the answer away, or, of `training/reader/data`, where these were not found: every leaf of relevant documents with a short answer; of a longer one, every leaf with {BEARING_SHARE:.0%} of the words it adds to the question |
| *{DOCUMENTS_REMOVED}* | without the documents that answer |
| *{UNANSWERABLE}* | of near misses (`training/gate/data` and `training/reader/data`, about documents that the reader did not learn from); weighed with *{PASSAGES_REMOVED}* |
| *{FOREIGN}* | of every other corpus's questions |

Every data set has the same weight; in each, *{ANSWERED}* counts {PRIOR:.0%} and the other kinds share the rest equally.
That prior was chosen by looking at the sample corpus; the two features are those that a regression on seven kept. The threshold was chosen on
half of `realdocs`."""  # noqa: E501

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
    fit = partial(train, features=features)
    left_out = judge(examples, fit, leave_sets_out=True)
    return "\n\n".join(
        [
            _INTRODUCTION,
            _counts(examples),
            "## What it learnt",
            _learnt(examples, features),
            "Log-odds rise by the weight when a feature rises by its deviation. *Alone*: its ROC AUC; *without it*: "
            f"the log loss on left-out data sets without it ({left_out.log_loss():.3f} with all).",
            "## How well it does",
            f"On unseen questions: {FOLDS} folds over the questions, or trained on the other data sets only. Precision "
            f"and recall of *{ANSWERED}* at the default threshold of {threshold}.",
            _judged({f"{FOLDS} folds": judge(examples, fit), "left-out data set": left_out}, threshold),
            _LIMITS,
        ]
    )


def _counts(examples: Sequence[Example]) -> str:
    rows = [[name, *(str(_count(examples, name, kind)) for kind in KINDS)] for name in _sets(examples)]
    totals = [str(sum(example.kind == kind for example in examples)) for kind in KINDS]
    return aligned(["set", *KINDS], [*rows, ["**all**", *totals]])


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
    return aligned(["feature", "mean", "deviation", "weight", "alone", "without it"], rows)


def _judged(ways: dict[str, Judged], threshold: float) -> str:
    rows = []
    for way, judged in ways.items():
        numbers = (judged.roc_auc(), judged.log_loss(), *judged.precision_recall(threshold))
        rows.append([way, *(f"{number:.3f}" for number in numbers)])
    return aligned(["judged by", "ROC AUC", "log loss", "precision", "recall"], rows)


def _sets(examples: Sequence[Example]) -> list[str]:
    return list(dict.fromkeys(example.data_set for example in examples))


def _count(examples: Sequence[Example], name: str, kind: str) -> int:
    return sum(example.data_set == name and example.kind == kind for example in examples)
