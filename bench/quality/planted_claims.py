"""Sentences that a set of passages supports, and sentences that it does not, made from a data set's own texts.

Flow: data set -> **here** -> `grounding.py`, whose scripted synthesizer writes them. Made by rule and seed, so that
every run has the same. True ones are quoted, framed, shortened, joined, turned round, reworded, or are the data set's
own reference answers; false ones have a number or a name changed, are denied, come from elsewhere, claim something on
top, compute, put one sentence's predicate to another one's subject, repeat themselves, or exchange who does it to whom.
"""

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle

from eval.cases import Case
from query_engine.schema.passage import Passage
from query_engine.synthesis.claims import content_stems
from query_engine.text.sentences import split_sentences

WINDOW_SENTENCES = 6
PASSAGES = 3
_WORDS = range(8, 36)
_NUMBER = re.compile(r"(?<![\w.,-])\d+(?:[.,]\d+)*(?![\w-])")
_NAME = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]{3,}\b(?: [A-Z][a-z]{2,}\b)*")
_PHRASE = re.compile(r"^(.{20,}?[a-z]) ((?:in|during|since|after|between|under|within|at) [^,;]{4,40})\.$")
_VERB = re.compile(r"\b(is|are|was|were|can|could|will|would|has|have|had)\b(?! not\b| no\b| never\b)")
_DENIAL = re.compile(r"\b(is|are|was|were|can|could|will|would|do|does|did|has|have|had) not\b")
_TAIL = re.compile(r"^(.{40,}?[a-z]), (?:which|who|where|while|although|because|but|and|including|such as) [^,]+\.$")
_SYNONYMS = {
    "large": "big", "began": "started", "begin": "start", "many": "numerous", "uses": "employs", "important": "key",
    "several": "a number of", "built": "constructed", "shows": "demonstrates", "show": "demonstrate", "helps": "aids",
    "small": "little", "often": "frequently", "such as": "like", "about": "roughly", "because": "since",
    "during": "in the course of", "however,": "yet", "also": "too", "method": "approach", "usually": "commonly",
    "main": "chief", "made": "produced", "obtained": "gained", "given": "presented", "results": "findings",
    "number of": "amount of", "various": "different", "provide": "give", "provides": "gives", "used": "employed",
}  # fmt: skip
_ADDITIONS = (
    ", which critics later called the costliest mistake of the decade",
    ", and experts expect the figure to double soon",
    ", which won an international award",
    ", because local farmers had demanded it",
    ", and the government has since banned it",
    ", which made its inventor a wealthy man",
    ", while competitors abandoned the idea",
    ", and a second version is planned in Canada",
)
# A sentence whose subject is named, and plainly ends before its verb.
_NAMED_SUBJECT = re.compile(
    r"^(?!(?:It|He|She|They|This|These|That|Those|There|Here|His|Her|Its|Their|Such|Both|Some|Many|Most|Other|Another|"
    r"One|In|On|At|By|For|From|With|When|While|After|Before|During|Since|If|As|However|What|Who|Which|To|Under)\b)"
    r"((?:[\w'-]+ ){1,6}?)(is|are|was|were|has|have|can|could|will|would) ((?:[^,;:]){20,})\.$"
)
_PLURAL = frozenset({"are", "were", "have"})
_ROLES = re.compile(
    r"^(?:(?!(?:They|Some|Other|Others|Most|Many|Comparing|The|This|These|That|Both|She)\b)"
    r"(?P<name>[A-Z][a-z]{2,}(?: [A-Z][a-z]{2,})*) (?P<did>[a-z]+ed) (?P<other>[A-Z][a-z]{2,}(?: [A-Z][a-z]{2,})*)"
    r"|The (?P<thing>[a-z]+(?: [a-z]+)?) (?P<does>[a-z]+(?:es|ed|ts|ns)) (?:the|a|an) (?P<object>[a-z]{4,}))"
    r"(?=[.,;]| (?:of|in|to|at|for|and|from|on|with|that|which|alive|as|under|over|between)\b)(?P<rest>.*)$"
)
_SUMS = ("which makes {} in total", "an average of {} a year", "that is {} times as much")


@dataclass(frozen=True, slots=True)
class Planted:
    """One sentence for the scripted synthesizer.

    Attributes:
        supported: whether the passages hold what it says.
        kind: how it was made.
        rank: of the passage it cites.
    """

    text: str
    supported: bool
    kind: str
    passages: tuple[Passage, ...]
    rank: int


