"""Take a question apart by the forms of English: clauses that ask, things that are compared, names that are listed.

Flow: question -> **here** -> `decompose.py`. Pure. Where a form is doubtful the question stays whole: one search too
many costs little, but "research and development" taken apart finds neither. So two words with "and" between them are
one thing, unless the sentence itself says that they are two: by "both", "difference between", "which of", "differ".
"""

import re
from collections.abc import Callable
from typing import NamedTuple

MAX_PARTS = 4
# A longer text is no question that grammar could judge.
MAX_CHARS = 500
MAX_THING_WORDS = 6

_ASKING = r"(?:what|which|who|whom|whose|when|where|why|how)"
_AUXILIARY = (
    r"(?:is|are|was|were|am|be|do|does|did|has|have|had|can|could|will|would|should|may|might|must|shall|came|comes)"
)
_PREPOSITION = r"(?:in|on|at|for|to|from|by|with|of|under|during|within|since|until|about|into)"
_PRONOUN = r"(?:it|its|they|them|their|theirs|he|him|his|she|her|hers|this|that|these|those|there|one|both|each)"
_NAME = r"(?:(?:[Tt]he )?+[A-Z0-9][\w.'’&-]*(?: (?:of |de |van |von |la )?[A-Z0-9][\w.'’&-]*)*)"

_SENTENCE = re.compile(r"(?<=\?)\s+|(?<=[a-z0-9]{3}[.!])\s+(?=[A-Z\"“])")
_CLAUSE = re.compile(
    rf"[,;]?\s+(?:and|but)\s+(?:also\s+)?(?=(?:{_PREPOSITION}\s+)?{_ASKING}\b"
    rf"|{_AUXILIARY}\s+(?:{_PRONOUN}|the)\b)",
    re.I,
)
_UNFINISHED = re.compile(
    rf"\b(?:{_ASKING}|{_PREPOSITION}|whether|if|between|than|or|and|not)\s*,?$|\bbetween\b[^,]*$", re.I
)
_HAS_VERB = re.compile(rf"\b(?:{_AUXILIARY}|{_PRONOUN}|to|we|you|i)\b", re.I)
_SETTING = re.compile(
    rf"^((?:in|for|at|on|during|within|under|according to|among|with|as of)\b[^,?]{{2,80}}),\s+(?={_ASKING}\b)", re.I
)
_REFERS_BACK = re.compile(rf"\b{_PRONOUN}\b", re.I)
# With an article, a capital or a digit it is a thing; without, two words at most, and no participle ("included in"),
# unless a noun follows ("pumped storage").
_ASKED_ABOUT = re.compile(
    r"(?i:(what|who)(?:['’]s| is| are| was| were)) ((?:(?i:an?|the) |[A-Z0-9])[^,;:?]+"
    rf"|(?!(?:being|going|wrong)\b|\w+(?:ed|ing)(?:$| (?:{_PREPOSITION}\b|\w+(?:ed|ly)$)))[\w-]+(?: [\w-]+)?)$"
)
_SUBJECTS = {"what": {"it", "they", "them"}, "who": {"they", "them", "he", "him", "she"}}
_POSSESSIVES = {"what": {"its", "their"}, "who": {"their", "his", "her"}}
_OBJECT = re.compile(rf"\s*$|\s+{_PREPOSITION}\b", re.I)
_TO_SOMEBODY = re.compile(r"\b(?:i|i'm|i’m|my|me|we|our|you|your|you're|please)\b", re.I)
# How to answer, where another sentence asks.
_ORDER = re.compile(
    r"(?:answer|use|using|explain|calculate|base|address|give|write|respond|reply|round|describe|list|show|include|keep|think|"
    r"assume|consider|make|tell|be|do|don't|don’t|provide|state|name|only|over|or)\b",
    re.I,
)
_LINK = re.compile(r"^(?:and|but|also|so|then)[,\s]+", re.I)
_TAIL = re.compile(rf",?\s+and\s+(?:{_PREPOSITION}\s+)?{_ASKING}(?:\s+\w+){{0,2}}\s*$", re.I)


