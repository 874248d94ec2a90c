"""BERTScore: how well the tokens of an answer and its reference match, by their vectors in context.

Flow: `build.py` -> **here** -> `stage.py`. The formula of Zhang et al. 2020 and the package `bert-score`, without idf
weights and rescaling: each token is matched with the nearest one of the other text, greedily; special tokens may be
matched and do not count. The encoder is this project's own, so figures differ from those over RoBERTa, and may be
compared only with figures of the same encoder. It reads as much of a text as its window holds.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from errors import ModelError
from eval.cells import Metric, failed, scored
from eval.metrics import Scores, spoken
from eval.scoring.offline.answer import VECTOR_DECIMALS, AnswerBatches, references_of
from eval.scoring.stage import Cells, Todo

if TYPE_CHECKING:  # what metrics there are is read without numpy
    import numpy as np
    import numpy.typing as npt

    Vectors = npt.NDArray[np.float32]

FAMILY = "bert_score"
METRICS = (
    Metric("bert_score_f1", FAMILY, "higher", "BERTScore over the embedding model: F1 of the two below, 0 to 1."),
    Metric("bert_score_precision", FAMILY, "higher", "Mean cosine of the answer's tokens with their nearest ones."),
    Metric("bert_score_recall", FAMILY, "higher", "Mean cosine of the reference's tokens with their nearest ones."),
)
NAMES = tuple(metric.name for metric in METRICS)


class EmbedsTokens(Protocol):
    """Embeds the tokens of texts; `index.embedding.token_vectors.TokenEncoder` does."""

    def encode(self, texts: Sequence[str]) -> "list[Vectors]":
        """Return unit vectors of each text's tokens, shape (tokens, dimension): first and last are special tokens."""


def bert_score(said: "Vectors", wanted: "Vectors") -> Scores:
    """Return the metrics of one answer and one reference; all 0 where one of them has no token.

    Args:
        said: vectors of the answer's tokens, with a special token at both ends.
        wanted: likewise of the reference.
    """
    if min(len(said), len(wanted)) <= 2:
        return dict.fromkeys(NAMES, 0.0)
    cosines = said @ wanted.T
    precision, recall = float(cosines.max(axis=1)[1:-1].mean()), float(cosines.max(axis=0)[1:-1].mean())
    f1 = 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0
    return dict(zip(NAMES, (f1, precision, recall), strict=True))


class BertScorer(AnswerBatches):
    """Scores answers by BERTScore; of several references the one that fits best counts.

    Args:
        encoder: returns what embeds; called when there is something to embed. It may raise ModelError.
    """

    def __init__(self, encoder: Callable[[], EmbedsTokens]) -> None:
        super().__init__(FAMILY, METRICS, self._of_answers)
        self._encoder = encoder

    def _of_answers(self, pairs: Todo) -> dict[str, Cells]:
        texts = {row.id: (spoken(row.answer or ""), *references_of(case)) for case, row in pairs}
        distinct = list(dict.fromkeys(text for several in texts.values() for text in several))
        try:
            vectors = dict(zip(distinct, self._encoder().encode(distinct), strict=True)) if distinct else {}
        except ModelError as error:
            return {id_: dict.fromkeys(NAMES, failed(error.fact)) for id_ in texts}
        cells: dict[str, Cells] = {}
        for id_, (answer, *references) in texts.items():
            found = [bert_score(vectors[answer], vectors[reference]) for reference in references]
            best = {name: max(scores[name] for scores in found) for name in NAMES}
            cells[id_] = {name: scored(round(value, VECTOR_DECIMALS)) for name, value in best.items()}
        return cells
