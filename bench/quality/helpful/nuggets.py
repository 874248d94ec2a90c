"""Score an answer by the facts it should hold and by what it quotes besides: TREC's nuggets, for quoted answers.

Flow: `sets.py` (questions) and `sources.py` (documents) -> **here** -> `table.py`. Pure.

A *nugget* is a fact, given as the phrasings that count for it; a *vital* one belongs in every good answer. A *region*
is a stretch of a document that is on the question's topic. Recall alone would reward an answer that quotes everything,
precision alone one that quotes next to nothing, so an answer is *helpful* only if it is good at both.

Documents and quotes are compared as words: case, punctuation and markup do not count.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Self

from pydantic import BaseModel, ConfigDict, model_validator

from bench.quality.helpful.asking import CitedQuote, SystemAnswer
from eval.cases import BadCasesError, Case, Text
from eval.metrics import Scores, file_name

# Each measure with the digits it is shown with.
MEASURES = {
    "helpful": 3,
    "vital recall": 3,
    "all recall": 3,
    "precision": 3,
    "words": 1,
    "runs": 1,
    "declined answerable": 3,
    "declined near misses": 3,
}
HELPFUL_RECALL, HELPFUL_PRECISION = 0.5, 0.67
MAX_REGION_CHARS = 2500
# Quotes with no more between them are one run.
MAX_GAP_CHARS = 5
# Where a quote cannot be placed: the share of its words that a region must hold.
SHARED_WORDS = 0.6
# The rest of an answer may be labels and joints; what exceeds it counts as quoted off the topic.
QUOTED_SHARE = 0.8
# The list that nuggets are defined with, shorter than that of `eval/metrics.py`.
STOP_WORDS = frozenset(
    "a an and are as at be but by for from has in is it its not of on or that the this to was with".split()
)


class Nugget(BaseModel):
    """A fact; it is found where one of `any`, in lower case, stands in the answer."""

    model_config = ConfigDict(frozen=True, strict=True)

    text: str
    vital: bool
    any: tuple[Text, ...]


class Region(BaseModel):
    """A stretch of a document on the topic: from `quote_start` to the end of `quote_end`; of a PDF, `text`."""

    model_config = ConfigDict(frozen=True, strict=True)

    doc: Text
    quote_start: Text
    quote_end: Text
    text: str = ""


class NuggetCase(Case):
    """A question with its nuggets and regions; without them it is a near miss, which nothing in the corpus answers.

    Attributes:
        corpus: the name of the corpus that is asked.
        form: of the question, e.g. `define` or `near_miss`.
    """

    corpus: Text
    form: Text
    nuggets: tuple[Nugget, ...]
    regions: tuple[Region, ...]

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if not any(nugget.vital for nugget in self.nuggets) == bool(self.nuggets) == bool(self.regions):
            raise ValueError("a question needs a vital nugget and a region, or neither")
        return self


def fold(text: str) -> str:
    """Return the words in lower case, a blank before, between and after them; soft hyphens join what they part."""
    text = unicodedata.normalize("NFKC", text).replace("\ufffe", "").replace("\u00ad", "")
    words = re.findall(r"[^\W_]+", text.lower())
    return f" {' '.join(words)} "


def check_regions(cases: Sequence[NuggetCase], documents: Mapping[str, str]) -> None:
    """Make sure that every region can be compared with quotes.

    Args:
        cases: about one corpus.
        documents: file name -> folded text; without PDFs, whose regions have their own text.

    Raises:
        BadCasesError: a region is not in its document.
    """
    for case in cases:
        for region in case.regions:
            document = documents.get(file_name(region.doc))
            if not region.text if document is None else _find_region(document, region) is None:
                raise BadCasesError(
                    f"Question {case.id!r} has a region in {region.doc} that is not there: {region.quote_start!r}.",
                    f"Use the documents of the corpus {case.corpus!r} that the questions were written for.",
                )


def score(case: NuggetCase, answer: SystemAnswer, documents: Mapping[str, str]) -> Scores:
    """Return the measures that the question allows.

    `vital recall` and `all recall`: the share of nuggets found, 0 if declined. `precision`: the share of the quoted
    characters whose quote is on the topic. `words`: of the answer. `runs`: separate places quoted. These three only of
    an answer that was given. `helpful`: 1 if at least half of the vital nuggets are found and two thirds of what is
    quoted are on the topic. `declined answerable`, `declined near misses`: 1 if nothing was answered.

    `documents` are those of `check_regions`.
    """
    said = _said(answer.text or "")
    declined = float(not (answer.text or "").strip())
    if not case.nuggets:
        return {"declined near misses": declined}
    found = [any(phrase in said for phrase in nugget.any) for nugget in case.nuggets]
    vital = [hit for hit, nugget in zip(found, case.nuggets, strict=True) if nugget.vital]
    scores = {
        "helpful": 0.0,
        "vital recall": sum(vital) / len(vital),
        "all recall": sum(found) / len(found),
        "declined answerable": declined,
    }
    if declined:
        return scores
    precision = _precision(case.regions, answer.citations, said, documents)
    helpful = scores["vital recall"] >= HELPFUL_RECALL and precision >= HELPFUL_PRECISION
    return scores | {
        "helpful": float(helpful),
        "precision": precision,
        "words": float(len(said.split())),
        "runs": float(_runs(answer.citations)),
    }


def is_on_topic(quote: str, document: str | None, regions: Sequence[Region]) -> bool:
    """Tell whether half or more of a quote lies in the regions.

    A quote that is not found in the document, or is of a PDF, is on the topic if it stands in a region or shares most
    of its words with them.

    Args:
        quote: as it stands in the answer's citation.
        document: folded; None for a PDF.
        regions: those of this document.
    """
    quote = fold(quote)
    if document is None:
        texts = [fold(region.text) for region in regions]
    else:
        spans = [span for region in regions if (span := _find_region(document, region))]
        starts = list(_places(quote, document))
        if starts:
            return any(2 * _covered(range(start, start + len(quote)), spans) >= len(quote) for start in starts)
        texts = [document[start:end] for start, end in spans]
    words = Counter(word for word in quote.split() if word not in STOP_WORDS)
    shared = words & Counter(word for text in texts for word in text.split())
    return any(quote in text for text in texts) or shared.total() >= SHARED_WORDS * max(1, words.total())


def _precision(
    regions: Sequence[Region], citations: Sequence[CitedQuote], said: str, documents: Mapping[str, str]
) -> float:
    quoted = on_topic = 0
    for citation in citations:
        name = file_name(citation.doc_id)
        own = [region for region in regions if file_name(region.doc) == name]
        quoted += len(citation.quote)
        on_topic += len(citation.quote) * is_on_topic(citation.quote, documents.get(name), own)
    # Text that no citation backs is on no topic.
    whole = max(quoted, QUOTED_SHARE * len(re.sub(r"\[\d+\]", "", said)))
    return on_topic / whole if whole else 0.0


def _runs(citations: Sequence[CitedQuote]) -> int:
    runs, doc_id, end = 0, None, 0
    for citation in sorted(citations, key=lambda one: (one.doc_id, one.start, one.end)):
        joins = citation.doc_id == doc_id and citation.start <= end + MAX_GAP_CHARS
        runs += not joins
        doc_id, end = citation.doc_id, max(citation.end, end) if joins else citation.end
    return runs


def _said(text: str) -> str:
    return " ".join(text.replace("\ufffe", "").replace("**", "").lower().split())


def _find_region(document: str, region: Region) -> tuple[int, int] | None:
    first, last = fold(region.quote_start), fold(region.quote_end)
    for start in _places(first, document):
        place = document.find(last, start, start + MAX_REGION_CHARS + len(last))
        if place >= 0:
            return start, place + len(last)
    return None


def _places(part: str, text: str) -> Iterator[int]:
    """Yield where `part` begins in `text`; places may overlap. Blank text stands nowhere."""
    place = text.find(part) if part.strip() else -1
    while place >= 0:
        yield place
        place = text.find(part, place + 1)


def _covered(places: range, spans: Sequence[tuple[int, int]]) -> int:
    """How many of the places lie in a span; spans may overlap."""
    inside: set[int] = set()
    for start, end in spans:
        inside.update(range(max(start, places.start), min(end, places.stop)))
    return len(inside)
