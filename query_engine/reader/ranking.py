"""Order what may be quoted: every sentence, list item, row and line of the leaves that were read, the likeliest first.

Flow: scored leaves -> **here** -> `reading.py` compares the first ones with the question and moves those that
contradict it to the end. What counts and how much is in `units.py`; this file measures it. Pure.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from query_engine.question.decompose_rules import compared_things
from query_engine.reader.contrast import Asked, asked, says
from query_engine.reader.foreign import ACROSS, blended, by_similarity, by_words
from query_engine.reader.model import Scores
from query_engine.reader.named_rows import NAMED_ROW, TITLE_CHARS, beside_named, compares, named_row
from query_engine.reader.units import ReadLeaf, ReadUnit, with_context
from query_engine.text.ages import asked_age
from query_engine.text.asked_kind import asked_kind, asks_for_much, asks_how_to, missing_kind_penalty
from query_engine.text.definitions import asked_term, defined_terms
from query_engine.text.term_weights import TermWeights, question_weights

# A line without a full stop that this many documents share is a menu, a footer or a notice.
SHARED_BY_DOCUMENTS = 3
# In a language that the packaged embedder does not know a similarity says little: it is mixed with so much of this.
FOREIGN_SIMILARITY, FOREIGN_SHARE = 0.4, 0.7
# Of a line that only leads in what follows, such as "A black start has three steps:".
LEAD_IN_PENALTY = 1.0
# Of a line that reads like a heading, and of the title.
HEADING_PENALTY = 1.5
# If the best unit contradicts the question, every unit loses this, except those nearly as good that hold the
# contradicted word: the row of 2019 stands beside that of 2018.
CONTRADICTION_PENALTY, NEARLY_AS_GOOD = 6.0, 1.0
# Minutes and letters are dated at their top: that date counts for all that stands below.
HEADER_CHARS = 500


def in_order(units: Iterable[ReadUnit]) -> tuple[ReadUnit, ...]:
    """Return units, the likeliest to answer first."""
    return tuple(sorted(units, key=lambda one: -one.worth))


def ranked_units(question: str, leaves: Sequence[ReadLeaf], words: TermWeights) -> tuple[ReadUnit, ...]:
    """Return the units of all leaves that may be quoted, in order; one that was read twice, where it is worth more."""
    weights, kind, much = question_weights(question, words), asked_kind(question), asks_for_much(question)
    how_to, age, everywhere = asks_how_to(question), asked_age(question), _shared_lines(leaves)
    term, compared = frozenset(words.terms(asked_term(question))), compared_words(question, words)
    found: dict[tuple[str, int], ReadUnit] = {}
    for leaf in leaves:
        for place, score in zip(leaf.read, leaf.scores.units, strict=True):
            unit, text = leaf.layout.units[place], leaf.unit_text(place)
            line = " ".join(text.split())
            shared = line in everywhere and leaf.layout.block_of(place).kind not in {"record", "table"}
            if unit.label or shared or not math.isfinite(score) or _is_title(leaf, place, line):
                continue
            known = weights.keys() & words.terms(with_context(leaf, place))
            penalty = missing_kind_penalty(kind, text) if kind else 0.0
            if text.endswith(":") and not much:
                penalty += LEAD_IN_PENALTY
            if leaf.layout.reads_like_heading(place, line) or line.casefold() == _title(leaf):
                penalty += HEADING_PENALTY
            headed, named = _headed(leaf, place, weights, words), named_row(leaf, place, weights, words, age)
            if sets_against := compares(leaf, place, compared, words):
                named = max(named, NAMED_ROW)
            one = ReadUnit(
                leaf,
                place,
                score=max(score, named),
                covered=sum(weights[term] for term in known),
                held=frozenset(weights.keys() & words.terms(text)),
                known=frozenset(known),
                penalty=penalty,
                headed=headed,
                wanted_step=headed and how_to and leaf.layout.block_of(place).kind == "steps",
                defines=bool(term) and term in {frozenset(words.terms(one)) for one in defined_terms(text)},
                compares=sets_against,
                named=named,
            )
            if one.key not in found or found[one.key].worth < one.worth:
                found[one.key] = one
    return in_order(beside_named(found, weights, words, age))


def compared_words(question: str, words: TermWeights) -> tuple[frozenset[str], ...]:
    """Return for each thing that a question compares the words that only its name has; nothing if it compares none."""
    names = [frozenset(words.query_terms(thing)) for thing in compared_things(question)]
    own = [
        name.difference(*(other for place, other in enumerate(names) if place != at)) for at, name in enumerate(names)
    ]
    return tuple(own) if all(own) else ()


def put_contradicted_last(question: str, units: tuple[ReadUnit, ...]) -> tuple[tuple[ReadUnit, ...], tuple[str, ...]]:
    """Return the units in order again, and the question's words that the best one contradicts if none is better."""
    wanted = asked(question)
    against = _contradicted(wanted, units[0]) if units else ()
    if not against:
        return units, ()
    least = units[0].worth - NEARLY_AS_GOOD

    def counts(one: ReadUnit) -> bool:
        text = with_context(one.leaf, one.place)
        return one.worth >= least and all(says(word, text) for word in against) and not _contradicted(wanted, one)

    judged = [one if counts(one) else replace(one, penalty=one.penalty + CONTRADICTION_PENALTY) for one in units]
    found = in_order(judged)
    return found, () if counts(found[0]) else against


