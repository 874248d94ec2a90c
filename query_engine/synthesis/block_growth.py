"""How much of a block is quoted: the units that answer with its best one, and what they cannot do without.

Flow: `block_selection.py` chooses a unit -> **here** -> the sentences of its paragraph that answer too, its list with
the line that leads it in, all steps, the reason beside it. Pure.
"""

import math
from collections.abc import Container, Iterator
from dataclasses import replace
from itertools import groupby

from query_engine.reader.units import ReadLeaf, ReadUnit
from query_engine.synthesis.blocks import Asked, ChosenBlock, parts_differ
from query_engine.text.asked_kind import AskedKind, holds_kind, points_back
from query_engine.text.standalone import (
    denies,
    goes_on,
    is_sentence,
    leaves_open,
    limits,
    names_another,
    names_what_was_said,
    only_replies,
    points_back_early,
)

# A sentence of the same block is quoted with the best one if the reader gives it such log-odds, or so little less than
# the best one's. Where one thing is asked for, an item or a row beside the best one is more often about something else.
JOINED_SCORE, JOINED_BELOW = -3.0, 2.5
JOINED_SCORE_ITEM, JOINED_BELOW_ITEM = -2.0, 2.0
# Where an amount or a point in time is asked for, and the best one holds it, little else is.
JOINED_BELOW_LITTLE = 2.0
# A sentence that leaves open whom it is about needs the one before it, if that one has at most so many words.
OPENING_WORDS = 20
# That one may need another, up to so many sentences in all.
OPENED_SENTENCES = 3
# Quote a reason that stands at most this many sentences before or after what it explains.
REASON_REACH = 2
# "This is called mulching." names what so many sentences before it say, at most.
NAMED_SENTENCES = 3
# A list of which a part answers is quoted whole up to this length.
WHOLE_LIST_WORDS = 130
# A step left out spoils the others.
WHOLE_STEPS_WORDS = 200
# A question with so many words of one item asks for that item: "If a radiator stays cold" is the last of five steps.
# Where the question is how to do something, one step is enough only if it shares more.
SINGLE_ITEM_WORDS, SINGLE_STEP_WORDS = 2, 3
# "The steps are:" says nothing by itself; the sentence before it says of what, if it is no longer than this.
BARE_LEAD_WORDS, BEFORE_LEAD_WORDS = 4, 40


def grown(one: ReadUnit, asked: Asked, max_words: int, quoted: Container[tuple[str, int]]) -> ChosenBlock:
    """Return the units of a unit's block that answer with it; of what a line leads in, all that it leads in.

    Of a table or list that compares what the question does, all.
    """
    leaf, block = one.leaf, one.block
    if led := _led_in(one):
        places = {one.place, *led}
    elif one.compares and leaf.word_count(block.units) <= WHOLE_LIST_WORDS:
        places = {place for place in block.units if not leaf.layout.units[place].label}
    elif block.kind in {"list", "steps"}:
        places = _items(one, asked)
    else:
        places = _shortened(one, _without_leads(one, set(_answering(one, asked))), max_words)
        places |= _rows_that_go_on(one)
        places |= {place + 1 for place in places if only_replies(leaf.unit_text(place))} & {*block.units}
        if asked.kind is AskedKind.REASON and block.kind == "paragraph":
            places |= _reason_beside(one, places)
    return ChosenBlock(leaf, tuple(sorted(place for place in places if leaf.key_of(place) not in quoted)), one.worth)


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
        room -= one.leaf.word_count(range(places[0], places[-1] + 1))
        if room < 0:
            break
        led |= {place for place in places if following.kind != "table" or not units[place].label}
    return led


def _answering(one: ReadUnit, asked: Asked) -> Iterator[int]:
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


def _beside(one: ReadUnit, place: int, asked: Asked) -> bool:
    """Whether a unit can answer together with the best one of its block.

    A row, an item or a line of a record is about something else if it lacks words of the question that the best one
    holds, or is worth less for another reason; a sentence, if it lacks the kind of thing that is asked for.
    """
    other = asked.units.get(one.leaf.key_of(place))
    if asked.much or other is None:
        return True
    if parts_differ(one, asked):
        return one.held <= other.held and other.penalty <= one.penalty
    if asked.kind is AskedKind.REASON:  # that gives a reason, but of something else
        return bool(other.held) or abs(place - one.place) == 1 or not holds_kind(AskedKind.REASON, other.text)
    return not asked.little or bool(one.penalty) or not other.penalty


def _rows_that_go_on(one: ReadUnit) -> set[int]:
    """Return the row below a row if it goes on from it: "Each mile after that | 25p"."""
    below = one.place + 1
    if one.block.kind != "table" or below not in one.block.units:
        return set()
    return {below} if goes_on(one.leaf.unit_text(below)) else set()


def _reason_beside(one: ReadUnit, places: set[int]) -> set[int]:
    """Return the neighbour that gives the reason, where a paragraph's quoted sentences do not give it by themselves.

    Where none says that it does, it is the next one if that goes on about the same: "These are the weeks in which ...".
    """
    leaf, units = one.leaf, one.leaf.layout.units
    texts = {place: leaf.unit_text(place) for place in one.block.units}
    gives = {place for place, text in texts.items() if holds_kind(AskedKind.REASON, text) and not units[place].label}
    said = {place for place in places & gives if not points_back(texts[place])}
    if said:
        return set()
    before = {place - 1 for place in places & gives if points_back(texts[place])} & texts.keys()
    if places & gives:
        return before
    first, last = min(places), max(places)
    for reach in range(1, REASON_REACH + 1):
        if last + reach in gives:
            return set(range(last + 1, last + reach + 1))
        if first - reach in gives:
            return set(range(first - reach, first))
    return {last + 1} if leaves_open(texts.get(last + 1, "")) else set()


