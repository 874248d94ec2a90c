"""Choose the blocks that answer: the best one whole, another only where it adds what was asked and is as sure.

Flow: `reader/reading.py` -> **here** -> `extractive.py` shows them. A block is the sentences of one paragraph that
answer, a list with the line that leads it in, all steps, a table row, a `key: value` line. Pure.
"""

import math
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from query_engine.reader.layout import BlockKind
from query_engine.reader.units import Reading, ReadLeaf, ReadUnit
from query_engine.text.asked_kind import AskedKind, asked_kind, asks_again, asks_for_much, holds_kind, points_back

# A sentence of the same block is quoted with the best one if the reader gives it such log-odds, or so little less than
# the best one's. Where one thing is asked for, an item or a row beside the best one is more often about something else.
JOINED_SCORE, JOINED_BELOW = -3.0, 2.5
JOINED_SCORE_ITEM, JOINED_BELOW_ITEM = -2.0, 2.0
# Where an amount or a point in time is asked for, and the best one holds it, little else is.
JOINED_BELOW_LITTLE = 2.0
# Another block must be worth so much, and so little less than the first. Of another paragraph, list or table the reader
# must be as sure: such log-odds, or those of the first if they are smaller.
FURTHER_WORTH, FURTHER_BELOW, FURTHER_SCORE = 4.0, 0.75, -1.0
MAX_BLOCKS = 3
# Of things that are compared, one unit that names all may be worth so much less than the best one, and one unit for
# each so much less.
COMPARES_BELOW, COMPARED_BELOW = 1.0, 2.0
# A sentence that begins so leaves open whom it is about; the one before it says it, if it is no longer than this.
_OPEN = re.compile(
    r"(?:(?:In|On|By|Since|After) [^,.]{1,20},? )?(?:he|she|it|they|his|her|its|their|this|these)\b", re.I
)
OPENING_WORDS = 20
# "Charge them in your flat.": a pronoun among the first words, for something said before.
_POINTS_BACK_EARLY = re.compile(
    r"(?:(?!(?:if|when|as|although|because|since|once|until|unless|while|before|after|though|how|what|where|why)\b)"
    r"[\w’']+ ){1,3}(?:it|them|they)\b",
    re.I,
)
# A capital, four words or more, and a full stop: understood without the line that leads it in, unless that limits it.
_SENTENCE = re.compile(r"[A-ZÀ-ÖØ-Þ]\S*(?:\s+\S+){3,}(?<=[.!?])")
_LIMITS = re.compile(r"\b(?:unless|only|if|when|nur|wenn|falls|seulement|si|quand|solo|cuando)\b", re.I)
_DENIES = re.compile(
    r"\b(?:not?|cannot|never|none|neither|without|avoid\w*|refrain\w*|except\w*|exclu\w+|false|wrong|myths?|forbidden"
    r"|prohibited|nicht|kein\w*|nie|niemals|ohne|außer|verboten\w*|ne|pas|jamais|aucune?|sans|sauf|interdite?s?"
    r"|nunca|ning[uú]n\w*|sin|salvo|prohibid[oa]s?)\b|n['’]t\b",
    re.I,
)
# A name within a sentence, not at its beginning.
_NAME_WITHIN = re.compile(r"(?<=[\w,;] )[A-ZÀ-ÖØ-Þ][\w’'-]+")
# A row or an item that holds more words of the question than the one beside it may have so much smaller log-odds; any,
# if that one holds none.
NAMED_MORE_BELOW = 3.0
# A list of which a part answers is quoted whole if it is no longer.
WHOLE_LIST_WORDS = 130
# A step left out spoils the others.
WHOLE_STEPS_WORDS = 200
# "The steps are:" says nothing by itself; the sentence before it says of what, if it is no longer than this.
BARE_LEAD_WORDS, BEFORE_LEAD_WORDS = 4, 40