def _contradicted(wanted: Asked, one: ReadUnit) -> tuple[str, ...]:
    leaf = one.leaf
    document = (leaf.passage.doc_id, leaf.passage.title, leaf.text[:HEADER_CHARS])
    around = "\n".join((*document, *leaf.path_of(one.place), leaf.read_text))
    return wanted.contradicted(one.text, with_context(leaf, one.place), around, leaf.text)


def judged_by_words(
    leaf: ReadLeaf, question: str, words: TermWeights, share: float, *, multilingual: bool = False
) -> ReadLeaf:
    """Return a leaf with scores mixed from the reader (`share`) and word overlap (the rest).

    Its similarity is mixed with what is usual, unless the embedder is multilingual.
    """
    weights, kind = question_weights(question, words), asked_kind(question)
    judged = []
    for place in leaf.read:
        text = leaf.unit_text(place)
        penalty = missing_kind_penalty(kind, text) if kind else 0.0
        covered, own = (
            sum(weights[term] for term in weights.keys() & words.terms(part))
            for part in (with_context(leaf, place), text)
        )
        judged.append(by_words(covered, own, penalty))
    doubt = 0.0 if multilingual else (1 - share) * FOREIGN_SHARE
    similarity = leaf.similarity + doubt * (FOREIGN_SIMILARITY - leaf.similarity)
    return replace(leaf, similarity=similarity, scores=blended(leaf.scores, judged, share))


def judged_by_similarity(leaf: ReadLeaf, cosines: Sequence[float]) -> ReadLeaf:
    """Return a leaf in another language than the question's, with scores by the cosines of its units with that."""
    units = tuple(map(by_similarity, cosines))
    scores = Scores(passage=by_similarity(leaf.similarity), units=units, words=None, words_score=-math.inf)
    return replace(leaf, similarity=leaf.similarity + ACROSS, scores=scores, foreign=True)


def _is_title(leaf: ReadLeaf, place: int, line: str) -> bool:
    """Whether a line of several words stands in capitals and says nothing: "STANDARD PROCEDURE 17: FRIDGES"."""
    kind, first = leaf.layout.block_of(place).kind, leaf.layout.units[place].start < TITLE_CHARS
    may_be = kind in {"heading", "paragraph"} or (kind == "record" and first)  # "PROCEDURE 17: FRIDGES" has a colon
    return may_be and line.isupper() and line.count(" ") > 1 and line[-1] not in ".!?"


def _title(leaf: ReadLeaf) -> str:
    return " ".join(leaf.passage.title.split()).casefold()


def _headed(leaf: ReadLeaf, place: int, asked: Mapping[str, float], words: TermWeights) -> bool:
    """Whether a unit stands in a list, table or record under a heading that the question asks for."""
    titles = leaf.path_of(place)
    if leaf.layout.block_of(place).kind in {"paragraph", "heading", "code"} or len(titles) < 2:
        return False
    named = set(words.query_terms(titles[-1]))
    return bool(named) and named <= asked.keys()


def _shared_lines(leaves: Sequence[ReadLeaf]) -> frozenset[str]:
    """Return the lines that are no sentences and stand in several of the documents: menus, footers, notices."""
    holders: defaultdict[str, set[str]] = defaultdict(set)
    for leaf in leaves:
        for place in leaf.read:
            if (line := " ".join(leaf.unit_text(place).split()))[-1:] not in {".", "!", "?", ":"}:
                holders[line].add(leaf.passage.doc_id)
    return frozenset(line for line, documents in holders.items() if len(documents) >= SHARED_BY_DOCUMENTS)
