"""Score how alike an answer and its reference are: in meaning, word by word, and in the order of their words.

Flow: answers + references -> **here** -> `scoring/answer.py` and `bench/answers.py`. Key words and short answers are
`metrics.py`'s.

Three measures, because each is blind to something: the similarity of two whole texts falls with every further word,
greedy matching hardly sees order, and ROUGE-L knows no synonyms. Whatever says nothing at all scores 0.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from llama_index.core.base.embeddings.base import BaseEmbedding
from nltk.stem.porter import PorterStemmer

from eval.metrics import Scores, content_words, spoken, words

MOST_WORDS = 2000
KEPT_WORDS = 50_000
_STEMMED_CHARS = range(4, 40)

Vector = npt.NDArray[np.float32]


class Likeness:
    """Compares answers with references.

    Args:
        embedder: embeds both; figures of different embedders must not be compared.
    """

    def __init__(self, embedder: BaseEmbedding) -> None:
        self._embedder = embedder
        self._stem = lru_cache(KEPT_WORDS)(PorterStemmer().stem)
        self._words: dict[str, Vector] = {}

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
        texts = list(dict.fromkeys(text for pair in said if pair[0] for text in pair))
        vectors = dict(zip(texts, self._embed(texts), strict=True))
        self._learn(word for text in texts for word in _few_words(text))
        return [self._score(answer, reference, vectors) for answer, reference in said]

    def _score(self, answer: str, reference: str, vectors: dict[str, Vector]) -> Scores:
        if not answer:
            return {"similarity": 0.0, "matching": 0.0, "rouge_l": 0.0}
        scores = {"similarity": float(vectors[answer] @ vectors[reference]), "rouge_l": self._rouge(answer, reference)}
        if max(len(content_words(answer)), len(content_words(reference))) <= MOST_WORDS:
            scores["matching"] = self._matching(_few_words(answer), _few_words(reference))
        return scores

    def _rouge(self, answer: str, reference: str) -> float:
        said, wanted = self._stems(answer), self._stems(reference)
        shared = longest_common_subsequence(said, wanted)
        return 2 * shared / (len(said) + len(wanted)) if shared else 0.0

    def _stems(self, text: str) -> list[str]:
        return [self._stem(word) if len(word) in _STEMMED_CHARS and word.isascii() else word for word in words(text)]

    def _matching(self, said: Sequence[str], wanted: Sequence[str]) -> float:
        if not said or not wanted:
            return 0.0
        cosines = np.stack([self._words[word] for word in said]) @ np.stack([self._words[word] for word in wanted]).T
        precision, recall = float(cosines.max(axis=1).mean()), float(cosines.max(axis=0).mean())
        return 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0

    def _learn(self, wanted: Iterable[str]) -> None:
        """Embed the words that are not known yet."""
        if len(self._words) > KEPT_WORDS:
            self._words.clear()
        missing = list(dict.fromkeys(word for word in wanted if word not in self._words))
        self._words.update(zip(missing, self._embed(missing), strict=True))

    def _embed(self, texts: list[str]) -> list[Vector]:
        return list(np.asarray(self._embedder.get_text_embedding_batch(texts), dtype=np.float32)) if texts else []


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


def _few_words(text: str) -> list[str]:
    """The content words in a fixed order; none of a text that has too many."""
    found = content_words(text)
    return sorted(found) if len(found) <= MOST_WORDS else []