def _shortened(one: ReadUnit, places: set[int], max_words: int) -> set[int]:
    """Return as many of these units as fit, the likeliest ones, and always the unit itself."""
    scores = dict(zip(one.leaf.read, one.leaf.scores.units, strict=True))
    kept, room = {one.place}, max_words - len(one.text.split())
    for place in sorted(places - kept, key=lambda place: -scores[place]):
        words = one.leaf.word_count(range(place, place + 1))
        if words <= room:
            kept.add(place)
            room -= words
    return kept


def _items(one: ReadUnit, asked: Asked) -> set[int]:
    """Return the items of a list that answer with the line that leads it in; steps, and most of a list, whole."""
    leaf, block, units = one.leaf, one.block, one.leaf.layout.units
    singly = _is_asked_singly(one, asked)
    items = {one.unit.item} if singly else {units[place].item for place in _answering(one, asked)}
    every = {units[place].item for place in block.units}
    whole = not asked.little and len(items) >= max(2, len(every) / 2)
    whole |= asked.much and (block.kind == "steps" or len(items) > 1)
    whole |= one.headed and not asked.little  # the question asks for what the heading names
    whole &= asked.kind is not AskedKind.REASON and not singly  # a step gives its own reason
    fits = leaf.word_count(block.units) <= (WHOLE_STEPS_WORDS if block.kind == "steps" else WHOLE_LIST_WORDS)
    places = {place for place in block.units if (whole and fits) or units[place].item in items}
    lead = _lead(leaf, block.lead) if block.lead is not None else set[int]()
    return places if len(items) == 1 and not (whole and fits) and _stands_alone(one, lead, asked) else lead | places


def _is_asked_singly(one: ReadUnit, asked: Asked) -> bool:
    """Whether the question has several words that only this item holds, and few of other items or of all.

    The last step often says what all steps are for: only one under a condition is asked for by itself.
    """
    units, conditional = one.leaf.layout.units, limits(one.text)
    if one.block.kind == "steps" and one.unit.item == units[one.block.units[-1]].item and not conditional:
        return False
    known, own, others = list[frozenset[str]](), set[str](), set[str]()
    for place in one.block.units:
        if item := asked.units.get(one.leaf.key_of(place)):
            known.append(item.known)
            (own if units[place].item == one.unit.item else others).update(item.held)
    common = frozenset.intersection(*known) if known else frozenset[str]()
    least = SINGLE_STEP_WORDS if asked.much and not conditional else SINGLE_ITEM_WORDS
    return len(own - others - common) >= max(least, len(common) + 1, 2 * len(others - own - common))


def _stands_alone(one: ReadUnit, lead: set[int], asked: Asked) -> bool:
    """Whether an item is a sentence, and the lines before it add no word of the question to it, and no limit."""
    led = [asked.units.get(one.leaf.key_of(place)) for place in sorted(lead)]
    told = all(unit and unit.held <= one.held for unit in led)
    limited = bool(led) and led[-1] is not None and (limits(led[-1].text) or denies(led[-1].text))
    return told and not limited and is_sentence(one.text)


def _lead(leaf: ReadLeaf, lead: int) -> set[int]:
    """Return the line that leads in a list, with the sentence before it where the line says nothing by itself."""
    before = range(lead - 1, lead)
    if lead == leaf.layout.block_of(lead).units.start or leaf.word_count(range(lead, lead + 1)) > BARE_LEAD_WORDS:
        return {lead}
    return {lead, *before} if leaf.word_count(before) <= BEFORE_LEAD_WORDS else {lead}


def _without_leads(one: ReadUnit, places: set[int]) -> set[int]:
    """Return the places without lines that lead in what is not quoted with them."""
    text, units = one.leaf.text, one.leaf.layout.units
    leads = {place for place in places - {one.place} if text[units[place].end - 1] == ":"}
    return places - leads


def with_opening(block: ChosenBlock, asked: Asked, quoted: Container[tuple[str, int]]) -> ChosenBlock:
    """Return the block with the sentence before it, if its own first one leaves open what that one says."""
    leaf, first = block.leaf, block.places[0]
    if block.kind != "paragraph" or first == leaf.layout.block_of(first).units.start:
        return block
    if leaf.key_of(first - 1) in quoted:
        return block
    before, after = (asked.units.get(leaf.key_of(place)) for place in (first - 1, first))
    if before is None or after is None:
        return block
    if names_what_was_said(after.text):
        said = range(max(leaf.layout.block_of(first).units.start, first - NAMED_SENTENCES), first)
        return replace(block, places=(*(place for place in said if leaf.key_of(place) not in quoted), *block.places))
    if before.held <= after.held and not names_another(before.text, block.titles):
        return block
    if not leaves_open(after.text) and not points_back_early(after.text):
        return block
    if leaf.word_count(range(first - 1, first)) > OPENING_WORDS:
        return block
    opened = replace(block, places=(first - 1, *block.places))
    return with_opening(opened, asked, quoted) if len(opened.places) < OPENED_SENTENCES else opened
