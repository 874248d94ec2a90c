"""Make the examples that the reader learns from: a question, a passage, and which of its sentences answer.

Flow: `data/` -> **here** -> `fit.py`. A passage is a stretch of at most a leaf's length, as at question time, because
that is what the reader will see. Of each question there is at least one passage that answers it; others of the same
document, chosen because their words are like the question's, do not.
"""

import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from sklearn.feature_extraction.text import TfidfVectorizer

from index.documents.sentences import split_sentences

# Characters of a leaf of 128 tokens; with the rest of its paragraph it has up to `WIDE_CHARS`.
PASSAGE_CHARS, WIDE_CHARS = 560, 850
# A document may be one line long. A reader that saw short passages without an answer alone would decline all of them.
SHORT_CHARS = 60
# Of a unit, the share of characters that must be labelled for the unit to answer.
LEAST_SHARE = 0.5
_HEADING = re.compile(r"^ {0,3}#{1,6}\s+(.+)$", re.MULTILINE)


Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Example:
    """A question and a passage.

    Attributes:
        source: the data set it is from.
        group: what is held out together: a document.
        title: of the document, as the reader is shown it.
        units: the sentences and lines of `text`, as spans.
        answering: the places of those among `units` that answer; none if the passage does not.
    """

    source: str
    group: str
    question: str
    title: str
    text: str
    units: tuple[Span, ...]
    answering: frozenset[int]


class SourceText:
    """A document, cut into passages.

    Args:
        name: of the document.
        title: of the document.
        text: of the document.
    """

    def __init__(self, name: str, title: str, text: str) -> None:
        self.name, self.title, self.text = name, title, text

    @cached_property
    def units(self) -> list[Span]:
        """Sentences and lines, in order."""
        return [(one.start, one.end) for one in split_sentences(self.text)]

    @cached_property
    def passages(self) -> list[range]:
        """Stretches of units of at most `PASSAGE_CHARS`, in order."""
        found, first = [], 0
        for place, (_, end) in enumerate(self.units):
            if end - self.units[first][0] > PASSAGE_CHARS and place > first:
                found.append(range(first, place))
                first = place
        return [*found, range(first, len(self.units))] if self.units else []

    @cached_property
    def _index(self) -> tuple[TfidfVectorizer, object]:
        vectorizer = TfidfVectorizer(sublinear_tf=True, stop_words="english", token_pattern=r"\b\w+\b")  # noqa: S106
        return vectorizer, vectorizer.fit_transform([self.slice(one) or "-" for one in self.passages])

    def heading_of(self, offset: int) -> str:
        """The document's title, and the heading that an offset stands under."""
        headings = _HEADING.findall(self.text[:offset])
        heading = headings[-1].strip() if headings else ""
        return f"{self.title}\n{heading}" if heading and heading != self.title else self.title

    def slice(self, units: range) -> str:
        """The text of a stretch of units."""
        return self.text[self.units[units.start][0] : self.units[units.stop - 1][1]]

    def nearest(self, question: str) -> list[range]:
        """Return the passages, those most like the question first."""
        try:
            vectorizer, matrix = self._index
        except ValueError:  # nothing but stop words
            return self.passages
        scores = (matrix @ vectorizer.transform([question]).T).toarray()[:, 0]
        return [self.passages[place] for place in sorted(range(len(scores)), key=lambda place: -scores[place])]

    def example(self, source: str, question: str, units: range, labels: set[int]) -> Example:
        """Return the example of a stretch of units."""
        offset = self.units[units.start][0]
        return Example(
            source,
            f"{source}/{self.name}",
            question,
            self.heading_of(offset),
            self.slice(units),
            tuple((self.units[place][0] - offset, self.units[place][1] - offset) for place in units),
            frozenset(place - units.start for place in labels if place in units),
        )

    def around(self, place: int, rng: random.Random) -> range:
        """Return a stretch of units around one of them, which is not always in the middle."""
        first = last = place
        chars = int(rng.triangular(SHORT_CHARS, WIDE_CHARS, PASSAGE_CHARS))
        room = chars - (self.units[place][1] - self.units[place][0])
        while True:
            sides = [side for side in (-1, 1) if self._fits(first, last, side, room)]
            if not sides:
                return range(first, last + 1)
            if rng.choice(sides) < 0:
                first -= 1
            else:
                last += 1
            room = chars - (self.units[last][1] - self.units[first][0])

    def _fits(self, first: int, last: int, side: int, room: int) -> bool:
        place = first - 1 if side < 0 else last + 1
        if not 0 <= place < len(self.units):
            return False
        return self.units[place][1] - self.units[place][0] + 1 <= room


