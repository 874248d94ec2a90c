"""Where else the answer to a question would most likely stand: around the likeliest sentences that are not shown yet.

Flow: passages -> `reading.py` has scored their sentences -> **here** -> `Done.nearest`, which the views show as links
below quotes, or below a declined question. Whether the question is declined is decided elsewhere. Pure.
"""

from collections.abc import Iterable, Sequence

from query_engine.reader.reading import LeafReader
from query_engine.reader.window import within_section
from query_engine.schema.events import MAX_NEAREST, Citation, Nearest
from query_engine.schema.passage import DocumentKey, Passage

MAX_QUOTE_CHARS = 480


def nearest_places(
    reader: LeafReader, question: str, passages: Sequence[Passage], quoted: Sequence[Citation] = ()
) -> tuple[Nearest, ...]:
    """Return the likeliest places, the likeliest first; first words where nothing could be read.

    Each is a sentence, item or row with what stands around it in its section: the sentence that is most like the
    question is often the one beside the answer. None overlaps another, or what was quoted.

    Args:
        reader: reads the passages.
        question: as it is searched for.
        passages: found for it, best first.
        quoted: what the answer shows.
    """
    found: list[Nearest] = []
    for unit in reader.read(question, passages).units:
        if len(found) == MAX_NEAREST:
            break
        window = within_section(unit, MAX_QUOTE_CHARS)
        place = _place(unit.leaf.passage, window.start, window.text, unit.leaf.layout.headings(unit.place))
        shown: list[Citation | Nearest] = [*quoted, *found]
        if place and not any(_overlap(place, one) for one in shown):
            found.append(place)
    return tuple(found) if found or quoted else first_words(passages)


def first_words(passages: Iterable[Passage]) -> tuple[Nearest, ...]:
    """Return the first words of each document's best passage, without reading: there may be no time for it."""
    first: dict[DocumentKey, Nearest] = {}
    for passage in passages:
        if place := _place(passage, passage.start, passage.text):
            first.setdefault(place.document, place)
    return tuple(first.values())[:MAX_NEAREST]


def _overlap(one: Nearest, shown: Citation | Nearest) -> bool:
    return one.document == shown.document and one.start < shown.end and shown.start < one.end


def _place(passage: Passage, start: int, text: str, headings: tuple[str, ...] = ()) -> Nearest | None:
    """Return the words of a text at `start`, cut between words if it is long; None for blank text."""
    quote = text.strip()
    if not quote:
        return None
    if len(quote) > MAX_QUOTE_CHARS:
        quote = quote[: MAX_QUOTE_CHARS + 1].rsplit(None, 1)[0][:MAX_QUOTE_CHARS]
    start += len(text) - len(text.lstrip())
    end = start + len(quote)
    return Nearest(passage.doc_id, passage.title, passage.url, start, end, quote, headings, passage.corpus)
