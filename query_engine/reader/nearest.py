"""Where the answer to a declined question would most likely stand: a sentence of each of the closest documents.

Flow: passages that do not answer -> `reading.py` has scored their sentences -> **here** -> `Done.nearest`, which the
views show as links. Whether the question is declined is decided elsewhere. Pure.
"""

from collections.abc import Iterable, Sequence

from query_engine.reader.reading import LeafReader
from query_engine.schema.events import Nearest
from query_engine.schema.passage import DocumentKey, Passage

MAX_NEAREST = 3
MAX_QUOTE_CHARS = 240


def nearest_sentences(reader: LeafReader, question: str, passages: Sequence[Passage]) -> tuple[Nearest, ...]:
    """Return the likeliest sentence of each document, the likeliest first; first words where nothing could be read.

    Args:
        reader: reads the passages.
        question: as it is searched for.
        passages: found for it, best first.
    """
    units = reader.read(question, passages).units
    found = _one_a_document(_place(one.leaf.passage, one.unit.start, one.text) for one in units)
    return found or first_words(passages)


def first_words(passages: Iterable[Passage]) -> tuple[Nearest, ...]:
    """Return the first words of each document's best passage, without reading: there may be no time for it."""
    return _one_a_document(_place(passage, passage.start, passage.text) for passage in passages)


def _place(passage: Passage, start: int, text: str) -> Nearest | None:
    """Return the words of a text at `start`, cut between words if it is long; None for blank text."""
    quote = text.strip()
    if not quote:
        return None
    if len(quote) > MAX_QUOTE_CHARS:
        quote = quote[: MAX_QUOTE_CHARS + 1].rsplit(None, 1)[0][:MAX_QUOTE_CHARS]
    start += len(text) - len(text.lstrip())
    return Nearest(passage.doc_id, passage.title, passage.url, start, start + len(quote), quote, passage.corpus)


def _one_a_document(places: Iterable[Nearest | None]) -> tuple[Nearest, ...]:
    first: dict[DocumentKey, Nearest] = {}
    for place in places:
        if place is not None and len(first) < MAX_NEAREST:
            first.setdefault(place.document, place)
    return tuple(first.values())
