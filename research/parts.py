"""Take a question apart into sub-questions, by grammar and by templates: further than a single pass does.

Flow: question -> **here** (`question/decompose_rules.py` first) -> `loop.py` searches for each, `by_rules.py` judges
each. A single pass does not split in doubt, since it searches once; a loop reviews each search, so a needless
sub-question costs it little. Pure.
"""

import re

from query_engine.question.decompose_rules import MAX_CHARS, Part, split_question

MAX_PARTS = 5
MIN_WORDS = 3
_WH = r"(?:what|which|who|whom|whose|when|where|why|how)"
_ASKING = rf"(?:{_WH}|is|are|was|were|do|does|did|has|have|had|can|could|will|would|should)"
# "What is X, how is it made, and does it last?": a comma before a clause that asks; before a mere auxiliary, an "and".
_CLAUSE = re.compile(rf",\s+(?:(?:and|but)\s+(?={_ASKING}\b)|(?={_WH}\b))", re.I)
_ASKS = re.compile(rf"^(?:(?:in|on|at|for|to|from|by|with|of|under)\s+)?{_ASKING}\b", re.I)
_REFERS = re.compile(r"\b(?:it|its|they|them|their|he|him|his|she|her|this|these|those)\b", re.I)
_BOTH_SIDES = re.compile(
    r"\b(?:(?:pros|advantages?|benefits?|upsides?|strengths)\s+and\s+(?:the\s+)?(?:cons|disadvantages?|drawbacks?|risks|"
    r"downsides?|weaknesses)|arguments?\s+for\s+and\s+against)(?:\s+(?:of|for|to))?\s+(?P<thing>[^?.,;]+)",
    re.I,
)


def sub_questions(question: str) -> tuple[Part, ...]:
    """Return what a question asks for, two parts at least and `MAX_PARTS` at most; `()` where it asks for one thing.

    A part that points back to the one before it is searched for together with that.
    """
    if len(question) > MAX_CHARS or "\n" in question.strip():
        return ()
    if sides := _BOTH_SIDES.search(question):
        thing = sides["thing"].strip()
        return tuple(Part(text, text) for text in (f"advantages of {thing}", f"disadvantages of {thing}"))
    whole = " ".join(question.split()).rstrip(" ?.!")
    parts = [piece for part in split_question(question) or (Part(whole, whole),) for piece in _clauses(part)]
    distinct = tuple(dict.fromkeys(parts))[:MAX_PARTS]
    return distinct if len(distinct) > 1 else ()


def _clauses(part: Part) -> list[Part]:
    """Cut a part where each piece asks something by itself; the part itself where that cannot be done."""
    texts = _CLAUSE.split(part.text)
    if len(texts) < 2 or any(len(text.split()) < MIN_WORDS or not _ASKS.match(text) for text in texts):
        return [part]
    lead = part.query.removesuffix(part.text)
    pieces = [part._replace(text=texts[0], query=f"{lead}{texts[0]}")]
    for text in texts[1:]:
        pieces.append(Part(text, f"{pieces[0].query} {text}" if _REFERS.search(text) else text))
    return pieces
