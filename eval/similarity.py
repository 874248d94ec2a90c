"""Score how alike an answer and its reference are: in meaning, word by word, and in the order of their words.

Flow: answers + references -> **here** -> `scoring/offline/answer.py`. Key words and
short answers are `metrics.py`'s.

Three measures, because each is blind to something: the similarity of two whole texts falls with every further word,
greedy matching hardly sees order, and ROUGE-L knows no synonyms. Empty text scores 0.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
from nltk.stem.porter import PorterStemmer

from eval.metrics import Scores, content_words, spoken, words
from eval.vectors import Vector, Vectors

MOST_WORDS = 2000
_KEPT_STEMS = 50_000
_STEMMED_CHARS = range(4, 40)


class Similarity:
    """Compares answers with references.

    Args:
        vectors: of both; figures of different embedders must not be compared.
    """

    def __init__(self, vectors: Vectors) -> None:
        self._vectors = vectors
        self._stem = lru_cache(_KEPT_STEMS)(PorterStemmer().stem)  # ROUGE is defined with it

    def score(self, answer: str | None, reference: str) -> Scores:
        """Compare one answer; see `score_all`."""
        return self.score_all([(answer, reference)])[0]

    def score_all(self, pairs: Sequence[tuple[str | None, str]]) -> list[Scores]:
        """Return for each (answer, reference) `similarity` (cosine, -1..1), `matching` and `rouge_l` (F1, 0..1).

        `[n]` and bold marks do not count. `similarity` sees as much of a text as the embedder reads at once.
        `matching` is what BERTScore computes, over the embeddings of the single content words: each word is matched
        with the nearest one of the other text, greedily; it is absent where a text has more than 2,000 different ones.
        """
        said = [(spoken(answer or ""), reference) for answer, reference in pairs]
        texts = dict.fromkeys(text for pair in said if pair[0] for text in pair)
        of_words = {text: sorted(content_words(text)) for text in texts}
        few = [word for found in of_words.values() if len(found) <= MOST_WORDS for word in found]
        vectors = self._vectors.of([*texts, *few])
        return [self._score(pair, of_words, vectors) for pair in said]

    def _score(
        self, pair: tuple[str, str], of_words: Mapping[str, Sequence[str]], vectors: Mapping[str, Vector]
    ) -> Scores:
        answer, reference = pair
        if not answer:
            return {"similarity": 0.0, "matching": 0.0, "rouge_l": 0.0}
        scores = {"similarity": float(vectors[answer] @ vectors[reference]), "rouge_l": self._rouge(answer, reference)}
        said, wanted = of_words[answer], of_words[reference]
        if max(len(said), len(wanted)) <= MOST_WORDS:
            scores["matching"] = _matching([vectors[word] for word in said], [vectors[word] for word in wanted])
        return scores

    def _rouge(self, answer: str, reference: str) -> float:
        said, wanted = self._stems(answer), self._stems(reference)
        shared = longest_common_subsequence(said, wanted)
        return 2 * shared / (len(said) + len(wanted)) if shared else 0.0

    def _stems(self, text: str) -> list[str]:
        return [self._stem(word) if len(word) in _STEMMED_CHARS and word.isascii() else word for word in words(text)]


def longest_common_subsequence(first: Sequence[str], second: Sequence[str]) -> int:
    """Length of the longest sequence of words that stands in both in order, with gaps.

    A bit a word of the shorter text: one row of the usual table is one number, so that texts of 1 MB take seconds.
    """
    short, long = sorted((first, second), key=len)
    places: dict[str, int] = {}
    for place, word in enumerate(short):
        places[word] = places.get(word, 0) | 1 << place
    every = (1 << len(short)) - 1
    row = every
    for word in long:
        if shared := row & places.get(word, 0):
            row = ((row + shared) | (row - shared)) & every
    return len(short) - row.bit_count()


def _matching(said: Sequence[Vector], wanted: Sequence[Vector]) -> float:
    if not said or not wanted:
        return 0.0
    cosines = np.stack(said) @ np.stack(wanted).T
    precision, recall = float(cosines.max(axis=1).mean()), float(cosines.max(axis=0).mean())
    return 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0
