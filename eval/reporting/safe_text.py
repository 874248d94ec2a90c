"""Cut texts of others into pieces that can be shown as they are: marks, bold words, quoted spans, nothing else.

Flow: answers and passages -> **here** -> the templates, which escape every piece. Pure.

All output of models and documents is text. Characters that steer a terminal or turn the direction of a line around
are shown by name, because what is read must be what stands there; Arabic and Hebrew are shown as they are.
"""

import re
from collections.abc import Container, Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

# C0 and C1 without tab and line feed, marks and overrides of direction, soft and zero-width characters, surrogates
_HIDDEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)
_MARKS = re.compile(r"(\[\d{1,4}\]|\*\*)")


@dataclass(frozen=True, slots=True)
class Piece:
    """Some characters that look the same.

    Attributes:
        kind: `text`; `mark`: a citation mark; `stray`: a mark without a citation; `quoted`: cited by the answer.
        number: of the citation, for marks.
    """

    text: str
    kind: str = "text"
    bold: bool = False
    number: int = 0


def plain(text: str) -> str:
    """Return the text with its control characters shown by name and its line ends as line feeds."""
    return _HIDDEN.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", text.replace("\r\n", "\n"))


def shorten(text: str, limit_chars: int) -> tuple[str, int]:
    """Return at most this much of the beginning, and how many characters were left out."""
    return text[:limit_chars], max(0, len(text) - limit_chars)


def answer_pieces(answer: str, numbers: Container[int]) -> list[Piece]:
    """Cut an answer at its `[n]` marks and its bold signs; a bold sign without its counterpart is text.

    Args:
        answer: what the service wrote.
        numbers: of the citations that there are.
    """
    parts = _MARKS.split(plain(answer))
    last_open = parts.count("**") % 2 and len(parts) - 1 - parts[::-1].index("**")
    pieces, bold = list[Piece](), False
    for place, part in enumerate(parts):
        if part == "**" and place != last_open:
            bold = not bold
        elif place % 2 and part != "**":
            number = int(part[1:-1])
            pieces.append(Piece(part, "mark" if number in numbers else "stray", bold, number))
        elif part:
            pieces.append(Piece(part, bold=bold))
    return pieces


def passage_pieces(text: str, spans: Iterable[tuple[int, int]]) -> list[Piece]:
    """Cut a passage at the spans that the answer quotes; spans may overlap and reach beyond the text."""
    pieces, at = list[Piece](), 0
    for start, end in sorted(spans):
        first, last = max(start, at), min(end, len(text))
        if last <= first:
            continue
        pieces += [Piece(plain(text[at:first])), Piece(plain(text[first:last]), "quoted")]
        at = last
    pieces.append(Piece(plain(text[at:])))
    return [piece for piece in pieces if piece.text]


def web_link(url: str | None) -> str | None:
    """Return the address if it leads to a web page, else None: other schemes run things."""
    if not url or _HIDDEN.search(url):
        return None
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    return url if parts.scheme in ("http", "https") and parts.netloc else None
