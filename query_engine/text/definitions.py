"""Which term a question asks to define, and which one a sentence defines: "What is a buddy?", "A buddy is ...".

Flow: a question, a sentence -> **here** -> `reader/ranking.py` prefers sentences that define what is asked for. English
only. Pure.
"""

import re

MAX_TERM_CHARS = 50
# What follows the term says where it is looked for, or asks more: "What is a buddy at the firm, and who chooses them?"
_WHERE = r"(?:,?\s(?:in|at|on|for|with|under|from|according to|and (?:how|what|when|where|which|who|why))\s.{1,200})?"
_TERM = rf"(?P<term>[\w][\w '’/-]{{1,{MAX_TERM_CHARS}}}?)"
_ASKS_TERM = (
    re.compile(rf"^\W*(?:and |so |but )?what(?:['’]s| is| are) (?:an? )?{_TERM}{_WHERE}\W*$", re.IGNORECASE),
    re.compile(rf"\bwhat do(?:es)? (?:an? |the (?:word|term) )?{_TERM} mean{_WHERE}\W*$", re.IGNORECASE),
    re.compile(
        rf"\bwhat (?:do|does|is) (?:.{{1,100}}? )?(?:mean|meant) by (?:an? |the (?:word|term) )?\W?{_TERM}\W*$",
        re.IGNORECASE,
    ),
    re.compile(rf"\bdefine (?:an? )?{_TERM}{_WHERE}\W*$", re.IGNORECASE),
)
# "What is the rent?" and "What is your phone number?" ask for one thing's value, "What is known of it?" for facts.
_NO_TERM = re.compile(
    r"^(?:the|this|that|these|those|my|your|our|his|her|its|their|it|there|not|being|going|happening|included|needed"
    r"|known|said|meant|required|allowed|done|wrong|new|next|up)\b|\b(?:the|my|your|our|of)\b|\b(?:for|like|about)$",
    re.IGNORECASE,
)
_DEFINES = re.compile(
    rf"^[\W_]*(?:(?:an?|the)\s)?{_TERM}[\W_]*"
    r"\s(?:(?:is|was)\s(?:an?|any|the|one)|are|were|means?|refers? to|stands? for|denotes?)\b",
    re.IGNORECASE,
)
_CALLED = r"\b(?:called|known as|termed|referred to as|dubbed"
_NAMES = (
    re.compile(rf"{_CALLED}) (?:an? |the )?{_TERM}(?=[.,;:()]|$)", re.IGNORECASE),
    re.compile(rf"{_CALLED}|as) (?:an? |the )?[\"“*]+{_TERM}[\"”*]", re.IGNORECASE),
)


def asked_term(question: str) -> str:
    """Return the term that a question asks to define, as typed; empty if it asks for something else."""
    terms = (match["term"] for pattern in _ASKS_TERM if (match := pattern.search(question)))
    return next((term for term in terms if not _NO_TERM.search(term)), "")


def defined_terms(sentence: str) -> list[str]:
    """Return the terms that a sentence defines: the one that it begins with, and what it says something is called."""
    begins = _DEFINES.match(sentence)
    named = [match["term"] for pattern in _NAMES for match in pattern.finditer(sentence)]
    return [begins["term"], *named] if begins else named
