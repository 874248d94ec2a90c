"""Judge by its words what the reader cannot read: it learnt English.

Flow: the reader's scores of a leaf, for a question in another language -> **here** -> `ranking.py` goes on with scores
that mean the same, log-odds that a sentence answers. Languages in Latin letters share names, numbers and many words
with English, so that there the reader's score still counts half.

Where question and leaf are in different languages, words say nothing either. A multilingual embedding model can judge
then: by how similar a sentence is to the question. Pure.
"""

import math
from collections.abc import Sequence

from index.lexical.language import IN_OTHER_LETTERS
from query_engine.reader.model import Scores

# Log-odds of a sentence without a word of the question; what all words add, as far as the sentence, its headings and
# the sentence before it hold them, and as far as it holds them itself.
NO_WORD, ALL_WORDS, ALL_OWN_WORDS = -6.0, 6.0, 2.0
READER_SHARE = 0.5
# Cosines of the packaged multilingual model that mean the same as the English one's are lower by so much, in a language
# and across languages.
WITHIN, ACROSS = 0.06, 0.1
# Across languages, of questions about other subjects nine in ten have a best one below 0.26, those with an answer 0.36
# to 0.45.
EVEN_SIMILARITY, SIMILARITY_SLOPE = 0.3, 40.0


def reader_share(language: str) -> float:
    """Return how much the reader's scores count for a question in a language, 0..1."""
    if language == "en":
        return 1.0
    return 0.0 if language in IN_OTHER_LETTERS else READER_SHARE


def by_words(covered: float, own: float) -> float:
    """Return the log-odds that a sentence answers, by the words of the question that it holds.

    Args:
        covered: share of them, weighted by rarity, that it holds together with what stands above it, 0..1.
        own: share that it holds itself, 0..1.
    """
    return NO_WORD + ALL_WORDS * covered + ALL_OWN_WORDS * own


def by_similarity(cosine: float) -> float:
    """Return the log-odds that a sentence in another language answers, by its cosine with the question."""
    return SIMILARITY_SLOPE * (cosine - EVEN_SIMILARITY)


def blended(scores: Scores, words: Sequence[float], share: float) -> Scores:
    """Return the scores of a leaf of which the reader's count as `share`, and those by words for the rest.

    Args:
        scores: as the reader gives them.
        words: log-odds of each unit by its words.
        share: 0..1.
    """
    units = tuple(
        share * read + (1 - share) * held if math.isfinite(read) else read
        for read, held in zip(scores.units, words, strict=True)
    )
    best = max(words, default=NO_WORD)
    return Scores(share * scores.passage + (1 - share) * best, units)