def plant(texts: Sequence[str], cases: Sequence[Case], count: int, seed: int) -> list[Planted]:
    """Make `count` supported and `count` unsupported sentences, the kinds in turn.

    Args:
        texts: the documents; at least four with prose.
        cases: reference answers with their `reference_context` are supported sentences too.
        count: of each sort.
        seed: the same one makes the same sentences.
    """
    rng = random.Random(seed)  # noqa: S311  # chooses examples
    windows = _windows(texts, rng)
    answered = [case for case in cases if _stands_alone(case)]
    rng.shuffle(answered)
    planted = [_planted(made, windows, rng, supported=True) for made in _turns(_TRUE, windows, count)]
    for case, place in zip(answered, range(0, count, len(_TRUE) + 1), strict=False):
        window = _Window((str(case.reference_context),), -1)
        planted[place] = _planted(("reference answer", str(case.answer), window), windows, rng, supported=True)
    false = _turns({kind: _bound(make, windows, rng) for kind, make in _FALSE.items()}, windows[::-1], count)
    return planted + [_planted(made, windows, rng, supported=False) for made in false]


@dataclass(frozen=True, slots=True)
class _Window:
    sentences: tuple[str, ...]
    document: int


_Mixed = tuple[str, _Window]
"""A sentence that mixes a window's with another one's."""
_Make = Callable[[_Window], str | _Mixed | None]
_Made = tuple[str, str | _Mixed, _Window]


def _turns(makers: dict[str, _Make], windows: Sequence[_Window], count: int) -> Iterator[_Made]:
    """Let each maker in turn make one from the next window that suits it."""
    left = dict.fromkeys(makers, 0)
    made = 0
    for kind in cycle(makers):
        while left[kind] < len(windows):
            window = windows[left[kind]]
            left[kind] += 1
            if made_text := makers[kind](window):
                yield kind, made_text, window
                made += 1
                break
        if made == count or all(used >= len(windows) for used in left.values()):
            return


def _planted(made: _Made, windows: Sequence[_Window], rng: random.Random, *, supported: bool) -> Planted:
    kind, said, window = made
    text, mixed = (said, []) if isinstance(said, str) else (said[0], [said[1]])
    # What is foreign here must not stand in another passage by chance.
    others = [other for other in windows if other.document != window.document and text not in other.sentences]
    shown = [window, *mixed, *rng.sample(others, PASSAGES - 1 - len(mixed))]
    rng.shuffle(shown)
    passages = tuple(_passage(each) for each in shown)
    return Planted(text, supported, kind, passages, shown.index(window) + 1)


def _passage(window: _Window) -> Passage:
    text, name = " ".join(window.sentences), f"planted-{window.document}"
    return Passage(name, f"{name}#00000", name, "", None, "leaf", 0, len(text), (), 1.0, {}, text)


def _windows(texts: Sequence[str], rng: random.Random) -> list[_Window]:
    windows = []
    for document, text in enumerate(texts):
        prose = [" ".join(text[s.start : s.end].split()) for s in split_sentences(text) if s.kind == "prose"]
        for first in range(0, len(prose) - WINDOW_SENTENCES, WINDOW_SENTENCES):
            sentences = tuple(prose[first : first + WINDOW_SENTENCES])
            if _telling(sentences[0]):
                windows.append(_Window(sentences, document))
    rng.shuffle(windows)
    return windows


def _telling(sentence: str) -> bool:
    return len(sentence.split()) in _WORDS and sentence[0].isupper() and sentence[-1] == "." and "(" not in sentence


def _stands_alone(case: Case) -> bool:
    return bool(case.reference_context) and len((case.answer or "").split()) >= min(_WORDS)


def _framed(window: _Window) -> str:
    return f"According to the document, {window.sentences[0]}"


def _shortened(window: _Window) -> str | None:
    match = _TAIL.match(window.sentences[0])
    return f"{match[1]}." if match else None


def _joined(window: _Window) -> str | None:
    first, second = window.sentences[:2]
    return f"{first[:-1]}; {second}" if _telling(second) else None


def _turned(window: _Window) -> str | None:
    match = _PHRASE.match(window.sentences[0])
    return f"{match[2][0].upper()}{match[2][1:]}, {match[1]}." if match else None


def _reworded(window: _Window) -> str | None:
    text, changed = window.sentences[0], 0
    for word, other in _SYNONYMS.items():
        text, count = re.subn(rf"(?<!\w){word}(?!\w)", other, text)
        changed += count
    return text if changed >= 2 else None  # one alone is hardly another wording


