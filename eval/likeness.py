"""Score how alike an answer and its reference are: in meaning, word by word, and in their longest common run of words.

Flow: an answer + the reference -> **here** -> `bench/answers.py`. Key words and short answers are `metrics.py`'s.

Three measures, because each is blind to something: the similarity of two whole texts falls with every further word,
greedy matching hardly sees order, and ROUGE-L knows no synonyms. Whatever says nothing at all scores 0.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from llama_index.core.base.embeddings.base import BaseEmbedding
from rouge_score.rouge_scorer import RougeScorer

from eval.metrics import Scores, content_words, spoken


class Likeness:
    """Compares answers with references.

    Args:
        embedder: embeds both; figures of different embedders must not be compared.
    """

    def __init__(self, embedder: BaseEmbedding) -> None:
        self._embedder = embedder
        self._rouge = RougeScorer(["rougeL"], use_stemmer=True)

    def score(self, answer: str | None, reference: str) -> Scores:
        """Return `similarity` (cosine of the two texts, -1..1), `matching` and `rouge_l` (F1, 0..1).

        `[n]` and bold marks do not count. `matching` is what BERTScore computes, over the embeddings of the single
        content words: each word is matched with the nearest one of the other text, greedily.
        """
        text = spoken(answer or "")
        if not text:
            return {"similarity": 0.0, "matching": 0.0, "rouge_l": 0.0}
        of_answer, of_reference = self._vectors([text, reference])
        return {
            "similarity": float(of_answer @ of_reference),
            "matching": self._matching(sorted(content_words(text)), sorted(content_words(reference))),
            "rouge_l": float(self._rouge.score(reference, text)["rougeL"].fmeasure),
        }

    def _matching(self, said: Sequence[str], wanted: Sequence[str]) -> float:
        if not said or not wanted:
            return 0.0
        vectors = self._vectors([*said, *wanted])
        cosines = vectors[: len(said)] @ vectors[len(said) :].T
        precision, recall = float(cosines.max(axis=1).mean()), float(cosines.max(axis=0).mean())
        return 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0

    def _vectors(self, texts: list[str]) -> npt.NDArray[np.float64]:
        return np.asarray(self._embedder.get_text_embedding_batch(texts))
