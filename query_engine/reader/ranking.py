"""Order what may answer: every sentence, list item, row and line of the leaves that were read, the likeliest first.

Scored leaves come in. What counts and how much is in `units.py`; this file measures it. Pure.
"""

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import NamedTuple

from query_engine.question.identifiers import Identifier, identifiers
from query_engine.reader.foreign import ACROSS, blended, by_similarity, by_words
from query_engine.reader.model import Scores
from query_engine.reader.units import ReadLeaf, ReadUnit, name_and_context, with_context
from query_engine.schema.passage import DocumentKey
from query_engine.text.term_weights import TermWeights, question_weights

# In a language that the packaged embedder does not know a similarity says little: it is mixed with so much of this.
FOREIGN_SIMILARITY, FOREIGN_SHARE = 0.4, 0.7


class Ranked(NamedTuple):
    """Units of leaves.

    Attributes:
        units: that may answer, the likeliest first; one that was read twice, where it is worth more.
        ruled_out: keys of units that name another part number, section or day of the asked one's series, and not that
            one; of rows that have the name of another one, and stand under a group that the question does not name.
    """

    units: tuple[ReadUnit, ...]
    ruled_out: frozenset[tuple[DocumentKey, int]] = frozenset()


def ranked_units(question: str, leaves: Sequence[ReadLeaf], words: TermWeights) -> Ranked:
    """Rank the units of leaves by whether they answer."""
    weights = question_weights(question, words)
    codes = [one for one in identifiers(question) if one.is_code]
    found: dict[tuple[DocumentKey, int], ReadUnit] = {}
    for leaf in leaves:
        for place, score in zip(leaf.read, leaf.scores.units, strict=True):
            if leaf.layout.units[place].label or not math.isfinite(score):
                continue
            covered = sum(weights[term] for term in weights.keys() & words.terms(with_context(leaf, place)))
            one = ReadUnit(leaf, place, score, covered)
            if one.key not in found or found[one.key].worth < one.worth:
                found[one.key] = one
    beside = _beside_named_rows(question, found.values(), weights.keys(), words)
    if not codes:
        elsewhere = _in_unnamed_groups(found.values(), weights.keys(), words)
        return Ranked(_in_order(one for key, one in found.items() if key not in elsewhere | beside), elsewhere)
    sections = {code: _sections(found.values(), code) for code in codes if code.is_section}
    in_others = {key for inside in sections.values() for key, is_inside in inside.items() if not is_inside}
    others = {key for key, one in found.items() if _names_another(one, codes)} | in_others
    named = {
        key: sum(
            _names(one, code, continued=key not in others) or sections.get(code, {}).get(key, False) for code in codes
        )
        for key, one in found.items()
    }
    most = max(named.values(), default=0)
    units = (one for key, one in found.items() if named[key] == most)
    return Ranked(_in_order(units), frozenset(key for key in others if named[key] < most))


def _in_order(units: Iterable[ReadUnit]) -> tuple[ReadUnit, ...]:
    return tuple(sorted(units, key=attrgetter("worth"), reverse=True))


def _in_unnamed_groups(
    units: Iterable[ReadUnit], asked: Collection[str], words: TermWeights
) -> frozenset[tuple[DocumentKey, int]]:
    """Return the keys of rows that share their name with others, whose groups say more of the question."""
    named: dict[tuple[DocumentKey, str], dict[tuple[DocumentKey, int], int]] = {}
    for one in units:
        layout, position = one.leaf.layout, one.unit.block
        block = layout.structure.blocks[position]
        groups = [layout.structure.blocks[at] for at in layout.structure.leads_above(position)]
        if block.cells and any(group.names_group for group in groups):
            said = {term for group in groups for term in words.terms(layout.text[slice(*group.inner)])}
            name = one.leaf.passage.document, layout.text[slice(*block.cells[0])].strip()
            named.setdefault(name, {})[one.key] = len(said.intersection(asked))
    return frozenset(key for rows in named.values() for key, count in rows.items() if count < max(rows.values()))


def _beside_named_rows(
    question: str, units: Iterable[ReadUnit], asked: Collection[str], words: TermWeights
) -> frozenset[tuple[DocumentKey, int]]:
    """Return the keys of rows in tables where the question names more of another row: a value, cell by cell."""
    terms = set(words.terms(question))
    tables: dict[tuple[DocumentKey, tuple[str, ...]], dict[tuple[DocumentKey, int], set[str]]] = {}
    for one in units:
        block = one.leaf.layout.block_of(one.place)
        if block.kind == "row" and block.columns:
            columns = {term for name in block.columns for term in words.terms(name)}
            cells = (set(words.terms(one.leaf.layout.text[slice(*cell)])) for cell in block.cells)
            named = {term for cell in cells if cell <= terms and not cell.isdisjoint(asked) for term in cell} - columns
            tables.setdefault((one.leaf.passage.document, block.columns), {})[one.key] = named
    return frozenset(
        key for rows in tables.values() for key, named in rows.items() if any(named < other for other in rows.values())
    )


def _names_another(one: ReadUnit, codes: Sequence[Identifier]) -> bool:
    own = identifiers(one.text)
    return any(code.is_like(found) and not code.pattern.search(found.text) for code in codes for found in own)


def _sections(units: Iterable[ReadUnit], code: Identifier) -> dict[tuple[DocumentKey, int], bool]:
    """Return whether a unit stands in the section with this number; nothing of units below no number.

    A section goes on from the line that its number begins, which need not be a heading, to the next number or heading.
    """
    found: dict[tuple[DocumentKey, int], bool] = {}
    above: tuple[object, ...] = ()
    inside: bool | None = None
    for one in sorted(units, key=attrgetter("key")):
        place = one.leaf.passage.document, *one.leaf.layout.headings(one.place)
        if place != above:
            above, inside = place, None
        if code.has_relative(one.text):
            inside = code.begins_section(one.text)
        if inside is not None:
            found[one.key] = inside
    return found


def _names(one: ReadUnit, code: Identifier, *, continued: bool) -> bool:
    """Return whether a unit names this, or stands under it; `continued` where it may go on about the sentence before.

    What names another one of the series, and follows a sentence with the asked one, is about the other.
    """
    return code.pattern.search(name_and_context(one, continued=continued)) is not None


def judged_by_words(
    leaf: ReadLeaf, question: str, words: TermWeights, share: float, *, multilingual: bool = False
) -> ReadLeaf:
    """Return a leaf with scores mixed from the reader (`share`) and word overlap (the rest).

    Its similarity is mixed with what is usual, unless the embedder is multilingual.
    """
    weights = question_weights(question, words)
    judged = []
    for place in leaf.read:
        texts = with_context(leaf, place), leaf.layout.words(place)
        judged.append(by_words(*(sum(weights[t] for t in weights.keys() & words.terms(text)) for text in texts)))
    doubt = 0.0 if multilingual else (1 - share) * FOREIGN_SHARE
    similarity = leaf.similarity + doubt * (FOREIGN_SIMILARITY - leaf.similarity)
    return replace(leaf, similarity=similarity, scores=blended(leaf.scores, judged, share))


def judged_by_similarity(leaf: ReadLeaf, cosines: Sequence[float]) -> ReadLeaf:
    """Return a leaf in another language than the question's, with scores by the cosines of its units with that."""
    units = tuple(map(by_similarity, cosines))
    scores = Scores(passage=by_similarity(leaf.similarity), units=units)
    return replace(leaf, similarity=leaf.similarity + ACROSS, scores=scores, foreign=True)
