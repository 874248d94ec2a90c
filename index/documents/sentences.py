"""Find sentences, as spans: where leaves of a document may end, and what an answer quotes.

Flow: a block -> **here** -> `blocks.py`; a passage -> **here** -> the extractive synthesizer, the citations of the
generative one and others. In a passage headings, list items and table rows end at their line, wrapped prose goes on.
Pure; linear in the text's length.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from index.documents.atoms import MONTH, is_date_alone, splits_atom, stop_before
from index.documents.guess import BULLET, prose_spans
from index.documents.structure import stripped

MAX_CHARS = 600
# An abbreviation and a number that opens a sentence are no longer.
LOOK_BACK_CHARS, ITEM_NUMBER_CHARS = 12, 20
LOOK_AHEAD_CHARS = 8

# A sentence ends at . ! ? (with closing quotes or brackets) before space and something that can begin a sentence,
# unless the dot belongs to an abbreviation, an initial or a numbered item. A run of stops is read once and from its
# beginning: a model may write 100,000 of them.
# Chinese and Japanese need no space after a stop; Hindi ends a sentence by a danda, Arabic asks by its own mark.
_END = re.compile(
    r"(?<![.!?])[.!?]++[\"'”’)\]]*+(?=\s++[\"'“‘(\[¿¡]*+[A-Z0-9\u00c0-\u024f\u0370-\uffff])"
    r"|(?<![。！？।؟])[。！？।؟]++[」』”’）]*+"
)
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[])(?:[A-Z]|[A-Z](?:\.[A-Z])+|e\.g|i\.e|etc|cf|ca|c|vs|nos|vol|ed|eds|fig|figs|eq|eqs|sec|al|approx|est|"
    r"dr|mr|mrs|ms|ext|tel|prof|st|jr|sr|inc|ltd|co|corp|gen|col|lt|rev|hon|sen|rep|gov|jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|"
    r"nov|dec|bzw|usw|ggf|evtl|vgl|inkl|zzgl|bspw|hrsg|nr|abs|\w{0,30}str|mme|mlle|sra|pág|núm|ecc|bijv|env|т\.[дп]|[А-Я]|ул|стр"
    r"|руб|тыс)$",
    re.IGNORECASE,
)
# The number of an item ("1. Open the tap."), of a part ("Section 3. The tenant ..."), a German ordinal ("im 19.
# Jahrhundert").
_ITEM_NUMBER = re.compile(
    r"[\s\"'“‘(\[*_]*+(?:(?:section|article|clause|chapter|part|rule|step|item|paragraph|question|table|figure|note|appendix"
    r"|schedule|artikel|abschnitt|kapitel|teil|schritt|frage|tabelle)\s+)?\d{1,3}",
    re.IGNORECASE,
)
_ORDINAL = re.compile(
    r"\b(?:am|im|der|die|das|des|dem|den|vom|zum|zur|beim|bis|ab|und|seit|jede[rsnm]?|eine?[rmns]?)\s\d{1,3}$",
    re.IGNORECASE,
)
# "handout no. 12", but "No. 12 people came."
_NUMBER_SIGN = re.compile(r"\w\W++no$", re.IGNORECASE)
# The first letter after the stop: other alphabets mix capitals and small letters, so no range tells them apart.
_LETTER = re.compile(r"\w")
# "until 5 p.m. Boxes ..." ends a sentence, "until 5 p.m. Monday" does not.
_CLOCK = re.compile(r"\b[AaPp]\.[Mm]$")
_OF_THE_CLOCK = re.compile(
    rf"\s+(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\b|{MONTH}\b|[ECMP][DS]?T\b|GMT|UTC"
    r"|BST|CES?T\b|(?:Eastern|Central|Mountain|Pacific)\b)"
)
_MARK = re.compile(rf"\s*(?:#{{1,6}}\s+|{BULLET}\s+|>\s*)?")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, `[start, end)` of the text it was cut from.

    Attributes:
        kind: `prose` ends like a sentence, a `line` does not (table rows, list items), a `heading` is marked as one.
    """

    start: int
    end: int
    kind: Literal["prose", "line", "heading"]


def split_sentences(text: str) -> list[Sentence]:
    """Return the sentences of `text` in order; spans exclude surrounding space and list marks, and do not overlap."""
    found = []
    for start, end in prose_spans(text):
        mark = _MARK.match(text, start, end)
        line = text[start:end].lstrip()
        begin = mark.end() if mark else start
        if line.startswith(("|", "`", "~")):
            found += _as_lines(text, [(begin, end)])
        elif line.startswith("#"):
            found += [replace(one, kind="heading") for one in sentences_of(text, begin, end)]
        else:
            found += sentences_of(text, begin, end)
    return found


def sentences_of(text: str, start: int, end: int) -> list[Sentence]:
    """Return the sentences of one paragraph, `[start, end)` of `text`, without the space around them."""
    return _as_lines(text, pairwise([start, *sentence_ends(text, start, end), end]))


def sentence_ends(text: str, start: int, end: int) -> Iterator[int]:
    """Yield where each sentence of one paragraph but the last ends, without the space after it."""
    begin = start
    for match in _END.finditer(text, start, end):
        # The pattern's look-ahead sees past `end` only within the same text, which is harmless.
        if not _belongs_to_what_follows(text, begin, match):
            begin = match.end()
            yield begin


def _as_lines(text: str, spans: Iterable[tuple[int, int]]) -> list[Sentence]:
    found = []
    for first, last in spans:
        for left, right in _short_enough(text, first, last):
            begin, stop = stripped(text, left, right)
            if stop > begin:
                whole = text[stop - 1] in ".!?\"'”’)]:;。！？।؟」』）"
                found.append(Sentence(begin, stop, "prose" if whole else "line"))
    return found


def _belongs_to_what_follows(text: str, start: int, end: re.Match[str]) -> bool:
    """Tell the dot of an abbreviation, of a date, or of a year that opens a line, from the end of a sentence."""
    following = _LETTER.search(text, end.end(), end.end() + LOOK_AHEAD_CHARS)
    if following is not None and following[0].islower():
        return True
    dot = text.find(".", end.start(), end.end())
    if dot < 0:
        return False
    before = text[max(start, dot - LOOK_BACK_CHARS) : dot]
    if _CLOCK.search(before):
        return _OF_THE_CLOCK.match(text, end.end()) is not None
    if _ABBREVIATION.search(before) or _ORDINAL.search(before) or is_date_alone(text, start, dot):
        return True
    if following is not None and following[0].isdigit() and _NUMBER_SIGN.search(before):
        return True
    if dot - start <= ITEM_NUMBER_CHARS and _ITEM_NUMBER.fullmatch(text, start, dot):
        return True
    return splits_atom(text, end.end())


def _short_enough(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Cut a run-on (a table, a list without stops) at its lines, so that a quote stays readable."""
    if end - start <= MAX_CHARS:
        return [(start, end)]
    pieces, first = [], start
    while end - first > MAX_CHARS:
        newline = text.rfind("\n", first, first + MAX_CHARS) + 1
        last = newline if newline > first else stop_before(text, first, first + MAX_CHARS)
        pieces.append((first, last))
        first = last
    pieces.append((first, end))
    return pieces
