"""Reword a query by rule: without its interrogative, with the missing words, with names that were found.

Flow: a gap that a review left -> **here** -> the next round's query. Pure. Which rewording is tried when is
`by_rules.py`'s business.
"""

import re
from collections.abc import Collection, Sequence

from query_engine.answerability.classifier import Confidence
from query_engine.answerability.part_coverage import keep_what_is_missing, name_what_was_found
from query_engine.schema.passage import Passage
from query_engine.text.term_weights import CorpusWords

_AUXILIARY = r"(?:is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|should|may|might|must|shall)"
# "What is", "how many", "in which", "can you tell me why", "explain", up to the words that matter.
_INTERROGATIVE = re.compile(
    r"^(?:(?:please|could you|can you|would you|tell me|explain|describe|i (?:want|need|would like) to know)[\s,]+)*"
    r"(?:(?:in|on|at|for|to|from|by|with|of|under|about)\s+)?"
    rf"(?:(?:what|which|who|whom|whose|when|where|why|how)\b(?:\s+(?:many|much|long|often|far|old))?"
    rf"(?:'s|\s+{_AUXILIARY}\b)?|{_AUXILIARY}\b)\s*",
    re.I,
)


def without_interrogative(question: str) -> str | None:
    """Return "the melting point of solar salt" for "What is the melting point of solar salt?"; None if that is all."""
    bare = _INTERROGATIVE.sub("", question.strip().rstrip(" ?.!"), count=1).strip(" ,:;")
    return bare if len(bare.split()) > 1 and not is_same_query(bare, question) else None


def reworded(
    query: str,
    question: str,
    confidence: Confidence,
    others: Sequence[Passage],
    *,
    words: CorpusWords,
    asked: Collection[str],
) -> str | None:
    """Return the next wording of a query that was not answered; None where each was asked before.

    In this order: with the names that the evidence of other parts brought up (pseudo-relevance), the words that no
    passage held, without the interrogative.

    Args:
        query: what was searched for.
        question: the whole one.
        confidence: of what was found for the query.
        others: passages found for other parts, or for the query itself where there are no parts; best first.
        words: the corpus's terms and their rarity.
        asked: all queries so far.
    """
    wordings = (
        name_what_was_found(query, question, others, words),
        keep_what_is_missing(query, confidence, words),
        without_interrogative(query),
    )
    return next((one for one in wordings if one and not was_asked(one, asked)), None)


def was_asked(query: str, asked: Collection[str]) -> bool:
    """Say whether a query is one of those that were asked, but for case, punctuation and the order of blanks."""
    return any(is_same_query(query, other) for other in asked)


def is_same_query(one: str, other: str) -> bool:
    """Say whether two queries have the same words in the same order."""
    return _folded(one) == _folded(other)


def _folded(query: str) -> list[str]:
    return re.findall(r"\w+", query.casefold())
