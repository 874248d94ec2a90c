"""What a text claims, as far as words tell: content words, numbers, names, and what it denies.

Flow: generated sentences and the passages they cite -> **here** -> `grounding.py` compares the two. Pure; it reads
English best, and knows nothing of what the words mean.
"""

import re
from dataclasses import dataclass

from index.lexical.tantivy_index import STOP_WORDS
from query_engine.text.spelt_numbers import SPELT_NUMBERS

# Words that say nothing about what a sentence is about: those that a search leaves out, and more. A search keeps these,
# because a question may turn on "before" or "most"; a claim's denials and opposites are read apart from its words.
_STOP_WORDS = STOP_WORDS | frozenset(
    "according after all also although because before being between both cannot during each hardly he her him his "
    "however itself just let may might more most much never nobody none nor nothing only other out over own per rarely "
    "same she some through too unable under up us used using very whether while without yes".split()
)
# What models put around a claim without claiming it.
_FRAME_WORDS = frozenset(
    "document documents passage passages text source sources provided given mention mentions mentioned state states "
    "stated describe describes described explain explains example called known namely thus therefore".split()
)
_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)?")
# "No, it is" denies nothing of what follows.
_REPLY = re.compile(r"^\s*(?:yes|no)\s*[,.:;–—]\s*", re.IGNORECASE)
_ADDRESS = re.compile(r"\b(?:https?://|www\.)\S+", re.IGNORECASE)
# Words are compared by their beginnings, so that "captured" supports "capture".
_STEM_CHARS = 6
_SCALES = frozenset(
    "hundred hundreds thousand thousands million millions billion billions trillion trillions half third quarter "
    "twice double triple".split()
)
_DENIALS = frozenset("not no never none neither nor cannot without nobody nothing hardly rarely unable".split())
_OPPOSITES = tuple(
    (frozenset(left.split()), frozenset(right.split()))
    for left, right in (
        ("more higher greater larger rise rises rose increase increases increased grow grows grew",
         "less fewer lower smaller fall falls fell decrease decreases decreased reduce reduces reduced shrink shrinks"),
        ("before earlier", "after later"),
        ("always all every", "never none rarely"),
        ("first", "last"),
        ("best largest highest most", "worst smallest lowest least"),
        ("cheap cheaper", "expensive costly"),
        ("north northern", "south southern"),
        ("east eastern", "west western"),
        ("allow allows allowed", "forbid forbids forbade prevent prevents prevented"),
        ("won win", "lost lose"),
    )
)  # fmt: skip
_CLAUSE = re.compile(
    r"(?:(?<!\s)\s*+(?:;|—|–(?=\s)|,\s++(?:and|but|or|while|whereas|which|who|because|so|although|with|where|making|including|"
    r"thereby|leading|resulting)\b|\b(?:because|whereas|although)\b)|(?<=\w)\s++and\s++(?=(?:it|they|he|she|is|are|was|"
    r"were|has|have|had|can|will)\b))\s*+",
    re.IGNORECASE,
)
# A sentence with this beginning is about something named before it.
_REFERS_BACK = re.compile(
    r"^\W*(?:(?:in|on|by|since|after|for|with|from|to|at|of|but|and|then|also|however|here)\b[^,.]{0,30}?,?\s+)?"
    r"(?:he|she|it|they|his|her|its|their|this|these|that|those|such|both|one|some|another|others?)\b",
    re.IGNORECASE,
)
# Names rarely have more words.
_ROLE_WORDS = 2
_JOINING = frozenset({"and", "or", "but"})
_LEAST_REPEATED_WORDS = 3
_LEAST_CLAUSE_WORDS = 2
_DENIED_WORDS = 2


@dataclass(frozen=True, slots=True)
class Claim:
    """What one piece of text says.

    Attributes:
        words: stems of its content words.
        numbers: as figures, however they were spelt; words of scale too.
        names: stems of words with a capital inside a sentence.
        opening: stem of the first content word where that begins the text with a capital: perhaps a name.
        denied: stems of the content words that follow a denial.
        affirmed: stems of the content words that follow none; a word may stand in both.
        sides: for each pair of opposites that one side of occurs in it, (pair, side).
        addresses: of the web.
        order: the words as they come, each at its first place.
        once: those that come only once.
        agent: it says "by", as the passive does of who acts.
    """

    words: frozenset[str]
    numbers: frozenset[str]
    names: frozenset[str]
    opening: str | None
    denied: frozenset[str]
    affirmed: frozenset[str]
    sides: frozenset[tuple[int, int]]
    addresses: frozenset[str]
    order: tuple[str, ...]
    once: frozenset[str]
    agent: bool


