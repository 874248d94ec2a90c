"""Find what of an answer no source holds: figures, versions, dates, flags, paths, names, addresses, quoted words.

Flow: a language model's whole answer (`generative.py`) -> **here** -> `Done.unsupported`, which views mark. Only what
can be compared letter by letter is; what sentences mean is not judged, and nothing is taken away. Pure.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator

from index.plain_letters import plain_letters
from query_engine.schema.events import Unsupported
from query_engine.text.spelt_numbers import SPELT_NUMBERS
from query_engine.text.words import MARK

_EXACT = re.compile(
    r"(?P<address>https?://[^\s<>()\[\]`\"'|]+|(?<![\w.+-])[\w.+-]++@[\w-]+(?:\.[\w-]+)+)"
    r"|(?P<quoted>“[^”\n]{3,200}”|«[^»\n]{3,200}»|(?<!\w)\"[^\"\n]{3,200}\"(?!\w))"
    r"|(?P<flag>(?<![\w-])--?[A-Za-z][\w-]*)"
    r"|(?P<path>(?<![\w/.:<])(?:~|\.{1,2})?/[\w.@-]+(?:/[\w.@-]+)*)"
    r"|(?P<name>(?<![\w-])(?:[A-Za-z]\w*_\w+|[a-z]+[A-Z]\w*|[A-Z]{2,}\d+\w*)(?!\w))"
    r"|(?P<figure>(?<![\w.])\d+(?:[.,:/×–-]?\d+)*(?![\w]))"
)
_ORDINAL = re.compile(r"[ \t]*(?:#{1,6} )?\d{1,3}[.)][ \t]")
_THOUSANDS = re.compile(r"(?<=\d)[,'’\u202f\u00a0 ](?=\d{3}(?!\d))")
_DATE = re.compile(r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}")
# Grouped and divided as on the Continent.
_CONTINENTAL = re.compile(r"\d{1,3}(?:\.\d{3})+(?:,\d+)?")
# Names and flags stand whole between other characters.
_WORD = re.compile(r"[\w-]+")
_DIGITS = re.compile(r"\d+")
# Smaller ones count steps, items and options as often as they quote.
LEAST_FIGURE = 3


class Held:
    """What sources and question say, in the form in which it is compared."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._text = _folded("\n".join(texts))
        self._words = frozenset(_WORD.findall(self._text))
        self._figures = {_figure(found[0]) for found in _EXACT.finditer(self._text) if found.lastgroup == "figure"}
        self._figures |= {_figure(found) for found in re.findall(r"\d+(?:[.,]\d+)*", self._text)}
        self._numbers = {found.lstrip("0") or "0" for found in _DIGITS.findall(self._text)}
        self._numbers |= {str(SPELT_NUMBERS[word]) for word in self._text.split() if word in SPELT_NUMBERS}

    def has(self, kind: str, text: str) -> bool:
        """Say whether it is there, at the bounds of words."""
        folded = _folded(text)
        match kind:
            case "figure" if _figure(folded) in self._figures:
                return True
            case "figure":
                # A date may be written otherwise: each of its numbers is there.
                may_be_date = _DATE.fullmatch(folded) is not None or folded.isdigit()
                numbers = {number.lstrip("0") or "0" for number in _DIGITS.findall(folded)}
                return may_be_date and numbers <= self._numbers
            case "quoted":
                return folded.strip('“”«»" .,;:!?…') in self._text
            case "address" | "path":
                return folded.rstrip("/.,;:") in self._text
            case _:
                return folded in self._words


def unsupported(answer: str, held: Held) -> tuple[Unsupported, ...]:
    """Return what no source holds, in the order of the answer."""
    return tuple(
        Unsupported(start, end, answer[start:end])
        for kind, start, end in _facts(answer)
        if not held.has(kind, answer[start:end])
    )


def found_again(texts: Iterable[str], answer: str) -> tuple[Unsupported, ...]:
    """Return where texts that no source holds stand in an answer that was put together from others."""
    places = ((answer.find(text), text) for text in dict.fromkeys(texts))
    return tuple(Unsupported(start, start + len(text), text) for start, text in sorted(places) if start >= 0)


def _facts(answer: str) -> Iterator[tuple[str, int, int]]:
    """Yield kind and place of what can be compared; citation marks and numbers of lists are not of the answer."""
    blank = MARK.sub(lambda mark: " " * len(mark[0]), answer)
    position = 0
    for line in blank.splitlines(keepends=True):
        ordinal = _ORDINAL.match(line)
        for found in _EXACT.finditer(line, ordinal.end() if ordinal else 0):
            kind = found.lastgroup or ""
            end = (
                found.end() - (len(found[0]) - len(found[0].rstrip(".,;:")))
                if kind in {"address", "path"}
                else found.end()
            )
            if kind == "figure" and found[0].isdigit() and int(found[0]) < LEAST_FIGURE:
                continue
            yield kind, position + found.start(), position + end
        position += len(line)


def _folded(text: str) -> str:
    text = unicodedata.normalize("NFKC", plain_letters(text)).casefold().replace("’", "'")
    return " ".join(_THOUSANDS.sub("", text).split())


def _figure(text: str) -> str:
    """Return a number with a decimal point and without groups."""
    if "," in text and _CONTINENTAL.fullmatch(text):
        text = text.replace(".", "")
    return re.sub(r",(?=\d{1,2}(?!\d))", ".", text)
