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


def asked_term(question: str) -> str:
    """Return the term that a question asks to define, as typed; empty if it asks for something else."""
    found = next((match for pattern in _ASKS_TERM if (match := pattern.search(question))), None)
    return found["term"] if found and not _NO_TERM.search(found["term"]) else ""


def defined_term(sentence: str) -> str:
    """Return the term that a sentence begins by defining; empty if it does not begin so."""
    found = _DEFINES.match(sentence)
    return found["term"] if found else ""
