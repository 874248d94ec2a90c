"""Rerank with a cross-encoder: a model that reads question and text together (Nogueira and Cho 2019).

Flow: `base.py` -> **here** -> scores. Any model that sentence-transformers loads as a CrossEncoder with one output.
The only file that knows sentence-transformers.

Nogueira and Cho, "Passage Re-ranking with BERT", arXiv:1901.04085.
"""

import math
import threading
from collections.abc import Sequence

from sentence_transformers import CrossEncoder

from errors import ModelError, first_line
from query_engine.runtime.deadline import Deadline

# Texts between two looks at the clock.
BATCH_TEXTS = 8


class CrossEncoderReranker:
    """Scores each text by itself; the scale is the model's own (logits, or 0 to 1).

    Safe to call from many threads; they take turns.

    Args:
        model: a local folder, or a hub id whose files are in the hub cache or can be fetched.

    Raises:
        ModelError: there is no such model, it is damaged, or gives more than one number a text.
    """

    name = "cross_encoder"

    def __init__(self, model: str) -> None:
        self._model = _load(model)
        # Tokenizers refuse to be used by two threads at once.
        self._lock = threading.Lock()

    def score(self, question: str, texts: Sequence[str], deadline: Deadline) -> list[float]:
        """Return the model's score for each text.

        Raises:
            OutOfTimeError: the deadline passed between two batches.
            ModelError: the model failed, for example out of memory, or gave no finite number.
        """
        scores = [0.0] * len(texts)
        # Texts of similar length share a batch, so that little is computed on padding.
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        for start in range(0, len(order), BATCH_TEXTS):
            rows = order[start : start + BATCH_TEXTS]
            with self._lock:
                deadline.check(f"after {start} of {len(texts)} passages")
                values = self._predict([(question, texts[i]) for i in rows])
            for row, value in zip(rows, values, strict=True):
                scores[row] = value
        return scores

    def _predict(self, pairs: list[tuple[str, str]]) -> list[float]:
        try:
            values = self._model.predict(pairs, batch_size=len(pairs), show_progress_bar=False)
        except RuntimeError as error:  # torch raises it for any cause
            raise ModelError(
                f"The cross-encoder failed: {first_line(error)}.", "Lower RAG_RERANK__POOL_K, or use another."
            ) from error
        scores = [float(value) for value in values]
        if not all(map(math.isfinite, scores)):
            raise ModelError("The cross-encoder gave scores that are not numbers.", "Use another RAG_RERANK__MODEL.")
        return scores


def _load(model: str) -> CrossEncoder:
    try:
        encoder: CrossEncoder = CrossEncoder(model)
    except Exception as error:  # hub, transformers and torch each have their own
        raise ModelError(
            f"The cross-encoder {model!r} cannot be loaded: {first_line(error)}.",
            "Set RAG_RERANK__MODEL to a sentence-transformers cross-encoder: a folder, or a reachable hub id.",
        ) from error
    if encoder.num_labels != 1:
        raise ModelError(
            f"The cross-encoder {model!r} gives {encoder.num_labels} numbers a text; a reranker gives one.",
            "Set RAG_RERANK__MODEL to a model that was trained to rank.",
        )
    return encoder
