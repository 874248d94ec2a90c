"""Name the words of a question that no passage holds, as they were typed: what was missing, for a person.

Flow: `classifier.py` lists the terms that the best passages lack -> **here** -> what a declined question is told. Pure.
"""

import re
from collections.abc import Sequence

from query_engine.answerability.classifier import Confidence
from query_engine.schema.passage import Passage
from query_engine.text.term_weights import TermWeights

MAX_WORDS = 3
_WORD = re.compile(r"\w+")


def missing_words(
    question: str, confidence: Confidence, passages: Sequence[Passage], words: TermWeights
) -> tuple[str, ...]:
    """Return at most `MAX_WORDS` words of the question whose terms stand in none of the passages, rarest first.

    None for languages without spaces: their terms are pairs of characters, not words.
    """
    held = {term for passage in passages for term in words.terms(f"{passage.title}\n{passage.text}")}
    typed: dict[str, str] = {}
    for word in _WORD.findall(question):
        terms = words.terms(word)
        if len(terms) == 1:
            typed.setdefault(terms[0], word)
    return tuple(typed[term] for term in confidence.missing if term in typed and term not in held)[:MAX_WORDS]
