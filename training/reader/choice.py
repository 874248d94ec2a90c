"""`python -m training.reader.choice`: fit what a window of a document is worth (`query_engine/reader/window.py`).

Questions with regions, about documents that the reader has not learnt from, are asked of our engine. A window is right
if at least half of a region stands in it and two thirds of it stand in regions, as `bench helpful` counts. The weights
make the right windows the likeliest of all of a question (`training/listwise.py`), with a small penalty on their
squares. Figures are of eight folds by question.
"""

import missing_packages  # noqa: F401, I001  # first, to tell which package the imports below lack

import argparse
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from bench.build import stored_text
from errors import run_command
from query_engine.reader.window import ReadWindow, Window
from settings import load_settings
from training.listwise import Array, listwise_fit
from training.reader.examples import Span, spans_of
from training.reader.found import open_documents, passages_for
from training.reader.regions import OWN, REAL, unseen_rows

UNSEEN = "daily"
LEAST_RECALL, LEAST_PRECISION = 0.5, 0.67
PENALTY, FOLDS = 0.02, 8
TERMS = ("score", "similarity", "words", "length")


@dataclass(frozen=True, slots=True)
class Asked:
    """The windows of one question, the one that is shown now first.

    Attributes:
        terms: shape (windows, `TERMS`).
        right: shape (windows,), 1 or 0.
    """

    terms: Array
    right: Array


def main(argv: Sequence[str] | None = None) -> int:
    """Parse `argv`, ask, fit, print; translate errors to exit codes."""
    argparse.ArgumentParser(prog="python -m training.reader.choice", description=__doc__).parse_args(argv)
    return run_command(_fit)


def _fit() -> int:
    asked = [one for name in (UNSEEN, *REAL) for one in ask(name)]
    weights = fitted(asked)
    print({name: round(weight, 3) for name, weight in zip(TERMS, weights.tolist(), strict=True)})
    held: list[float] = []
    for fold in range(FOLDS):
        others = fitted([one for place, one in enumerate(asked) if place % FOLDS != fold])
        held += [one.right[int(np.argmax(one.terms @ others))] for one in asked[fold::FOLDS]]
    possible = [one.right.max(initial=0.0) for one in asked]
    now = [one.right[0] for one in asked]
    means = (round(float(np.mean(values)), 3) for values in (now, held, possible))
    print("of {} questions right: {} now, {} in folds, {} possible".format(len(asked), *means))
    return 0


def ask(name: str) -> Iterator[Asked]:
    """Yield the windows of each question of a set that can be answered, of documents that the reader has not learnt."""
    with open_documents(name, OWN / name / "docs", load_settings()) as engine:
        text_of = stored_text(engine)
        for row in unseen_rows(name):
            spans = spans_of(row, text_of(row["doc"]) or "")
            passages = passages_for(engine, row["question"]) if spans else ()
            windows = engine.reader.read(row["question"], passages).windows if passages else ()
            if windows:
                terms = np.array([terms_of(one) for one in windows])
                right = np.array([float(_is_right(one.window, row["doc"], spans)) for one in windows])
                yield Asked(terms, right)


def terms_of(one: ReadWindow) -> list[float]:
    """Return the values that `ReadWindow.worth` weighs, in the order of `TERMS`."""
    length = math.log(one.window.end - one.window.start)
    return [one.score, one.similarity, one.window.best.covered, length]


def fitted(asked: Sequence[Asked]) -> Array:
    """Return the weights that make the right windows likeliest, shape (`TERMS`,)."""
    useful = [one for one in asked if one.right.max(initial=0.0) > 0]
    scale = np.concatenate([one.terms for one in useful]).std(axis=0)
    return listwise_fit([(one.terms, one.right) for one in useful], np.zeros(len(TERMS)), PENALTY * scale**2)


def _is_right(window: Window, doc: str, spans: Sequence[Span]) -> bool:
    if window.best.leaf.passage.doc_id != doc:
        return False
    inside = set(range(window.start, window.end))
    regions = [inside.intersection(range(*span)) for span in spans]
    shares = [len(held) / (last - first) for held, (first, last) in zip(regions, spans, strict=True)]
    return max(shares) >= LEAST_RECALL and len(set().union(*regions)) >= LEAST_PRECISION * len(inside)


if __name__ == "__main__":
    sys.exit(main())
