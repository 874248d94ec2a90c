"""Choose the blocks that answer: the best one, another only where it adds what was asked and is as sure.

Flow: `reader/reading.py` -> **here**, with `block_growth.py` for how much of each -> `extractive.py` shows them. A
block is the sentences of one paragraph that answer, a list with the line that leads it in, all steps, a table row, a
`key: value` line. Pure.
"""

import math
import re
from collections.abc import Iterator, Sequence

from query_engine.reader.units import Reading, ReadUnit
from query_engine.synthesis.block_growth import grown, with_opening
from query_engine.synthesis.blocks import Asked, ChosenBlock, parts_differ
from query_engine.text.standalone import denies

# A further block needs a worth of FURTHER_WORTH, at most FURTHER_BELOW less than the first one's, and, from another
# paragraph, list or table, a reader's score of FURTHER_SCORE (or the first block's, if that is lower).
FURTHER_WORTH, FURTHER_BELOW, FURTHER_SCORE = 4.0, 0.75, -1.0
MAX_BLOCKS = 3
# How much less than the best unit one may be worth that names all things compared, and those that name one each, or
# stand in a table with a column for each.
COMPARES_BELOW, COMPARED_BELOW = 1.0, 2.0
# A row or an item that holds more words of the question replaces the one beside it if its log-odds are at most this
# much lower; always, if that one holds none.
NAMED_MORE_BELOW = 3.0


def choose(reading: Reading, max_words: int) -> list[ChosenBlock]:
    """Return the blocks to quote, best first; nothing if nothing was read.

    Args:
        reading: of the question's passages.
        max_words: of all blocks together; the first, and those that are compared, may be longer.
    """
    asked = Asked.of(reading)
    chosen: list[ChosenBlock] = []
    quoted: set[tuple[str, int]] = set()  # document and offset of each unit
    room = max_words
    compared = _comparing(reading)
    for number, one in enumerate((*compared, *reading.units)):
        needed = not chosen or number < len(compared)
        if one.key in quoted or not (needed or _adds(one, chosen, asked)):
            continue
        block = grown(_named_more(one, asked), asked, max_words, quoted)
        if not block.places or (not needed and block.words > room):
            continue
        opened = with_opening(block, asked, quoted)
        chosen.append(opened)
        quoted.update(opened.leaf.key_of(place) for place in opened.places)
        room -= block.words
        if len(chosen) == MAX_BLOCKS:
            break
    return chosen


def _comparing(reading: Reading) -> list[ReadUnit]:
    """Return the unit that names all things compared, or else the best one for each; `[]` where there are none."""
    if not reading.compared or not reading.units:
        return []
    best = reading.units[0].worth
    if row := next((one for one in reading.units if one.compares and one.worth >= best - COMPARED_BELOW), None):
        return [row]
    for one in reading.units:
        if one.worth >= best - COMPARES_BELOW and all(thing <= one.known for thing in reading.compared):
            return [one]
    near = [one for one in reading.units if one.worth >= best - COMPARED_BELOW]
    each = [max(near, key=lambda one: (len(thing & one.known), one.worth)) for thing in reading.compared]
    return [one for one, thing in zip(each, reading.compared, strict=True) if 2 * len(thing & one.known) >= len(thing)]


def _adds(one: ReadUnit, chosen: Sequence[ChosenBlock], asked: Asked) -> bool:
    least = max(FURTHER_WORTH, chosen[0].worth - FURTHER_BELOW)
    if asked.little and any(not first.penalty and one.held <= first.known for first in _units(chosen, asked)):
        return False
    if not asked.several and not one.headed and any(first.headed for first in _units(chosen, asked)):
        return False
    if one.block.kind == "table" and not asked.much and _holds_fewer_words(one, chosen, asked):
        return False
    return (
        one.worth >= least
        and _is_as_sure(one, chosen, asked)
        and not any(_says_same(one.text, block.text()) or _is_row_beside(one, block, asked) for block in chosen)
    )


def _is_as_sure(one: ReadUnit, chosen: Sequence[ChosenBlock], asked: Asked) -> bool:
    """Whether the reader is as sure of a unit as of the first block, or it stands in a block that is quoted in part."""
    first = max((unit.score for unit in _units(chosen[:1], asked)), default=FURTHER_SCORE)
    return one.score >= min(FURTHER_SCORE, first) or any(_is_part(block, one) for block in chosen)


def _is_part(block: ChosenBlock, one: ReadUnit) -> bool:
    """Whether what is quoted begins in the paragraph, list or table of a unit."""
    units = one.leaf.layout.units
    first, last = units[one.block.units.start].start, units[one.block.units.stop - 1].end
    return one.leaf.passage.doc_id == block.leaf.passage.doc_id and first <= block.start < last


def _is_row_beside(one: ReadUnit, block: ChosenBlock, asked: Asked) -> bool:
    """Whether a unit is a row or an item beside those of a block, and holds no word of the question beyond theirs."""
    if asked.much or not parts_differ(one, asked) or not _is_part(block, one):
        return False
    return one.held <= frozenset().union(*(other.held for other in _units([block], asked)))


def _holds_fewer_words(one: ReadUnit, chosen: Sequence[ChosenBlock], asked: Asked) -> bool:
    """Whether a row holds fewer words of the question than one of another table that is quoted."""
    rows = (first for first in _units(chosen, asked) if first.block.kind == "table")
    return not asked.several and any(len(one.held) < len(row.held) for row in rows)


def _units(chosen: Sequence[ChosenBlock], asked: Asked) -> Iterator[ReadUnit]:
    for block in chosen:
        for place in block.places:
            if unit := asked.units.get(block.leaf.key_of(place)):
                yield unit


def _named_more(one: ReadUnit, asked: Asked) -> ReadUnit:
    """Return the row or item beside a unit that holds the same words of the question and more, else the unit."""
    if not parts_differ(one, asked):
        return one
    below = NAMED_MORE_BELOW if one.held else math.inf
    beside = (asked.units.get(one.leaf.key_of(place)) for place in one.block.units)
    better = [other for other in beside if other and other.held > one.held and other.named >= one.named]
    better = [other for other in better if other.score > one.score - below and not other.penalty]
    return max(better, key=lambda other: (len(other.held), other.worth), default=one)


def _says_same(one: str, other: str) -> bool:
    """Whether another text holds nearly all words of one, all its figures, and denies as it does."""
    words, others = set(re.findall(r"\w+", one.lower())), set(re.findall(r"\w+", other.lower()))
    figures = {word for word in words if any(map(str.isdigit, word))}
    return len(words & others) > 0.8 * len(words) and figures <= others and denies(one) == denies(other)