def labelled(units: Sequence[Span], spans: Sequence[Span]) -> set[int]:
    """Return the places of the units of which at least `LEAST_SHARE` lies in these spans."""
    found = set()
    for place, (start, end) in enumerate(units):
        covered = sum(max(0, min(end, last) - max(start, first)) for first, last in spans)
        if covered >= LEAST_SHARE * (end - start):
            found.add(place)
    return found


def of_question(
    source: str,
    document: SourceText,
    question: str,
    spans: Sequence[Span],
    rng: random.Random,
    *,
    nearest: Span | None = None,
    against: int = 2,
) -> Iterator[Example]:
    """Yield the examples of one question.

    Args:
        source: the data set.
        document: where it is answered, or looks as if it were.
        question: what is asked.
        spans: of the text, which answer.
        rng: chooses where passages begin.
        nearest: a span that looks like an answer and is none.
        against: how many passages of the document that do not answer.
    """
    labels = labelled(document.units, spans)
    left = sorted(labels)
    while left:
        units = document.around(left[0], rng)
        yield document.example(source, question, units, labels)
        left = [place for place in left if place not in units and place > left[0]]
    if nearest is not None:
        for place in sorted(labelled(document.units, [nearest]))[:1]:
            yield document.example(source, question, document.around(place, rng), labels)
    others = [units for units in document.nearest(question) if labels.isdisjoint(units)]
    for units in others[:against]:
        yield document.example(source, question, units, labels)


def read_own(path: Path, folder: Path, rng: random.Random) -> Iterator[Example]:
    """Yield examples of questions with verbatim quotes; see `data/README.md` for the format."""
    documents: dict[str, SourceText] = {}
    for row in read_rows(path):
        if row["doc"] not in documents:
            text = (folder / row["doc"]).read_text(encoding="utf-8")
            documents[row["doc"]] = SourceText(row["doc"], _title(row["doc"], text), text)
        document = documents[row["doc"]]
        spans = spans_of(row, document.text)
        if row["form"] != "near_miss" and not spans:
            continue
        nearest = find(document.text, row["nearest"]) if row["nearest"] else None
        yield from of_question(path.parent.name, document, row["question"], spans, rng, nearest=nearest, against=1)


def find(text: str, quote: str | Sequence[str]) -> Span | None:
    """Return where a quote, or a passage known by its first and its last words, stands in a text.

    Where it does not stand verbatim only letters and digits count: the text of a page is read without its markup.
    """
    first, last = (quote, quote) if isinstance(quote, str) else quote
    if (start := text.find(first)) >= 0 and (end := text.find(last, max(start, start + len(first) - len(last)))) >= 0:
        return start, end + len(last)
    folded, places = _folded(text)
    begins, ends = _folded(first)[0], _folded(last)[0]
    start = folded.find(begins) if begins and ends else -1
    end = folded.find(ends, max(start, start + len(begins) - len(ends))) if start >= 0 else -1
    return (places[start], places[end + len(ends) - 1] + 1) if end >= 0 else None


@lru_cache(maxsize=64)
def _folded(text: str) -> tuple[str, list[int]]:
    """Return the letters and digits of a text in lower case, and the offset of each."""
    places = [place for place, sign in enumerate(text) if sign.isalnum() and len(sign.lower()) == 1]
    return "".join(text[place] for place in places).lower(), places


def spans_of(row: Mapping[str, Any], text: str) -> list[Span]:
    """Return where the passages that answer a question stand in its document; see `data/README.md`."""
    return [span for quote in row.get("quotes", row.get("regions", ())) if (span := find(text, quote))]


def _title(name: str, text: str) -> str:
    first = text.lstrip().split("\n", 1)[0]
    return first.lstrip("# ").strip() if first.startswith("# ") else Path(name).stem.replace("_", " ").replace("-", " ")


def read_rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a file with one a line."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)