class Part(NamedTuple):
    """One of the things that a question asks for.

    Attributes:
        text: for people.
        query: what is searched for: with what the text refers to.
        alone: it can be answered by itself: it asks something, and refers to no other part.
    """

    text: str
    query: str
    alone: bool = True


def split_question(question: str) -> tuple[Part, ...]:
    """Return the parts of a question, two at least and `MAX_PARTS` at most; `()` where it asks for one thing."""
    parts: list[Part] = []
    before = ""
    for clause, asks in _clauses(question):
        refers = bool(before) and _REFERS_BACK.search(clause) is not None
        things, whole = _compared(clause)
        if refers and (named := _with_subject(before, clause)):
            parts.append(Part(clause, named, asks))
            continue
        alone = asks and whole and not refers
        parts += [Part(thing, f"{before} {thing}" if refers else thing, alone) for thing in things]
        before = clause
    distinct = tuple(dict.fromkeys(parts))
    return distinct[:MAX_PARTS] if len(distinct) > 1 else ()


def compared_things(question: str) -> tuple[str, ...]:
    """Return the names of what a question compares: "the flex tier", "the priority tier"; `()` if nothing."""
    clauses = (_TAIL.sub("", clause) for clause, _ in _clauses(question))
    return next((tuple(things) for clause in clauses for rule in _NAMING_RULES if (things := rule(clause))), ())


def _with_subject(before: str, clause: str) -> str | None:
    """Return a clause with what "what is X" asks about in place of its only pronoun; None where that is not plain."""
    asked, pronouns = _ASKED_ABOUT.match(before), list(_REFERS_BACK.finditer(clause))
    if asked is None or len(pronouns) != 1:
        return None
    kind, thing, word = asked[1].lower(), asked[2], pronouns[0][0].lower()
    if len(thing.split()) > MAX_THING_WORDS or _REFERS_BACK.search(thing):
        return None
    start, rest = clause[: pronouns[0].start()], clause[pronouns[0].end() :]
    if word in _SUBJECTS[kind] or (word == "her" and kind == "who" and _OBJECT.match(rest)):
        return f"{start}{thing}{rest}"
    if word in _POSSESSIVES[kind]:
        ending = "'" if thing.endswith("s") else "'s"
        return f"{start}{thing}{ending}{rest}"
    return None


def _clauses(question: str) -> list[tuple[str, bool]]:
    """Cut between sentences, and before clauses that ask something else; say of each whether it asks.

    Of a text that is no question for grammar there are none.
    """
    if len(question) > MAX_CHARS or "\n" in question.strip():
        return []
    sentences = _SENTENCE.split(" ".join(question.split()))
    telling = [one for one in sentences if one.endswith("?") or not (_TO_SOMEBODY.search(one) or _ORDER.match(one))]
    clauses: list[tuple[str, bool]] = []
    for sentence in telling or sentences[:1]:
        pieces = _coordinated(_LINK.sub("", sentence.rstrip(" ?.!")))
        setting = _SETTING.match(pieces[0])
        pieces[1:] = [f"{setting[1]}, {one}" if setting and not _SETTING.match(one) else one for one in pieces[1:]]
        # Questions to a search engine often lack their mark; a statement among others ends in a full stop.
        clauses += [(piece, not sentence.endswith(".") or len(telling) < 2) for piece in pieces if piece]
    return clauses


def _coordinated(sentence: str) -> list[str]:
    """Cut where a conjunction joins two clauses, each of which asks something by itself."""
    pieces, start = [], 0
    for joint in _CLAUSE.finditer(sentence):
        left, right = sentence[start : joint.start()], sentence[joint.end() :]
        if len(left.split()) < 3 or _UNFINISHED.search(left) or not _asks_by_itself(right):
            continue
        pieces.append(left)
        start = joint.end()
    return [*pieces, sentence[start:]]