_TRUE: dict[str, _Make] = {
    "quoted": lambda window: window.sentences[0],
    "framed": _framed,
    "shortened": _shortened,
    "joined": _joined,
    "turned round": _turned,
    "reworded": _reworded,
}


def _number(window: _Window, _windows: Sequence[_Window], rng: random.Random) -> str | None:
    match = _NUMBER.search(window.sentences[0])
    if match is None:
        return None
    digits = [str(rng.randint(1, 9)) if c.isdigit() else c for c in match[0]]
    changed = "".join(digits)
    held = set(_NUMBER.findall(" ".join(window.sentences)))
    return None if changed in held else _replaced(window.sentences[0], match, changed)


def _name(window: _Window, windows: Sequence[_Window], rng: random.Random) -> str | None:
    match = _NAME.search(window.sentences[0])
    own = set(" ".join(window.sentences).split())
    names = [name for _ in range(40) for name in _NAME.findall(rng.choice(windows).sentences[0])]
    other = next((name for name in names if not own & set(name.split())), None)
    return _replaced(window.sentences[0], match, other) if match and other else None


def _foreign(window: _Window, windows: Sequence[_Window], rng: random.Random) -> str:
    return rng.choice([other for other in windows if other.document != window.document]).sentences[0]


def _denied(window: _Window, _windows: Sequence[_Window], _rng: random.Random) -> str | None:
    sentence = window.sentences[0]
    if match := _DENIAL.search(sentence):
        return _replaced(sentence, match, match[1])
    match = _VERB.search(sentence)
    return _replaced(sentence, match, f"{match[1]} not") if match else None


def _added(window: _Window, _windows: Sequence[_Window], rng: random.Random) -> str:
    return f"{window.sentences[0][:-1]}{rng.choice(_ADDITIONS)}."


def _computed(window: _Window, _windows: Sequence[_Window], rng: random.Random) -> str | None:
    match = _NUMBER.search(window.sentences[0])
    total = rng.choice(_SUMS).format(rng.randint(1000, 99999) / 10)
    return f"{window.sentences[0][:-1]}, {total}." if match else None


def _merged(window: _Window, _windows: Sequence[_Window], _rng: random.Random) -> str | None:
    return _merge(window.sentences[0], window.sentences[1:])


def _merged_across(window: _Window, windows: Sequence[_Window], rng: random.Random) -> _Mixed | None:
    others = [other for other in windows if other.document != window.document]
    for other in rng.sample(others, min(len(others), 20)):
        if text := _merge(window.sentences[0], other.sentences):
            return text, other
    return None


def _merge(sentence: str, others: Sequence[str]) -> str | None:
    """Put another sentence's predicate to this one's subject: of the first with a named subject of the same number."""
    own = _NAMED_SUBJECT.match(sentence)
    if own is None:
        return None
    for other in others:
        match = _NAMED_SUBJECT.match(other)
        if match is None or (match[2] in _PLURAL) != (own[2] in _PLURAL):
            continue
        if not content_stems(own[1]) or content_stems(own[1]) & content_stems(other):
            continue
        return f"{own[1]}{match[2]} {match[3]}."
    return None


def _repeated(window: _Window, _windows: Sequence[_Window], _rng: random.Random) -> str | None:
    sentence = window.sentences[0][:-1]
    return f"{sentence} and {sentence[0].lower()}{sentence[1:]}." if len(sentence.split()) < 20 else None


def _swapped(window: _Window, _windows: Sequence[_Window], _rng: random.Random) -> str | None:
    """Exchange who does something and to whom, in the first sentence of the window that says it simply."""
    for sentence in window.sentences:
        match = _ROLES.match(sentence)
        if match is None or not sentence.endswith("."):
            continue
        if match["name"]:
            return f"{match['other']} {match['did']} {match['name']}{match['rest']}"
        if match["thing"]:
            return f"The {match['object']} {match['does']} the {match['thing']}{match['rest']}"
    return None


_False = Callable[[_Window, Sequence[_Window], random.Random], str | _Mixed | None]
_FALSE: dict[str, _False] = {
    "number changed": _number,
    "name swapped": _name,
    "from elsewhere": _foreign,
    "denied": _denied,
    "claim added": _added,
    "computed": _computed,
    "merged, one passage": _merged,
    "merged, two passages": _merged_across,
    "repeated": _repeated,
    "roles swapped": _swapped,
}


def _bound(make: _False, windows: Sequence[_Window], rng: random.Random) -> _Make:
    return lambda window: make(window, windows, rng)


def _replaced(text: str, match: re.Match[str], other: str) -> str:
    return text[: match.start()] + other + text[match.end() :]