@dataclass(frozen=True, slots=True)
class ChosenBlock:
    """Units of one block, to be quoted.

    Attributes:
        leaf: where they were read.
        places: in the leaf's layout, rising; those that follow each other make one quote.
        worth: of the best of them, see `ReadUnit.worth`.
    """

    leaf: ReadLeaf
    places: tuple[int, ...]
    worth: float

    @property
    def kind(self) -> BlockKind:
        """What kind of block it is."""
        return self.leaf.layout.block_of(self.places[-1]).kind

    @property
    def start(self) -> int:
        """Offset of the first unit in the document."""
        return self.leaf.layout.units[self.places[0]].start

    @property
    def titles(self) -> str:
        """The document's title and the headings above it."""
        return "\n".join((self.leaf.passage.title, *self.leaf.path_of(self.places[0])))

    def spans(self) -> Iterator[tuple[int, int]]:
        """Yield the spans to quote; units that follow each other make one."""
        units = self.leaf.layout.units
        first = self.places[0]
        for place, following in zip(self.places, [*self.places[1:], None], strict=True):
            if following != place + 1:
                yield units[first].start, units[place].end
                first = following or 0

    def header_text(self) -> str | None:
        """The header row of the table it stands in."""
        header = self.leaf.layout.block_of(self.places[-1]).header
        if header is None:
            return None
        return self.leaf.unit_text(header)

    @property
    def words(self) -> int:
        """Number of words."""
        return sum(len(self.leaf.unit_text(place).split()) for place in self.places)

    def text(self) -> str:
        """The quoted words on one line."""
        return " ".join(" ".join(self.leaf.unit_text(place).split()) for place in self.places)


def choose(reading: Reading, max_words: int) -> list[ChosenBlock]:
    """Return the blocks to quote, best first; nothing if nothing was read.

    Args:
        reading: of the question's passages.
        max_words: of all blocks together; the first may be longer.
    """
    asked = _Asked.of(reading)
    chosen: list[ChosenBlock] = []
    quoted: set[tuple[str, int]] = set()  # document and offset of each unit
    room = max_words
    compared = _comparing(reading)
    for number, one in enumerate((*compared, *reading.units)):
        wanted = not chosen or number < len(compared) or _adds(one, chosen, asked)
        if not wanted or _key(one.leaf, one.place) in quoted:
            continue
        block = _grown(_named_more(one, asked), asked, max_words, quoted)
        if not block.places or (chosen and block.words > room):
            continue
        opened = _opened(block, asked, quoted)
        chosen.append(opened)
        quoted.update(_key(opened.leaf, place) for place in opened.places)
        room -= block.words
        if len(chosen) == MAX_BLOCKS:
            break
    return chosen


def _comparing(reading: Reading) -> list[ReadUnit]:
    """Return the unit that names all things compared, or else the best one for each; `[]` where there are none."""
    if not reading.compared or not reading.units:
        return []
    best = reading.units[0].worth
    for one in reading.units:
        if one.worth >= best - COMPARES_BELOW and all(_names(one, thing) for thing in reading.compared):
            return [one]
    each = [next((one for one in reading.units if _names(one, thing)), None) for thing in reading.compared]
    return [one for one in each if one and one.worth >= best - COMPARED_BELOW]


