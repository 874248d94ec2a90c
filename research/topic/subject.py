"""Read a topic: is it a thing, an activity, a comparison or a question, and how is it named in a sentence?

Flow: topic -> **here** -> `subquestions.py`. Pure. English says "a heat pump" and "bioenergy", "the Betz limit" and
"wind"; the documents' own usage tells better than rules which of them: the article that they use most is taken.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from query_engine.synthesis.claims import content_stems

_ASKING = r"(?:what|which|who|whom|whose|when|where|why|how)"
_AUXILIARY = (
    r"(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|may|might|must|shall|isn't|aren't|"
    r"doesn't|don't|didn't|can't)"
)
_BE = r"(?:is|are|was|were)"
_CAN = r"(?:can|could|should|may|do|did|would)"
_ARTICLE = re.compile(
    r"(?:an?|the|this|these|those|that|my|our|your|his|her|its|their|some|all|any|each|every)\s", re.I
)
_ASKS = re.compile(rf"{_ASKING}\b|{_AUXILIARY}(?:\s+\S+){{3}}", re.I)
# Broad requests: nothing is asked but what there is to know.
_ABOUT = tuple(
    re.compile(pattern, re.I)
    for pattern in (
        rf"^what\s+(?:{_CAN}\s+)?(?:we|you|they|i|one|people|scientists)\s+(?:already\s+)?know\s+(?:about|of)\s+(.+)$",
        r"^what\s+(?:(?:else\s+)?(?:is|are)\s+(?:there\s+to\s+)?(?:known?|said|written)|(?:can|could)\s+you\s+tell\s+(?:me|us))"
        r"\s+(?:about|of|on)\s+(.+)$",
        r"^(?:please\s+)?(?:tell|inform|teach)\s+(?:me|us)\s+(?:\S+\s+){0,3}?(?:about|on)\s+(.+)$",
        r"^(?:please\s+)?(?:give|write|show)\s+(?:me|us\s+)?\s*(?:an?|the)\s+(?:\S+\s+){0,2}?(?:overview|report|summary|"
        r"introduction|essay|article)\s+(?:of|on|about|to)\s+(.+)$",
        r"^(?:an?\s+|the\s+)?(?:\w+\s+)?(?:overview|introduction|report|summary|background|everything|research|facts|"
        r"information)\s+(?:of|on|about|to)\s+(.+)$",
        r"^(?:please\s+)?(?:explain|describe|summari[sz]e|discuss|research|investigate|explore)\s+(.+)$",
        rf"^(?:what|who)\s+{_BE}\s+((?:(?!\b(?:of|for|in|to|when|if|that|which|between|by|than)\b).)+)$",
        r"^what\s+(?:do|does)\s+(.+)\s+mean$",
        r"^how\s+(?:do|does)\s+(.+)\s+(?:work|function|operate)$",
    )
)
_COMPARED = tuple(
    re.compile(pattern, re.I)
    for pattern in (
        r"^(?:compare\s+|comparing\s+)?(?P<a>.+?)\s+(?:vs\.?|versus|compared\s+(?:to|with)|or\s+rather)\s+(?P<b>.+)$",
        r"\b(?:differences?|comparison|similarit(?:y|ies)|distinction|choice|choose)\s+between\s+(?P<a>.+?)\s+and\s+(?P<b>.+)$",
        r"^(?:compare|comparing|comparison\s+of)\s+(?P<a>.+?)\s+(?:and|with|to|against)\s+(?P<b>.+)$",
        r"^how\s+(?:do|does|is|are)\s+(?P<a>.+?)\s+(?:differ(?:ent)?\s+from|compare\s+(?:to|with))\s+(?P<b>.+)$",
        r"^how\s+(?:do|are)\s+(?P<a>.+?)\s+and\s+(?P<b>.+?)\s+(?:differ(?:ent)?|compare)$",
        rf"^{_BE}\s+(?P<a>.+?)\s+(?:(?:more|less|as)\s+)?(?P<c>\w+)\s+(?:than|as)\s+(?P<b>.+)$",
        rf"^(?:which|what|who)\s+(?:\w+\s+)?{_BE}\s+(?:more\s+|less\s+)?(?P<c>\w+)[,:]?\s+(?P<a>[^,]+?),?\s+or\s+(?P<b>.+)$",
    )
)
_OF = re.compile(
    rf"^(?:what|which|who)\s+{_BE}\s.+\s(?:of|about)\s((?:an?\s|the\s)?[\w'’.&-]+(?:\s[\w'’.&-]+){{0,3}})$", re.I
)
_HOW_TO = re.compile(r"^how\s+to\s+(.+)$", re.I)
# Words in -ing that name things.
_NO_ACTIVITY = frozenset(
    "king ring wing spring string thing sting swing sling bring sibling ceiling building engineering evening morning "
    "pudding wedding inning lightning darling duckling earring offspring beijing".split()
)
_GERUND = re.compile(r"^([a-z]{3,}ing)\s+\S", re.I)
_PREPOSITION = re.compile(
    r"\s(?:of|in|on|for|from|with|by|at|to|under|about|during|within|between|after|before|that|which|who|as)\s", re.I
)
_IRREGULAR_PLURALS = frozenset(
    "people children men women feet mice geese data media criteria phenomena bacteria".split()
)
_SINGULAR_ENDINGS = ("ss", "us", "is", "ics", "news")
# What stands before a noun that has no article.
_BEFORE = (
    r"(?:^|[.!?:;,]\s+|\n|\b(?:of|in|on|for|from|with|by|at|to|and|or|as|than|is|are|was|into|about|between|uses?|when|"
    r"if)\s)"
)
# What follows a noun that is complete: a stop, or a word that begins something else.
_AFTER = (
    r"(?=\s*[.,;:)?!]|\s+(?:is|are|was|were|has|had|have|can|could|may|will|would|must|should|works?|of|in|on|at|for|"
    r"from|with|by|to|that|which|and|or|as|than|it|does|do|needs?|costs?|uses?|makes?|takes?)\b)"
)
_ORDER = re.compile(r"(?:first|last|next|main|new|early|late|recent)\b", re.I)
MAX_NAME_WORDS = 10
# Of a question: words that name a thing in it, at most; things that are looked at; letters of the shortest.
MAX_THING_WORDS = 4
MAX_THINGS = 2
LEAST_THING_CHARS = 4


@dataclass(frozen=True, slots=True)
class Thing:
    """Something that is asked about, as it stands in a sentence.

    Attributes:
        name: with its article, such as "a heat pump".
        plural: whether "are" follows it.
    """

    name: str
    plural: bool

    @property
    def be(self) -> str:
        """Return the form of "be" that follows it."""
        return "are" if self.plural else "is"

    @property
    def do(self) -> str:
        """Return the form of "do" that goes before it."""
        return "do" if self.plural else "does"


@dataclass(frozen=True, slots=True)
class Subject:
    """What a topic is about.

    Attributes:
        kind: `thing`; `activity` ("recycling blades"); `way` ("how to store heat", `things[0].name` being "store
            heat"); `comparison` of two things; `question`, whose things only stand in it.
        things: two of a comparison, up to two of a question, else one.
        question: the topic itself, where it asks more than what there is to know; ends with a question mark.
        criterion: by what things are compared, such as "cheaper"; empty if nothing says it.
    """

    kind: Literal["thing", "activity", "way", "comparison", "question"]
    things: tuple[Thing, ...] = ()
    question: str | None = None
    criterion: str = ""


def read_topic(topic: str, texts: Iterable[str] = ()) -> Subject:
    """Read a topic.

    Args:
        topic: a noun, an activity, a comparison or a question, in any case, with or without a question mark.
        texts: what documents say about it; they tell how its name is used.
    """
    plain = " ".join(topic.split()).strip("\"“”'‘’ ")
    asked = plain.endswith("?") or bool(_ASKS.match(plain))
    plain = plain.rstrip("?!. ") or plain
    known = "\n".join(texts)
    question = f"{plain[:1].upper()}{plain[1:]}?"
    if way := _HOW_TO.match(plain):
        return Subject("way", (Thing(way[1], False),))
    for pattern in _COMPARED:
        found = pattern.search(plain)
        if found and _short(found["a"]) and _short(found["b"]):
            first, second = _completed(found["a"], found["b"], known), found["b"]
            things = (
                _thing(first, known, given=asked, definite=False),
                _thing(second, known, given=asked, definite=False),
            )
            criterion = found.groupdict().get("c") or ""
            return Subject("comparison", things, question if asked else None, criterion.lower())
    for pattern in _ABOUT:
        found = pattern.match(plain)
        if found and _short(found[1]):
            return _named(found[1], known, given=asked)
    if not asked:
        return _named(plain, known)
    of = _OF.match(plain)
    if of and not re.search(rf"\b(?:{_ASKING}|{_AUXILIARY})\b", of[1], re.I):
        return Subject("thing", (_thing(of[1], known, given=True),), question)
    return Subject("question", _things_in(plain, known), question)


def _completed(first: str, second: str, known: str) -> str:
    """Return "onshore wind" for the first of "onshore or offshore wind"."""
    *before, head = second.split()
    whole = f"{first} {head}"
    return whole if before and " " not in first and re.search(rf"\b{re.escape(whole)}\b", known, re.I) else first


def _things_in(question: str, known: str) -> tuple[Thing, ...]:
    """Return what a question names in the same words as the documents, the longest names first."""
    words = [word.strip(',;:()"“”?') for word in question.split()]
    names: list[str] = []
    for length in range(MAX_THING_WORDS, 0, -1):
        for at in range(len(words) - length + 1):
            run = words[at : at + length]
            name = " ".join(run)
            if len(name) < LEAST_THING_CHARS or any(name.lower() in longer.lower() for longer in names):
                continue
            if length == 1 and not (at and name[:1].isupper()):
                continue  # a common noun tells too little
            if len(content_stems(name)) == length and not _ORDER.match(name) and _is_noun(name, known):
                names.append(name)
    return tuple(_thing(name, known) for name in names[:MAX_THINGS])


def _is_noun(name: str, known: str) -> bool:
    return re.search(rf"(?:\b(?:an?|the|of|for|by|with)\s+){re.escape(name)}\b{_AFTER}", known, re.I) is not None


def _short(name: str) -> bool:
    return len(name.split()) <= MAX_NAME_WORDS


def _named(name: str, known: str, *, given: bool = False) -> Subject:
    gerund = _GERUND.match(name)
    # "wind heating": only the first word tells; documents that set an article before it use it as a noun.
    if gerund and gerund[1].lower() not in _NO_ACTIVITY:
        lower = name[0].lower() + name[1:]
        return Subject("activity", (Thing(lower, False),))
    return Subject("thing", (_thing(name, known, given=given),))


def _thing(name: str, known: str, *, given: bool = False, definite: bool = True) -> Thing:
    """Return a name as it stands in a sentence; `given` if it stood in one, with or without its article.

    Without `definite` no "the" is set: two things that are compared are meant in general.
    """
    name = _cased(name.strip(" ,;:"), known)
    head = _PREPOSITION.split(f"{name} ", maxsplit=1)[0].split()
    last = head[-1].lower() if head else ""
    several = " and " in f" {' '.join(head)} "
    plural = several or last in _IRREGULAR_PLURALS or (last.endswith("s") and not last.endswith(_SINGULAR_ENDINGS))
    if given or plural or _ARTICLE.match(name):
        return Thing(name, plural)
    named = _with_article(name, known)
    return Thing(named if definite or not named.startswith("the ") else name, False)


def _cased(name: str, known: str) -> str:
    """Write a heading small, and a first word; unless it is a name, which documents know only with a capital."""
    if name != name.lower() and name not in known and re.search(rf"\b{re.escape(name.lower())}", known):
        return name.lower()
    first, _, rest = name.partition(" ")
    if not first[:1].isupper() or not first[1:].islower():
        return name
    if rest and any(word[:1].isupper() for word in rest.split()):
        return name
    small = first.lower()
    if re.search(rf"\b{re.escape(small)}", known) or not re.search(rf"\b{re.escape(first)}", known):
        return f"{small} {rest}".strip()
    return name


def _with_article(name: str, known: str) -> str:
    articles = re.findall(rf"\b(an?|the)\s+{re.escape(name)}\b{_AFTER}", known, re.I)
    counts = Counter(article.lower() for article in articles)
    bare = len(re.findall(rf"{_BEFORE}{re.escape(name)}\b{_AFTER}", known, re.I))
    indefinite = counts["a"] + counts["an"]
    if indefinite and indefinite >= bare:
        return f"{'an' if counts['an'] else 'a'} {name}"
    return f"the {name}" if counts["the"] > bare else name