def read_claim(text: str) -> Claim:
    """Read a sentence or a part of one."""
    text = _REPLY.sub("", text)
    addresses = frozenset(_ADDRESS.findall(text))
    spelt = list(_WORD.finditer(text))
    plain = [match[0].replace("’", "'") for match in spelt]
    lower = [word.lower() for word in plain]
    affirmed: set[str] = set()
    names: set[str] = set()
    denied: set[str] = set()
    order: dict[str, int] = {}
    open_denials = 0
    opening = None
    for position, (word, low) in enumerate(zip(plain, lower, strict=True)):
        if low in _DENIALS or low.endswith("n't"):
            open_denials = _DENIED_WORDS
        if word[0].isdigit() or low in _STOP_WORDS or low in _FRAME_WORDS or low in SPELT_NUMBERS or low in _SCALES:
            continue
        stem = stem_of(low)
        (denied if open_denials else affirmed).add(stem)
        order[stem] = order.get(stem, 0) + 1
        open_denials = max(0, open_denials - 1)
        if word[0].isupper():
            if position and _inside(text, spelt[position].start()):
                names.add(stem)
            elif not position:
                opening = stem
    sides = {(pair, side) for pair, both in enumerate(_OPPOSITES) for side in (0, 1) if both[side] & set(lower)}
    return Claim(
        frozenset(affirmed | denied),
        _numbers(lower),
        frozenset(names),
        opening,
        frozenset(denied),
        frozenset(affirmed),
        frozenset(sides),
        addresses,
        tuple(order),
        frozenset(word for word, times in order.items() if times == 1),
        "by" in lower,
    )


def exchanges_roles(claim: Claim, held: Claim) -> bool:
    """Whether two words change places around a third: "A hit B" and "B hit A", but not "in 1919 A hit B"."""
    if claim.agent != held.agent:
        return False  # one of the two is passive: places change and roles do not
    there = {word: at for at, word in enumerate(held.order) if word in claim.once & held.once}
    common = [there[word] for word in claim.order if word in there]
    for at, pivot in enumerate(common):
        left, right = common[max(0, at - _ROLE_WORDS) : at], common[at + 1 : at + 1 + _ROLE_WORDS]
        # Around the pivot, one word that stands behind it there comes before it here, and the other way round.
        if any(place > pivot for place in left) and any(place < pivot for place in right):
            near = [*left, pivot, *right]
            if max(near) - min(near) <= 2 * _ROLE_WORDS:
                return True
    return False


def repeats_itself(text: str) -> bool:
    """Whether the same three or more words come twice in a row, joined or not."""
    words = [match[0].lower() for match in _WORD.finditer(text)]
    last: dict[tuple[str, ...], int] = {}
    for at in range(len(words) - _LEAST_REPEATED_WORDS + 1):
        beginning = tuple(words[at : at + _LEAST_REPEATED_WORDS])
        first = last.get(beginning)
        last[beginning] = at
        if first is not None:
            end = at - 1 if words[at - 1] in _JOINING else at
            if end - first >= _LEAST_REPEATED_WORDS and words[first:end] == words[at : at + end - first]:
                return True
    return False


def refers_back(text: str) -> bool:
    """Whether a sentence begins with a word for what was named before it."""
    return _REFERS_BACK.match(text) is not None


def content_stems(text: str) -> frozenset[str]:
    """Return stems of a text's content words, and its numbers."""
    claim = read_claim(text)
    return claim.words | claim.numbers


def split_clauses(text: str) -> list[str]:
    """Cut a sentence where a further claim may begin; one of less than two content words stays with its neighbour."""
    clauses: list[str] = []
    position = 0
    for match in [*_CLAUSE.finditer(text), None]:
        part = text[position : match.start() if match else len(text)]
        position = match.end() if match else position
        if clauses and (len(content_stems(part)) < _LEAST_CLAUSE_WORDS or _too_short(clauses[-1])):
            clauses[-1] += f" {part}"
        elif part.strip():
            clauses.append(part)
    return clauses


def _too_short(clause: str) -> bool:
    return len(content_stems(clause)) < _LEAST_CLAUSE_WORDS


def stem_of(word: str) -> str:
    """Return what two forms of a word usually share.

    Coarser than the stemmers of the word index (Snowball's) and of ROUGE (Porter's), because a paraphrase may turn
    "production" into "produce", which both of them tell apart.
    """
    word = word.removesuffix("'s")
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    return word[:_STEM_CHARS]


def _inside(text: str, start: int) -> bool:
    """Whether a word stands within a sentence, not at its beginning."""
    before = text[:start].rstrip(" \t\n\"'“‘(*_")
    return bool(before) and before[-1] not in ".!?:•|"


def _numbers(lower: list[str]) -> frozenset[str]:
    found = set()
    for word in lower:
        if word[0].isdigit():
            figure = re.sub(r",(?=\d{3}(?!\d))", "", word).replace(",", ".")
            found.add(figure.rstrip("0").rstrip(".") if "." in figure else figure)
        elif word in SPELT_NUMBERS:
            found.add(str(SPELT_NUMBERS[word]))
        elif word in _SCALES:
            found.add(stem_of(word))
    return frozenset(found)