def _names(one: ReadUnit, thing: frozenset[str]) -> bool:
    """Whether a unit, its headings or what it goes on from hold half of a name: the rest may be put otherwise."""
    return 2 * len(thing & one.known) >= len(thing)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the choice depends on beside the unit itself.

    Attributes:
        much: one sentence rarely answers the question.
        several: it asks more than one thing.
        kind: what it asks for.
        units: all that were read, by document and offset.
    """

    much: bool
    several: bool
    kind: AskedKind | None
    units: Mapping[tuple[str, int], ReadUnit]

    @classmethod
    def of(cls, reading: Reading) -> "_Asked":
        units = {_key(one.leaf, one.place): one for one in reading.units}
        several = asks_again(reading.question)
        return cls(asks_for_much(reading.question), several, asked_kind(reading.question), units)

    @property
    def little(self) -> bool:
        return not self.much and not self.several and self.kind in {AskedKind.AMOUNT, AskedKind.MONEY, AskedKind.TIME}


def _key(leaf: ReadLeaf, place: int) -> tuple[str, int]:
    return leaf.passage.doc_id, leaf.layout.units[place].start


def _adds(one: ReadUnit, chosen: Sequence[ChosenBlock], asked: _Asked) -> bool:
    least = max(FURTHER_WORTH, chosen[0].worth - FURTHER_BELOW)
    if asked.little and any(not first.penalty and one.held <= first.known for first in _units(chosen, asked)):
        return False
    if not asked.several and not one.headed and any(first.headed for first in _units(chosen, asked)):
        return False
    return (
        one.worth >= least
        and _is_as_sure(one, chosen, asked)
        and not any(_says_same(one.text, block.text()) or _is_row_beside(one, block, asked) for block in chosen)
    )


def _is_as_sure(one: ReadUnit, chosen: Sequence[ChosenBlock], asked: _Asked) -> bool:
    """Whether the reader is as sure of a unit as of the first block, or it stands in a block that is quoted in part."""
    first = max((unit.score for unit in _units(chosen[:1], asked)), default=FURTHER_SCORE)
    return one.score >= min(FURTHER_SCORE, first) or any(_is_part(block, one) for block in chosen)


def _is_part(block: ChosenBlock, one: ReadUnit) -> bool:
    """Whether what is quoted begins in the paragraph, list or table of a unit."""
    units = one.leaf.layout.units
    first, last = units[one.block.units.start].start, units[one.block.units.stop - 1].end
    return one.leaf.passage.doc_id == block.leaf.passage.doc_id and first <= block.start < last


def _is_row_beside(one: ReadUnit, block: ChosenBlock, asked: _Asked) -> bool:
    """Whether a unit is a row or an item beside those of a block, and holds no word of the question beyond theirs."""
    if asked.much or not _parts_differ(one, asked) or not _is_part(block, one):
        return False
    return one.held <= frozenset().union(*(other.held for other in _units([block], asked)))


def _units(chosen: Sequence[ChosenBlock], asked: _Asked) -> Iterator[ReadUnit]:
    for block in chosen:
        for place in block.places:
            if unit := asked.units.get(_key(block.leaf, place)):
                yield unit


def _named_more(one: ReadUnit, asked: _Asked) -> ReadUnit:
    """Return the row or item beside a unit that holds the same words of the question and more, else the unit."""
    if not _parts_differ(one, asked):
        return one
    below = NAMED_MORE_BELOW if one.held else math.inf
    beside = (asked.units.get(_key(one.leaf, place)) for place in one.block.units)
    better = [other for other in beside if other and other.held > one.held]
    better = [other for other in better if other.score > one.score - below and not other.penalty]
    return max(better, key=lambda other: (len(other.held), other.worth), default=one)


def _parts_differ(one: ReadUnit, asked: _Asked) -> bool:
    """Whether the units of a block are about different things: rows always, items where one thing is asked for."""
    return one.block.kind == "table" or (asked.little and one.block.kind in {"list", "steps", "record"})


def denies(text: str) -> bool:
    """Whether a text says no, so that what follows from it means the opposite without it."""
    return _DENIES.search(text) is not None


def names_another(text: str, title: str) -> bool:
    """Whether a sentence names somebody or something that is not in a title; a pronoun after it may mean that."""
    known = set(re.findall(r"\w+", title.casefold()))
    return any(known.isdisjoint(re.findall(r"\w+", name.casefold())) for name in _NAME_WITHIN.findall(text))


def leaves_open(text: str) -> bool:
    """Whether a text begins with a word that stands for something said before."""
    return _OPEN.match(text) is not None


def _grown(one: ReadUnit, asked: _Asked, max_words: int, quoted: Container[tuple[str, int]]) -> ChosenBlock:
    """Return the units of a unit's block that answer with it; of what a line leads in, all that it leads in."""
    leaf, block = one.leaf, one.block
    if led := _led_in(one):
        places = {one.place, *led}
    elif block.kind in {"list", "steps"}:
        places = _items(one, asked)
    else:
        places = _shortened(one, _without_leads(one, set(_answering(one, asked))), max_words)
        if asked.kind is AskedKind.REASON and block.kind == "paragraph":
            places |= _reason_beside(one, places)
    return ChosenBlock(leaf, tuple(sorted(place for place in places if _key(leaf, place) not in quoted)), one.worth)


