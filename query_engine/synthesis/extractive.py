"""Write an answer by quoting the sentences that answer.

Flow: passages that passed the gate -> `text/quotable.py` finds sentences -> **here** -> quotes (`quoting.py` writes
them). No language model: nothing it says can be made up, and it needs neither download nor GPU. Sentences are scored by
the question's words they hold, by similarity to the question, and by their passage's rank.
"""

import math
import re
import threading
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt
from llama_index.core.base.embeddings.base import BaseEmbedding

from query_engine.schema.passage import Passage
from query_engine.synthesis.quoting import Quote, QuotingSynthesizer
from query_engine.text.markdown_escape import as_text
from query_engine.text.quotable import Candidate, TermWeights, best_candidates, question_weights
from query_engine.text.short_answers import asks_for_little, short_answer

# Chosen on 156 answerable questions of four corpora; round numbers, each on a plateau.
SIMILARITY_WEIGHT = 1.5
# How much a sentence loses for resembling one already chosen (maximal marginal relevance, Carbonell and Goldstein,
# SIGIR 1998), and how much of a question word's weight is left once a chosen sentence holds that word.
REDUNDANCY, WORD_LEFT = 0.2, 0.5
# A further sentence must be worth this share of the first one.
FOLLOWER_SHARE = 0.65
# A question of so many words wants more than one fact, unless it asks for a date, a number or a name.
DETAILED_WORDS = 14
# Questions that one sentence rarely answers get twice the length: two in one, how something works, why, comparisons.
_LONG = re.compile(
    r"\b(?:and|or)\s+(?:\w+\s+)?(?:who|whom|what|when|where|which|how|why)\b"
    r"|^\W*(?:list|name)\b"
    r"|\b(why|explain|describe|discuss|compare|differ\w*|steps|ways|reasons|advantages|disadvantages|benefits"
    r"|(?:what|which)(?: \w+){0,3} \w+s (?:are|were|do|does|did|can))\b"
    r"|\bhow\b(?!\s+(many|much|long|far|fast|high|tall|deep|big|large|heavy|old|wide|often|hot|warm|cold|quickly|soon)\b)",
    re.IGNORECASE,
)


# A sentence that begins so leaves open whom it is about; its document's title says it, if it is short enough to read.
_OPEN = re.compile(
    r"(?:(?:In|On|By|Since|After) [^,.]{1,20},? )?(?:he|she|it|they|his|her|its|their|this|these)\b", re.I
)
LEAD_WORDS = 8


class ExtractiveSynthesizer(QuotingSynthesizer):
    """Quotes the documents.

    Args:
        words: the corpus's terms and their rarity.
        embedder: compares sentences with the question.
        max_words: length of an answer, doubled for how-, why-, list- and two-part questions; a first sentence may be
            longer.
    """

    def __init__(self, words: TermWeights, embedder: BaseEmbedding, max_words: int) -> None:
        self._words = words
        self._embedder = embedder
        self._max_words = max_words

    def quotes(self, question: str, passages: Sequence[Passage], stop: threading.Event) -> Iterator[Quote]:
        """Yield sentences, best first; nothing when the passages hold no sentence."""
        weights = question_weights(question, self._words)
        best = best_candidates(weights, passages, self._words)
        if not best or stop.is_set():
            return
        vectors = np.asarray(self._embedder.get_text_embedding_batch([one.embedded_text for one in best]))
        similarity = SIMILARITY_WEIGHT * (vectors @ np.asarray(self._embedder.get_query_embedding(question)))
        max_words = self._max_words * (2 if _asks_for_much(question) else 1)
        for place, chosen in enumerate(_select(best, weights, similarity, vectors, max_words)):
            if stop.is_set():
                return
            words = " ".join(chosen.text.split())
            shown = as_text(words) if place else _lead(chosen) + _emphasised(as_text(words), question)
            yield Quote(chosen.passage, chosen.start, chosen.end, words, shown)


def _asks_for_much(question: str) -> bool:
    detailed = len(question.split()) >= DETAILED_WORDS and not asks_for_little(question)
    return detailed or bool(_LONG.search(question))


def _lead(first: Candidate) -> str:
    """Return the title that says whom an answer is about, if its first sentence does not."""
    title = as_text(" ".join(first.passage.title.split()))
    return f"{title}: " if _OPEN.match(first.text) and 0 < len(title.split()) <= LEAD_WORDS else ""


def _emphasised(line: str, question: str) -> str:
    """Put in bold what the question asks for; a line that already has stars stays as it is."""
    span = short_answer(question, line)
    if span is None or "*" in line:
        return line
    return f"{line[: span[0]]}**{line[slice(*span)]}**{line[span[1] :]}"


def _select(
    candidates: Sequence[Candidate],
    weights: Mapping[str, float],
    similarity: npt.NDArray[np.float64],
    vectors: npt.NDArray[np.float64],
    max_words: int,
) -> list[Candidate]:
    """Choose the best sentence, then those that fit, add words or meaning, and are not much worse; in that order."""
    left = dict.fromkeys(weights, 1.0)
    redundancy = np.zeros(len(candidates))
    chosen: list[Candidate] = []
    open_indices = set(range(len(candidates)))
    least, room = -math.inf, max_words
    while open_indices:
        index = max(
            sorted(open_indices),
            key=lambda i: candidates[i].worth(weights, left) + similarity[i] - REDUNDANCY * redundancy[i],
        )
        open_indices.remove(index)
        candidate = candidates[index]
        length, worth = len(candidate.text.split()), candidate.worth(weights) + similarity[index]
        if chosen and (length > room or worth < least or any(map(candidate.says_same, chosen))):
            continue
        least = least if chosen else FOLLOWER_SHARE * worth
        room -= length
        chosen.append(candidate)
        redundancy = np.maximum(redundancy, vectors @ vectors[index])
        left.update(dict.fromkeys((term for term, share in candidate.held.items() if share == 1), WORD_LEFT))
    return chosen
