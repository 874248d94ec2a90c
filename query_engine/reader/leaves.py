"""Choose what the reader is shown: the best leaves, each widened to the blocks that it begins and ends in.

Merged passages come in, `reading.py` has the windows scored. `training/reader/found.py` prepares examples by the
same functions, so that the reader learns from what it is shown later.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from index.documents.guess import guessed_blocks
from index.documents.span_tree import split_node_id
from index.documents.store import Document, DocumentStore, StoredDocument
from index.documents.structure import Structure
from query_engine.question.newest import other_editions
from query_engine.reader.layout import Layout, lay_out
from query_engine.reader.model import PassageText
from query_engine.schema.hit import IDENTIFIED, LeafHit
from query_engine.schema.passage import DocumentKey, Passage

# Reading a leaf takes some 5 ms on two cores. The best of the ranking are read, then the most similar of the
# others: a question in other words than the text finds its passage by meaning alone.
RANKED_LEAVES, NEAREST_LEAVES = 5, 2
WINDOW_CHARS = 850
# Of leaves from a search by words alone, or by a service that tells none.
UNKNOWN_SIMILARITY = 0.3

DocumentOf = Callable[[Passage], Document | None]


@dataclass(frozen=True, slots=True)
class PreparedLeaf:
    """A leaf with the rest of the blocks that it begins and ends in, before it is read.

    Attributes:
        passage, rank, similarity, layout: those of `ReadLeaf`.
        places: the units to be read.
        shown: what the reader is shown.
    """

    rank: int
    passage: Passage
    similarity: float
    layout: Layout
    places: range
    shown: PassageText


def prepared_leaves(passages: Sequence[Passage], document_of: DocumentOf) -> Iterator[PreparedLeaf]:
    """Yield the best `RANKED_LEAVES` leaves, best first, and the `NEAREST_LEAVES` nearest others; no text twice.

    And as many of other editions of their documents.
    """
    found = [(hit, passage) for passage in passages for hit in _hits(passage)]
    found.sort(key=lambda one: -one[0].score)
    # What names the asked part number is read, what names another one is not.
    identified = max((hit.scores.get(IDENTIFIED, 0.0) for hit, _ in found), default=0.0)
    found = [one for one in found if one[0].scores.get(IDENTIFIED, 0.0) >= identified / 2]
    ranked = iter(enumerate(found))
    read = set[tuple[DocumentKey, int]]()  # document and offset of each unit
    yield from islice(_unread(ranked, read, document_of), RANKED_LEAVES)
    others = sorted(ranked, key=lambda one: -_similarity(one[1][0]))
    yield from islice(_unread(others, read, document_of), NEAREST_LEAVES)
    documents = {document for document, _ in read}
    known = [passage for _, passage in found if passage.document in documents]
    editions = other_editions(enumerate(found), known, lambda ranked: ranked[1][1])
    yield from islice(_unread(editions, read, document_of), NEAREST_LEAVES)


def _unread(
    ranked: Iterable[tuple[int, tuple[LeafHit, Passage]]], read: set[tuple[DocumentKey, int]], document_of: DocumentOf
) -> Iterator[PreparedLeaf]:
    """Yield leaves with something in them that is not yet read, and note what is."""
    for rank, (hit, passage) in ranked:
        layout = lay_out(*_text_and_structure(passage, document_of), hit.start, hit.end)
        leaf = layout.inside(hit.start, hit.end)
        if all((passage.document, layout.units[place].start) in read for place in leaf):
            continue
        places = _widened(layout, leaf)
        read.update((passage.document, layout.units[place].start) for place in places)
        yield PreparedLeaf(rank, passage, _similarity(hit), layout, places, passage_text(passage.name, layout, places))


def _similarity(hit: LeafHit) -> float:
    return hit.scores.get("dense", UNKNOWN_SIMILARITY)


def _widened(layout: Layout, places: range) -> range:
    """Return units with those that follow and precede them in their groups, as far as the reader's window goes."""
    units = layout.units
    first, last = places.start, places.stop - 1
    while last + 1 < len(units) and units[last + 1].group == units[last].group:
        if units[last + 1].end - units[first].start > WINDOW_CHARS:
            break
        last += 1
    while first > 0 and units[first - 1].group == units[first].group:
        if units[last].end - units[first - 1].start > WINDOW_CHARS:
            break
        first -= 1
    return range(first, last + 1)


def stored_documents(documents: DocumentStore) -> Callable[[Passage], StoredDocument | None]:
    """Return a function that reads a passage's document, in the version that the passage is from."""

    def document_of(passage: Passage) -> StoredDocument | None:
        version = split_node_id(passage.node_id)[0]
        return documents.get_versions([version]).get(version)

    return document_of


def _hits(passage: Passage) -> Sequence[LeafHit]:
    """Return the leaves that a passage was chosen for; the passage itself if it does not say where they stand."""
    placed = [hit for hit in passage.hits if hit.end > hit.start]
    return placed or [LeafHit(passage.node_id, passage.score, passage.scores, start=passage.start, end=passage.end)]


def passage_text(title: str, layout: Layout, places: range) -> PassageText:
    """Return units of a layout in the form that the reader takes: below the title and the innermost heading."""
    above = layout.headings(places.start)[-1:]
    context = "\n".join(dict.fromkeys((title, *above)))
    text, units = _joined(layout, places, layout.named_words)
    if len(text) > WINDOW_CHARS:  # names repeated would push rows out of what the reader takes
        text, units = _joined(layout, places, layout.words)
    return PassageText(context, text, units)


def _joined(layout: Layout, places: range, words: Callable[[int], str]) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Return the text of units, each in these words, and where they stand in it."""
    text, spans, before = "", list[tuple[int, int]](), layout.units[places.start].start
    for place in places:
        unit = layout.units[place]
        text += layout.text[before : unit.start]
        spans.append((len(text), len(text) + len(words(place))))
        text, before = text + words(place), unit.end
    return text, tuple(spans)


def _text_and_structure(passage: Passage, document_of: DocumentOf) -> tuple[str, Structure]:
    """Return a passage's document; if that has changed since, the passage's own text at its place."""
    document = document_of(passage)
    if document is not None and document.text.startswith(passage.text, passage.start):
        return document.text, document.structure
    text = "\n" * passage.start + passage.text
    return text, Structure(guessed_blocks(text))
