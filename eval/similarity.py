"""Score how alike an answer and its reference are: in meaning, and in the order of their words.

Flow: answers + references -> **here** -> `scoring/offline/answer.py`; the vectors serve `ragas_calls.py` beside it too.
Key words and short answers are `metrics.py`'s, matching token by token is BERTScore's, in `answer.py`.

Two measures, because each is blind to something: the similarity of two whole texts falls with every further word, and
ROUGE-L knows no synonyms. Empty text scores 0.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from llama_index.core.base.embeddings.base import BaseEmbedding
from nltk.stem.porter import PorterStemmer
from rapidfuzz.distance import Indel

from eval.metrics import Scores, words

MOST_TEXTS = 50_000  # some 80 MB of vectors
READ_CHARS = 100_000  # no embedder reads as far; cutting 1 MB into tokens takes seconds
_STEMMED_CHARS = range(4, 40)
_stem = lru_cache(MOST_TEXTS)(PorterStemmer().stem)  # ROUGE is defined with it

Vector = npt.NDArray[np.float32]


class Vectors:
    """Remembers the vectors of texts: answers of a run share most of their words, and references are compared often.

    Args:
        embedder: returns what embeds new texts, as vectors of unit length; called when there are some.
    """

    def __init__(self, embedder: Callable[[], BaseEmbedding]) -> None:
        self._embedder = embedder
        self._known: dict[str, Vector] = {}

    def of(self, texts: Iterable[str]) -> dict[str, Vector]:
        """Return the vector of each text; those that are new are embedded at once.

        Raises:
            ModelError: the embedder cannot be loaded.
        """
        wanted = dict.fromkeys(texts)
        if len(self._known) > MOST_TEXTS:
            self._known.clear()
        # Texts of like length share a batch, so that little is computed on padding.
        new = sorted(wanted.keys() - self._known.keys(), key=lambda text: (len(text), text))
        if new:
            embedded = self._embedder().get_text_embedding_batch([text[:READ_CHARS] for text in new])
            self._known.update(zip(new, np.asarray(embedded, dtype=np.float32), strict=True))
        return {text: self._known[text] for text in wanted}


def likenesses(pairs: Sequence[tuple[str, str]], vectors: Vectors) -> list[Scores]:
    """Return for each (answer, reference) `similarity` (cosine, -1..1) and `rouge_l` (F1, 0..1).

    `similarity` sees as much of a text as the embedder reads at once. Figures of different embedders must not be
    compared.
    """
    known = vectors.of(text for pair in pairs if pair[0] for text in pair)
    return [
        {"similarity": float(known[answer] @ known[reference]), "rouge_l": _rouge_l(answer, reference)}
        if answer
        else {"similarity": 0.0, "rouge_l": 0.0}
        for answer, reference in pairs
    ]


def _rouge_l(answer: str, reference: str) -> float:
    return shared_in_order(_stems(answer), _stems(reference))


def _stems(text: str) -> list[str]:
    return [_stem(word) if len(word) in _STEMMED_CHARS and word.isascii() else word for word in words(text)]


def shared_in_order(said: Sequence[str], wanted: Sequence[str]) -> float:
    """Return ROUGE-L: the F1 of the longest sequence of words that stands in both in order, with gaps."""
    return Indel.normalized_similarity(said, wanted) if said and wanted else 0.0
