"""Measure what suggests that the passages hold an answer.

Flow: merged passages and what the reader made of them (`reader/reading.py`) -> **here** -> `classifier.py` joins the
measures in one probability; `training/gate/fit.py` learns how. Training and service share this one function, so that
what was learnt is what is applied. Decides nothing.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding

from index.embedding.cached import is_multilingual
from index.lexical.language import question_language
from query_engine.reader.foreign import WITHIN, reader_share
from query_engine.reader.units import Reading, ReadUnit, with_context
from query_engine.schema.passage import Passage
from query_engine.text.light_words import is_light
from query_engine.text.term_weights import CorpusWords, TermWeights, question_weights

READ_PASSAGES = 5
_WORD = re.compile(r"\w[\w.,-]*\w|\w")
NEAR = 0.4
# One word of a question stands in many texts about other things.
SUBJECT_WORDS = 2
# Log-odds from which the reader is hardly ever wrong about the subject; less will do for rare words.
SURE, SURE_OF_RARE, RARE = 2.5, -0.5, 0.6
# Log-odds below which the reader is against a sentence, however similar it is to the question.
AGAINST = -3.0
# Where words judge in place of the reader, a sentence must be worth so much more.
FOREIGN_PENALTY = 0.5
# The best of many sentences looks good by chance. Of the same questions asked of random folders of SQuAD's articles, a
# logistic regression weighs `worth` against ln(leaves) at 1 : -0.72 below the usual number of leaves and at 1 : -0.37
# above, measured between these numbers of leaves. Above, a third is taken off: with all of it, large corpora alone
# settle the threshold, and near misses pass in smaller ones.
SIZE_WORTH_BELOW, SIZE_WORTH_ABOVE = 0.72, 0.12
FEWEST_LEAVES, USUAL_LEAVES, MOST_LEAVES = 100, 1000, 32_000
# In a small folder nearly all is similar to a question about it: for each e-fold of leaves below the usual number, so
# much is lost for each log-odds that the reader gives a leaf below `SMALL_DOUBTED`.
SMALL_DOUBT, SMALL_DOUBTED = 1.0, -1.5
# What the reader says where it read nothing: as sure a no as it ever gives.
NOTHING_READ = -6.0


@dataclass(frozen=True, slots=True)
class Features:
    """Measures of a question and its passages. The classifier's file names those it weighs.

    Attributes:
        similarity: cosine of the question and the nearest leaf of all passages, -1..1.
        far: how far `similarity`, or that of the best sentence, lies below `NEAR`, 0 where it does not: there it tells
            questions about other subjects; above, it says more about the corpus than about the answer. Less by
            the share of the question's words that the best sentence covers, where these are several of the subject or
            the reader is sure: of a question about another subject no sentence has several.
        worth: what the best sentence is ordered by, see `ReadUnit.worth`: all that speaks for it, less what it lacks;
            less in a language that the reader cannot read, and the more leaves it was chosen from; among few, less if
            the reader doubts its leaf.
        coverage: largest share of the question's words, weighted by rarity, that one of the first `READ_PASSAGES`
            passages holds with its title, 0..1.
        rarity: mean weight of the question's words as a share of the most that a word can weigh, 0..1; words that the
            corpus hardly knows speak against it.
        missing: the words that no passage holds, rarest first, as the index spells them.
    """

    similarity: float
    far: float
    worth: float
    coverage: float
    rarity: float
    missing: tuple[str, ...]


def measure(
    question: str,
    passages: Sequence[Passage],
    corpus_words: CorpusWords,
    embedder: BaseEmbedding,
    reading: Reading,
    *,
    leaves: int,
) -> Features:
    """Measure at least one passage, of those found among so many leaves."""
    words = corpus_words.words_of(question)
    read = passages[:READ_PASSAGES]
    similarity = max((passage.scores["dense"] for passage in passages if "dense" in passage.scores), default=None)
    if similarity is None:
        # Found by words alone: embedded as leaves are.
        asked = np.asarray(embedder.get_query_embedding(question))
        texts = [f"{passage.title}\n{passage.text}" for passage in read]
        similarity = float(np.max(np.asarray(embedder.get_text_embedding_batch(texts)) @ asked))
    if is_multilingual(embedder):
        similarity += WITHIN
    weights = question_weights(question, words)
    held = [frozenset(words.terms(f"{passage.title}\n{passage.text}")) for passage in read]
    best = reading.units[0] if reading.units else None
    nearness = _nearness(best)
    # No leaf holds the empty term, so nothing weighs more.
    rarity = sum(map(words.weight, weights)) / (len(weights) or 1) / words.weight("")
    return Features(
        similarity=similarity,
        far=max(0.0, NEAR - max(similarity, nearness)) * (1 - _subject_covered(question, best, words, rarity)),
        worth=_worth(question, best, leaves) if best else NOTHING_READ,
        coverage=max(_covered(terms, weights) for terms in held),
        rarity=rarity,
        missing=tuple(term for term in weights if not any(term in terms for terms in held)),
    )


def _worth(question: str, best: ReadUnit, leaves: int) -> float:
    unread = 1 - reader_share(question_language(question))
    size = math.log(min(max(leaves, FEWEST_LEAVES), MOST_LEAVES) / USUAL_LEAVES)
    worth = best.worth - FOREIGN_PENALTY * unread
    if size >= 0:
        return worth - SIZE_WORTH_ABOVE * size
    doubt = max(0.0, SMALL_DOUBTED - best.leaf_score) * (1 - unread)
    return worth - size * (SIZE_WORTH_BELOW - SMALL_DOUBT * doubt)


def _nearness(best: ReadUnit | None) -> float:
    """Return the best sentence's own similarity; below all others where it is unknown, or the reader is against it."""
    if best is None or best.similarity is None or max(best.score, best.leaf_score) < AGAINST:
        return -1.0
    return best.similarity


def _subject_covered(question: str, best: ReadUnit | None, words: TermWeights, rarity: float) -> float:
    if best is None:
        return 0.0
    if reader_share(question_language(question)) < 1:
        return best.covered  # the packaged embedder knows English: in other languages little is near
    subject = " ".join(word for word in _WORD.findall(question) if not is_light(word))
    held = set(words.query_terms(subject)).intersection(words.terms(with_context(best.leaf, best.place)))
    sure = min(best.score, best.leaf_score) >= (SURE_OF_RARE if rarity >= RARE else SURE)
    return best.covered if sure or len(held) >= SUBJECT_WORDS else 0.0


def _covered(terms: frozenset[str], weights: dict[str, float]) -> float:
    return sum(weight for term, weight in weights.items() if term in terms)
