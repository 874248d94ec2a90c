"""Which row of a table a question names, and which table or list compares what the question does.

Flow: leaves that were read, and the units made of them -> **here** -> `ranking.py` orders the units. The reader learnt
from prose, so rows are judged by names as well. Pure.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from query_engine.reader.units import ReadLeaf, ReadUnit
from query_engine.text.ages import ages_in
from query_engine.text.light_words import is_light
from query_engine.text.spans_of_days import days_in, spanned
from query_engine.text.term_weights import TermWeights

# A document's title may stand in its text alone.
TITLE_CHARS = 120
# The row that a question names counts as read with such log-odds, where the question names a column as well or there is
# only one, or else nothing but the document; less where it names a part of the row's name.
NAMED_ROW, PARTLY_NAMED_ROW = 2.0, 1.0
# "Adults" answers for an adult; "Family (two adults and two children)" beside it does not.
ROW_BESIDE_PENALTY = 3.0
# "Second passenger on the same trip" is not named by "the passenger's house": this share of a row's name must be.
NAMED_SHARE = 0.5
_BRACKETS = re.compile(r"\([^()]*\)")


def beside_named(
    units: Mapping[tuple[str, int], ReadUnit], asked: Mapping[str, float], words: TermWeights, age: int | None
) -> Iterator[ReadUnit]:
    """Yield the units again, worth less if a row is named in part where another of its table is named in full.

    So is a row of other months, weekdays or ages than one that spans what is asked for.
    """
    cells = {key: one.leaf.cells_of(one.place)[0] for key, one in units.items() if one.block.kind == "table"}
    names = {key: frozenset(words.terms(cell)) for key, cell in cells.items()}
    fits = {key: _fits(cell, asked, words, age) for key, cell in cells.items()}
    spanned_in = {_table_of(units[key]) for key, fit in fits.items() if fit}
    in_full = defaultdict[tuple[str, int], list[frozenset[str]]](list)
    for key, name in names.items():
        if name and name <= asked.keys():
            in_full[_table_of(units[key])].append(name)
    for key, one in units.items():
        name = names.get(key, frozenset())
        part = name & asked.keys()
        other_span = fits.get(key) is False and _table_of(one) in spanned_in
        if other_span or (part and part != name and any(part <= other for other in in_full[_table_of(one)])):
            yield replace(one, penalty=one.penalty + ROW_BESIDE_PENALTY)
        else:
            yield one


def _fits(cell: str, asked: Mapping[str, float], words: TermWeights, age: int | None) -> bool | None:
    """Whether a row's months, weekdays or ages are those asked for; None where it names none."""
    days, ages = set(words.terms(" ".join(days_in(cell)))), ages_in(cell)
    if age is not None and ages:
        return age in ages
    return bool(days & asked.keys()) if days else None


def _table_of(one: ReadUnit) -> tuple[str, int]:
    return one.leaf.key_of(one.block.units.start)


def named_row(leaf: ReadLeaf, place: int, asked: Mapping[str, float], words: TermWeights, age: int | None) -> float:
    """Return how likely a row answers by its first cell and the header, see `NAMED_ROW`."""
    block = leaf.layout.block_of(place)
    names = leaf.layout.units[place].columns
    if block.kind != "table" or not names:
        return -math.inf
    cells = leaf.cells_of(place)
    name, own = set(words.terms(cells[0])), _name_words(cells[0], words)
    days = set(words.terms(" ".join(days_in(cells[0]))))
    if age is not None and age in ages_in(cells[0]):
        name = own = asked.keys() & set(words.terms(f"{age} old"))  # "years" may name a column: "Per year"
    elif days & asked.keys() and (own <= days or spanned(cells[0])):
        name = own = days & asked.keys()
    if name.isdisjoint(asked):
        return -math.inf
    about = _about(leaf, place, words)
    if not (name <= asked.keys() or _is_half_said(own, asked, about)):
        return -math.inf
    columns = names[1:]
    others = asked.keys() - name
    if len(columns) > 1 and others.isdisjoint(words.terms(" ".join(columns))) and not others <= about:
        return -math.inf
    return NAMED_ROW if name <= asked.keys() else PARTLY_NAMED_ROW


def _name_words(cell: str, words: TermWeights) -> set[str]:
    """Return the words of a row's name without what brackets add, and words that name nothing."""
    return {term for term in words.query_terms(_BRACKETS.sub(" ", cell)) if not is_light(term)}


def _is_half_said(name: set[str], asked: Mapping[str, float], about: set[str]) -> bool:
    """Whether a question has enough of a name's words, one of them no word of the document's title or headings.

    Words of the title tell no row from the others.
    """
    figures = {term for term in name if any(map(str.isdigit, term))}
    said = name & asked.keys()
    return not said <= about and len(said - figures) >= NAMED_SHARE * len(name - figures)


def compares(leaf: ReadLeaf, place: int, compared: Sequence[frozenset[str]], words: TermWeights) -> bool:
    """Whether a unit's block sets against each other what a question compares.

    A table does that has a column for each thing, or for most words of its name; a list, if its heading names all.
    """
    block = leaf.layout.block_of(place)
    if not compared:
        return False
    if block.kind == "list":
        heading = frozenset(words.terms("\n".join(leaf.path_of(place)[-1:])))
        return all(thing <= heading for thing in compared)
    columns = leaf.layout.units[place].columns
    if block.kind != "table" or not columns:
        return False
    names = set(words.terms(" ".join(columns)))
    about = names | _about(leaf, place, words)
    return all(thing & names and 2 * len(thing & about) >= len(thing) for thing in compared)


def _about(leaf: ReadLeaf, place: int, words: TermWeights) -> set[str]:
    """Return the words of a unit's title and headings, and of the document's first lines, which may be its title."""
    return set(words.terms("\n".join((leaf.passage.title, leaf.text[:TITLE_CHARS], *leaf.path_of(place)))))