def _led_in(one: ReadUnit) -> set[int]:
    """Return the units of the list, table or record that a line with a colon leads in: the first ones that fit.

    Of a table without its header, which is shown with each row.
    """
    blocks, units = one.leaf.layout.blocks, one.leaf.layout.units
    following = blocks[one.unit.block + 1] if one.unit.block + 1 < len(blocks) else None
    if not one.text.endswith(":") or following is None or following.units.start != one.place + 1:
        return set()
    if following.kind in {"paragraph", "heading"}:
        return set()
    room = WHOLE_STEPS_WORDS if following.kind == "steps" else WHOLE_LIST_WORDS
    led = set[int]()
    for _, item in groupby(following.units, lambda place: units[place].item):
        places = list(item)
        room -= _words(one.leaf, range(places[0], places[-1] + 1))
        if room < 0:
            break
        led |= {place for place in places if following.kind != "table" or not units[place].label}
    return led


def _answering(one: ReadUnit, asked: _Asked) -> Iterator[int]:
    """Yield the places of the units of a unit's block that answer about as likely as it does."""
    leaf = one.leaf
    many = asked.much or one.block.kind == "paragraph"
    score, below = (JOINED_SCORE, JOINED_BELOW) if many else (JOINED_SCORE_ITEM, JOINED_BELOW_ITEM)
    if asked.little and not one.penalty:
        below = JOINED_BELOW_LITTLE
    least = min(one.score, max(score, one.score - below))
    scores = dict(zip(leaf.read, leaf.scores.units, strict=True))
    for place in one.block.units:
        if place == one.place or (
            scores.get(place, -math.inf) >= least and not leaf.layout.units[place].label and _beside(one, place, asked)
        ):
            yield place


def _beside(one: ReadUnit, place: int, asked: _Asked) -> bool:
    """Whether a unit can answer together with the best one of its block.

    A row, an item or a line of a record is about something else if it lacks words of the question that the best one
    holds, or is worth less for another reason; a sentence, if it lacks the kind of thing that is asked for.
    """
    other = asked.units.get(_key(one.leaf, place))
    if asked.much or other is None:
        return True
    if _parts_differ(one, asked):
        return one.held <= other.held and other.penalty <= one.penalty
    if asked.kind is AskedKind.REASON:  # that gives a reason, but of something else
        return bool(other.held) or abs(place - one.place) == 1 or not holds_kind(AskedKind.REASON, other.text)
    return not asked.little or bool(one.penalty) or not other.penalty


def _opened(block: ChosenBlock, asked: _Asked, quoted: Container[tuple[str, int]]) -> ChosenBlock:
    """Return the block with the sentence before it, if its own first one leaves open what that one says."""
    leaf, first = block.leaf, block.places[0]
    if block.kind != "paragraph" or first == leaf.layout.block_of(first).units.start:
        return block
    if _key(leaf, first - 1) in quoted:
        return block
    before, after = (asked.units.get(_key(leaf, place)) for place in (first - 1, first))
    if before is None or after is None or (before.held <= after.held and not names_another(before.text, block.titles)):
        return block
    if not leaves_open(after.text) and not _POINTS_BACK_EARLY.match(after.text):
        return block
    if _words(leaf, range(first - 1, first)) > OPENING_WORDS:
        return block
    return replace(block, places=(first - 1, *block.places))