def _asks_by_itself(clause: str) -> bool:
    """Tell "who built it" from "by how much", which asks more of the same."""
    words = re.sub(rf"^{_PREPOSITION}\s+", "", clause, flags=re.I).split()
    return len(words) > 3 or (len(words) == 3 and _HAS_VERB.search(" ".join(words[1:])) is not None)


def _compared(clause: str) -> tuple[list[str], bool]:
    """Return a clause once for each thing that it compares or lists, and whether each still says what is asked."""
    named = _TAIL.sub("", clause)
    for rule in (*_BARE_RULES, *_WHOLE_RULES):
        if things := rule(named):
            return things, rule in _WHOLE_RULES
    return [clause], True


def _difference(clause: str) -> list[str]:
    found = re.search(
        r"\b(?:differen\w+|similarit\w+|distinctions?|contrasts?|comparisons?|differentiate|distinguish|choose|choice)\s+"
        r"between\s+(?P<things>.+)$|\bcompar(?:e|ing)\s+(?P<compared>.+)$",
        clause,
        re.I,
    )
    if not found:
        return []
    return _things(found["things"] or found["compared"], also=() if found["things"] else ("with", "to", "against"))


def _differ(clause: str) -> list[str]:
    found = re.search(
        rf"^(?:how|in what ways?)\s+{_AUXILIARY}\s+(?P<a>.+?)\s+(?:differ(?:ent)?\s+from|compare[sd]?\s+(?:to|with))\s+"
        rf"(?P<b>.+)$|^(?:how|in what ways?|what)\s+{_AUXILIARY}\s+(?P<things>.+?\sand\s.+?)\s+"
        r"(?:differ|compare|vary|have in common)\b",
        clause,
        re.I,
    )
    if not found:
        return []
    return _short([found["a"], found["b"]]) if found["a"] else _things(found["things"])


def _versus(clause: str) -> list[str]:
    found = re.search(r"(?P<a>\S.*?)\s+(?:vs\.?|versus)\s+(?P<b>\S.*)$", clause, re.I)
    return _short([found["a"], found["b"]]) if found else []


def _either(clause: str) -> list[str]:
    """Find `A or B: which …`."""
    few = r"[^\s,:]+(?:\s[^\s,:]+){0,3}"
    found = re.match(
        rf"(?P<a>(?!{_ASKING}\b|{_AUXILIARY}\b){few})\sor\s(?P<b>{few})\s?[,:–-]\s*{_ASKING}\b", clause, re.I
    )
    return _short([found["a"], found["b"]]) if found else []


def _which_of(clause: str) -> list[str]:
    begins = r"(?i:which|who|what)(?:\s+\w+)?\s+(?:of|between|among)\s+"
    names = rf"{_NAME}(?:, {_NAME})*,? (?:and|or) {_NAME}"
    found = re.match(rf"{begins}(?P<things>.+?\s(?:and|or)\s.+?)\s+(?P<rest>{_AUXILIARY}\b.*)$", clause) or re.match(
        rf"{begins}(?P<things>{names})\s+(?P<rest>.+)$", clause
    )
    return [f"{thing} {found['rest']}" for thing in _things(found["things"])] if found else []


def _alternatives(clause: str) -> list[str]:
    """Find `..., A or B`, and `is it by A or B`."""
    found = re.match(
        rf"(?P<frame>(?:{_ASKING}|{_AUXILIARY}|{_PREPOSITION}\s+{_ASKING})\b[^,:]*)[,:]\s*(?P<things>.+?\sor\s.+)$",
        clause,
        re.I,
    )
    if found:
        return [f"{found['frame']}: {thing}" for thing in _things(found["things"])]
    few = rf"(?!{_PREPOSITION}\b)\S+(?:\s(?!{_PREPOSITION}\b)\S+){{0,2}}"
    found = re.match(
        rf"(?P<frame>{_AUXILIARY}\b.*\s(?:in|on|at|for|from|by|with|of))\s+(?P<things>{few}\sor\s{few})$", clause, re.I
    )
    return [f"{found['frame']} {thing}" for thing in _things(found["things"])] if found else []


