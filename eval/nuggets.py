"""Tell which facts an answer holds and how much of what it quotes is on the topic: TREC's nuggets, for quoted answers.

Flow: `asking/target.py` places quotes in documents by **here**, `scoring/offline/nuggets.py` counts by **here**; the
measurements of `bench/quality/helpful/` do both. Pure.

Recall alone would reward an answer that quotes everything, precision alone one that quotes next to nothing, so an
answer is *helpful* only if it is good at both. Documents and quotes are compared as words: case, punctuation and markup
do not count.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from eval.cases import Nugget, Region
from eval.metrics import file_name

# Words that name a region's ends: as few as tell them apart.
QUOTE_WORDS = (8, 16, 32)
HELPFUL_RECALL, HELPFUL_PRECISION = 0.5, 0.67
MAX_REGION_CHARS = 2500
# What a reader may put between the cells of a row: the name of the column.
MAX_LABEL_CHARS = 40
# Where a quote cannot be placed: the share of its words that a region must hold.
SHARED_WORDS = 0.6
# The rest of an answer may be labels and joints; what exceeds it counts as quoted off the topic.
QUOTED_SHARE = 0.8
# The list that nuggets are defined with, shorter than that of `metrics.py`.
STOP_WORDS = frozenset(
    "a an and are as at be but by for from has in is it its not of on or that the this to was with".split()
)


def recalls(nuggets: Sequence[Nugget], answer: str) -> tuple[float | None, float]:
    """Return the shares of the vital nuggets (None if there is none) and of all that stand in an answer, by phrasing.

    Args:
        nuggets: one or more.
        answer: as a person reads it; marks and bold signs may be in it.
    """
    said = _said(answer)
    found = [any(" ".join(phrase.lower().split()) in said for phrase in nugget.any) for nugget in nuggets]
    vital = [hit for hit, nugget in zip(found, nuggets, strict=True) if nugget.vital]
    return sum(vital) / len(vital) if vital else None, sum(found) / len(found)


def precision(answer: str, quotes: Sequence[str], on_topic: Collection[int]) -> float:
    """Return the share of the quoted characters whose quote is on the topic; text that no quote backs is on no topic.

    Args:
        answer: as a person reads it, with its `[n]` marks.
        quotes: of its citations.
        on_topic: places in `quotes`.
    """
    quoted = sum(map(len, quotes))
    whole = max(quoted, QUOTED_SHARE * len(re.sub(r"\[\d+\]", "", _said(answer))))
    return sum(len(quotes[place]) for place in on_topic) / whole if whole else 0.0


def is_helpful(vital_recall: float, topic_precision: float) -> bool:
    """Whether at least half of the vital nuggets are found, and two thirds of what is quoted are on the topic."""
    return vital_recall >= HELPFUL_RECALL and topic_precision >= HELPFUL_PRECISION


def fold(text: str) -> str:
    """Return the words in lower case, a blank before, between and after them; soft hyphens join what they part."""
    text = unicodedata.normalize("NFKC", text).replace("\ufffe", "").replace("\u00ad", "")
    words = re.findall(r"[^\W_]+", text.lower())
    return f" {' '.join(words)} "


def regions_of(doc_id: str, regions: Sequence[Region]) -> list[Region]:
    """Return the regions of one document, by its file name."""
    return [region for region in regions if file_name(region.doc) == file_name(doc_id)]


def find_region(document: str, region: Region) -> tuple[int, int] | None:
    """Return where a region begins and ends in a folded document; None if it is not there.

    A row of a table may stand in the document with the names of its columns between the cells.
    """
    first, last = fold(region.quote_start), fold(region.quote_end)
    for between in (0, MAX_LABEL_CHARS):
        for start, _ in sorted(_spread(first, document, between), key=_length):
            reach = document[start : start + MAX_REGION_CHARS + len(last)]
            if found := min(_spread(last, reach, between), key=_length, default=None):
                return start, start + found[1]
    return None


def name_region(text: str, document: str, doc_id: str, *, brings_text: bool = False) -> Region | None:
    """Return the region that `find_region` finds at a stretch; None if no first and last words identify it.

    Args:
        text: the stretch.
        document: the whole of it, folded.
        doc_id: of the document.
        brings_text: of documents whose text depends on the reader.
    """
    words, wanted = text.split(), fold(text)
    for count in QUOTE_WORDS if len(wanted) < MAX_REGION_CHARS else ():
        first, last = " ".join(words[:count]), " ".join(words[-count:])
        if fold(first).strip() and fold(last).strip():
            region = Region(doc=doc_id, quote_start=first, quote_end=last, text=text if brings_text else "")
            found = find_region(document, region)
            if found and document[slice(*found)] == wanted:
                return region
    return None


def is_on_topic(quote: str, document: str | None, regions: Sequence[Region]) -> bool:
    """Tell whether half or more of a quote lies in the regions.

    A quote that is not found in the document, or whose document is not at hand, is on the topic if it stands in a
    region or shares most of its words with them.

    Args:
        quote: as it stands in the answer's citation.
        document: folded; None where the regions have their own text, as those of PDFs.
        regions: those of this document.
    """
    quote = fold(quote)
    if document is None:
        texts = [fold(region.text) for region in regions]
    else:
        spans = [span for region in regions if (span := find_region(document, region))]
        starts = list(_places(quote, document))
        if starts:
            return any(2 * _covered(range(start, start + len(quote)), spans) >= len(quote) for start in starts)
        texts = [document[start:end] for start, end in spans]
    words = Counter(word for word in quote.split() if word not in STOP_WORDS)
    shared = words & Counter(word for text in texts for word in text.split())
    return any(quote in text for text in texts) or shared.total() >= SHARED_WORDS * max(1, words.total())


def _said(text: str) -> str:
    return " ".join(text.replace("\ufffe", "").replace("**", "").lower().split())


def _places(part: str, text: str) -> Iterator[int]:
    """Yield where `part` begins in `text`; places may overlap. Blank text stands nowhere."""
    place = text.find(part) if part.strip() else -1
    while place >= 0:
        yield place
        place = text.find(part, place + 1)


def _spread(part: str, text: str, between: int) -> Iterator[tuple[int, int]]:
    """Yield where the words of `part` begin and end in `text`, each at most `between` characters behind the last."""
    first, *others = part.split() or [""]
    for start in _places(f" {first} ", text):
        end = start + len(first) + 1
        for word in others:
            place = text.find(f" {word} ", end, end + between + len(word) + 2)
            if place < 0:
                break
            end = place + len(word) + 1
        else:
            yield start, end + 1


def _length(span: tuple[int, int]) -> int:
    return span[1] - span[0]


def _covered(places: range, spans: Sequence[tuple[int, int]]) -> int:
    """How many of the places lie in a span; spans may overlap."""
    return sum(any(start <= place < end for start, end in spans) for place in places)
