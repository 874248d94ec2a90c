"""Write the body of a mail block by block: the new text, the quoted thread, the signature.

Flow: `mail.py`, `msg.py` -> **here** -> blocks in a `TextBuilder`. Pure; linear in the body's length.

A thread is quoted in three ways: behind `>`; below a line such as "On 3 May Ann wrote:"; below the headers of the mail
that is answered, as Outlook does it. The last two reach to the end. Quotations get `> ` in all three.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from errors import UnreadableError
from ingestion.reading.html import read_html, read_html_lines
from ingestion.reading.text import clean
from ingestion.reading.text_builder import TextBuilder

# The main text of a page is taken for the whole if it has such a share of its words; a mail has no menus to leave out.
MAIN_TEXT_SHARE = 0.98
# Lines of a wrapped attribution, at most, and how near the headers of a forwarded mail stand to its first one.
ATTRIBUTION_LINES = 3
HEADER_LINES = 6
ATTRIBUTION_CHARS = 300
_MARKS = re.compile(r"(?:[ \t]?>)+[ \t]?")
_ATTRIBUTION = re.compile(
    r"(?:On|Am|Le|El|Il|Op|Em|Den|På|W dniu)\b.*\d.*"
    r"\b(?:wrote|schrieb\b.*|a écrit|escribió|ha scritto|schreef\b.*|escreveu|skrev\b.*|napisał\(?a?\)?)\s*:"
)
# Before a quotation behind `>` the name of whom is quoted suffices.
_WRITES = re.compile(r".{0,200}\b(?:wrote|writes|schrieb|a écrit|escribió|ha scritto|schreef|skrev|said)\s*:")
_RULE = re.compile(r"\s*-{3,}\s*[^\W\d_][^-\n]{5,60}\s*-{3,}\s*|_{20,}|Begin forwarded message:")
_HEADER = re.compile(r"\s*\**[^\W\d_][\w -]{1,20}\**\s?:\**(?:\s|$)")
_FROM = re.compile(r"\s*\**(?:From|Von|De|Da|Van|Från|Fra|Od)\**\s?:\**\s*\S")
_SUBJECT = re.compile(r"\s*\**(?:Subject|Betreff|Objet|Asunto|Oggetto|Onderwerp|Assunto|Ämne|Emne|Temat)\**\s?:")
_WORD = re.compile(r"\w+")
_SIGNATURE = "-- "


class Piece(NamedTuple):
    """Lines of a body that belong together; `depth` is of a quotation, 0 is the outermost."""

    kind: Literal["text", "quote", "signature"]
    text: str
    depth: int = 0


def add_body(builder: TextBuilder, text: str) -> None:
    """Add a body of plain text; quotations become a block a paragraph."""
    for piece in pieces(clean(text)):
        match piece.kind:
            case "quote":
                for paragraph in re.split(r"\n[ \t]*(?:\n[ \t]*)+", piece.text):
                    builder.quote(paragraph, depth=piece.depth)
            case "signature":
                builder.paragraph(piece.text)
            case _:
                builder.plain(piece.text)


def text_of_html(html: str) -> str:
    """Return the text of an HTML body: with tables and lists as such if nothing gets lost by that, else line by line.

    It is empty if there is none.
    """
    data = html.encode("utf-8-sig", errors="replace")
    try:
        every = read_html_lines(data, "mail").text
    except UnreadableError:
        return ""
    try:
        main = read_html(data, "mail").text
    except UnreadableError:
        main = ""
    whole = len(_WORD.findall(main)) >= MAIN_TEXT_SHARE * len(_WORD.findall(every))
    return main if whole else every.replace("\n", "\n\n")


def unflowed(text: str, *, drop_spaces: bool) -> str:
    """Join the lines of a body sent as `format=flowed` (RFC 3676): one that ends with a space goes on in the next.

    Args:
        text: as it was sent.
        drop_spaces: the space at the end is not part of the text.
    """
    found: list[list[str]] = []
    goes_on = None  # the depth of the quotation that the last line goes on in
    for line in text.splitlines():
        words = line.lstrip(">")
        depth = len(line) - len(words)
        words = words.removeprefix(" ")
        if words == _SIGNATURE or goes_on != depth:
            found.append([f"{'>' * depth} "] if depth else [])
        goes_on = depth if words.endswith(" ") and words != _SIGNATURE else None
        found[-1].append(words[:-1] if drop_spaces and goes_on is not None else words)
    return "\n".join(map("".join, found))


def pieces(text: str) -> Iterator[Piece]:
    """Yield what a body consists of, in order.

    Args:
        text: cleaned.
    """
    lines = text.split("\n")
    held: list[str] = []
    kind: Literal["text", "quote", "signature"] = "text"
    depth = place = 0
    while place < len(lines):
        line = lines[place]
        marks = _MARKS.match(line)
        attribution = 0 if marks else _attribution(lines, place)
        if not marks and (attribution or _begins_thread(lines, place)):
            yield from _piece(kind, held, depth)
            after = _next_words(lines, place + attribution)
            if not attribution or not _MARKS.match(after):
                yield Piece("quote", "\n".join(_unmarked(line) for line in lines[place:]))
                return
            # Who is quoted belongs to what follows.
            yield Piece("quote", "\n".join(lines[place : place + attribution]))
            kind, held, depth = "quote", [], 0
            place += attribution
            continue
        level = marks[0].count(">") - 1 if marks else 0
        now: Literal["text", "quote", "signature"]
        if marks:
            now = "quote"
        elif line == "--" or (kind == "signature" and held):
            now = "signature"
        else:
            now = "text"
        if (now, level) != (kind, depth):
            yield from _piece(kind, held, depth)
            kind, held, depth = now, [], level
        held.append(line[marks.end() :] if marks else line)
        place += 1
    yield from _piece(kind, held, depth)


def _piece(kind: Literal["text", "quote", "signature"], lines: Sequence[str], depth: int) -> Iterator[Piece]:
    text = "\n".join(lines).strip("\n")
    if text.strip():
        yield Piece(kind, text, depth)


def _unmarked(line: str) -> str:
    marks = _MARKS.match(line)
    return line[marks.end() :] if marks else line


def _attribution(lines: Sequence[str], place: int) -> int:
    """Return over how many lines it is said here who wrote what follows; 0 if it is not."""
    joined = ""
    for count, line in enumerate(lines[place : place + ATTRIBUTION_LINES], 1):
        if not line.strip() or len(joined) + len(line) > ATTRIBUTION_CHARS:
            return 0
        joined = f"{joined} {line.strip()}".strip()
        if not joined.endswith(":"):
            continue
        if _ATTRIBUTION.fullmatch(joined):
            return count
        after = lines[place + count] if place + count < len(lines) else ""
        return count if count == 1 and _WRITES.fullmatch(joined) and _MARKS.match(after) else 0
    return 0


def _begins_thread(lines: Sequence[str], place: int) -> bool:
    """Whether the mail that is answered or passed on stands from here to the end."""
    line = lines[place]
    if _RULE.fullmatch(line):
        return bool(_HEADER.match(_next_words(lines, place + 1)))
    if not _FROM.match(line):
        return False
    near = [one for one in lines[place + 1 : place + 2 * HEADER_LINES] if one.strip()][:HEADER_LINES]
    return any(map(_SUBJECT.match, near)) and bool(near) and bool(_HEADER.match(near[0]))


def _next_words(lines: Sequence[str], place: int) -> str:
    """Return the first line from here that is not blank, of the next few."""
    return next((line for line in lines[place : place + ATTRIBUTION_LINES] if line.strip()), "")