def _reason_beside(one: ReadUnit, places: set[int]) -> set[int]:
    """Return the neighbour that gives the reason, where a paragraph's quoted sentences do not give it by themselves."""
    leaf, units = one.leaf, one.leaf.layout.units
    texts = {place: leaf.unit_text(place) for place in one.block.units}
    gives = {place for place, text in texts.items() if holds_kind(AskedKind.REASON, text) and not units[place].label}
    said = {place for place in places & gives if not points_back(texts[place])}
    if said:
        return set()
    before = {place - 1 for place in places & gives if points_back(texts[place])} & texts.keys()
    if places & gives:
        return before
    beside = [place for place in (max(places) + 1, min(places) - 1) if place in gives]
    return set(beside[:1])


def _shortened(one: ReadUnit, places: set[int], max_words: int) -> set[int]:
    """Return as many of these units as fit, the likeliest ones, and always the unit itself."""
    scores = dict(zip(one.leaf.read, one.leaf.scores.units, strict=True))
    kept, room = {one.place}, max_words - len(one.text.split())
    for place in sorted(places - kept, key=lambda place: -scores[place]):
        words = _words(one.leaf, range(place, place + 1))
        if words <= room:
            kept.add(place)
            room -= words
    return kept


def _items(one: ReadUnit, asked: _Asked) -> set[int]:
    """Return the items of a list that answer with the line that leads it in; steps, and most of a list, whole."""
    leaf, block, units = one.leaf, one.block, one.leaf.layout.units
    items = {units[place].item for place in _answering(one, asked)}
    every = {units[place].item for place in block.units}
    whole = not asked.little and len(items) >= max(2, len(every) / 2)
    whole |= asked.much and (block.kind == "steps" or len(items) > 1)
    whole |= one.headed and not asked.little  # the question asks for what the heading names
    fits = _words(leaf, block.units) <= (WHOLE_STEPS_WORDS if block.kind == "steps" else WHOLE_LIST_WORDS)
    places = {place for place in block.units if (whole and fits) or units[place].item in items}
    lead = _lead(leaf, block.lead) if block.lead is not None else set[int]()
    return places if len(items) == 1 and not (whole and fits) and _stands_alone(one, lead, asked) else lead | places


def _stands_alone(one: ReadUnit, lead: set[int], asked: _Asked) -> bool:
    """Whether an item is a sentence, and the lines before it add no word of the question to it, and no limit."""
    led = [asked.units.get(_key(one.leaf, place)) for place in sorted(lead)]
    told = all(unit and unit.held <= one.held for unit in led)
    limits = bool(led) and led[-1] is not None and (_LIMITS.search(led[-1].text) is not None or denies(led[-1].text))
    return told and not limits and _SENTENCE.fullmatch(one.text) is not None


def _lead(leaf: ReadLeaf, lead: int) -> set[int]:
    """Return the line that leads in a list, with the sentence before it where the line says nothing by itself."""
    before = range(lead - 1, lead)
    if lead == leaf.layout.block_of(lead).units.start or _words(leaf, range(lead, lead + 1)) > BARE_LEAD_WORDS:
        return {lead}
    return {lead, *before} if _words(leaf, before) <= BEFORE_LEAD_WORDS else {lead}


def _without_leads(one: ReadUnit, places: set[int]) -> set[int]:
    """Return the places without lines that lead in what is not quoted with them."""
    text, units = one.leaf.text, one.leaf.layout.units
    leads = {place for place in places - {one.place} if text[units[place].end - 1] == ":"}
    return places - leads


def _words(leaf: ReadLeaf, places: range) -> int:
    units = leaf.layout.units
    return len(leaf.text[units[places.start].start : units[places.stop - 1].end].split())


def _says_same(one: str, other: str) -> bool:
    """Whether another text holds nearly all words of one, all its figures, and denies as it does."""
    words, others = set(re.findall(r"\w+", one.lower())), set(re.findall(r"\w+", other.lower()))
    figures = {word for word in words if any(map(str.isdigit, word))}
    return len(words & others) > 0.8 * len(words) and figures <= others and denies(one) == denies(other)