def _than(clause: str) -> list[str]:
    found = re.match(
        rf"(?P<first>{_AUXILIARY}\s.+\b(?P<more>(?:more|less|fewer|better|worse|(?!other\b|rather\b|over\b)\w+er)\b.*))"
        rf"\sthan\s(?P<second>(?!\d|ever\b|before\b|{_PRONOUN}\b|(?:the )?(?:usual|normal|average|expected|others?)\b)"
        r".+)$",
        clause,
        re.I,
    )
    if not found or len(found["second"].split()) > 2 * MAX_THING_WORDS or re.search(r"\bmore or less\b", clause, re.I):
        return []
    return [found["first"], f"{found['second']}: {found['more']}"]


def _both(clause: str) -> list[str]:
    found = re.search(
        rf"\b[Bb]oth\s+(?P<p>{_PREPOSITION}\s+)(?P<a>[^,]+?)\s+and\s+(?P=p)(?P<b>{_NAME}|[^,\s]+)", clause
    ) or re.search(rf"\b[Bb]oth\s+(?P<p>)(?P<a>{_NAME})\s+and\s+(?P<b>{_NAME})", clause)
    return (
        _each(clause, found.start(), found.end(), [found["p"] + found["a"], found["p"] + found["b"]]) if found else []
    )


def _names(clause: str) -> list[str]:
    """Find three names or more in a row after a plural: `the capitals of A, B and C`."""
    found = re.search(rf"\w+s\s+(?:{_PREPOSITION})\s+(?P<things>{_NAME}(?:, {_NAME})+,? and {_NAME})", clause)
    return _each(clause, found.start("things"), found.end("things"), _things(found["things"])) if found else []


# The first name the things alone, the second repeat the question for each.
_NAMING_RULES: tuple[Callable[[str], list[str]], ...] = (_difference, _differ, _versus, _either)
_BARE_RULES: tuple[Callable[[str], list[str]], ...] = (*_NAMING_RULES, _than)
_WHOLE_RULES: tuple[Callable[[str], list[str]], ...] = (_which_of, _alternatives, _both, _names)


def _each(clause: str, start: int, end: int, things: list[str]) -> list[str]:
    return [f"{clause[:start]}{thing}{clause[end:]}" for thing in things]


def _things(text: str, also: tuple[str, ...] = ()) -> list[str]:
    """Cut `A, B and C`; `[]` where that can be done in more ways than one."""
    joints = re.findall(r"\s(?:and|or)\s", text)
    if not joints and also:
        return _short(re.split(rf"\s(?:{'|'.join(also)})\s", text, maxsplit=1))
    if len(joints) != 1:
        return []
    things = _short(re.split(r",?\s(?:and|or)\s|,\s+", text))
    if len(things) != 2:
        return things
    first, last = things[0].split(), things[1].split()
    alike = len(first) == 2 and len(last) > 2 and first[0] == last[0] and first[0].lower() in {"a", "an", "the"}
    return [f"{things[0]} {last[-1]}", things[1]] if alike else things  # "the small and the large tent"


def _short(things: list[str]) -> list[str]:
    """Return the things if they are some, and none is a sentence, a pronoun or a mere number of the same."""
    stripped = [thing.strip(' ,:;"“”') for thing in things]
    fits = len(stripped) > 1 and all(
        thing
        and len(thing.split()) <= 2 * MAX_THING_WORDS
        and not re.fullmatch(
            rf"{_PRONOUN}|not|more|less|fewer|so|later|earlier|others?|any(?:thing)?|else|something", thing, re.I
        )
        for thing in stripped
    )
    return stripped if fits else []
