"""Read Org files: outlines of headings with lists, tables and source code.

Flow: file bytes -> **here** -> `markup.py` -> `Document`. Pure: a file that would be included is named by a line.

Drawers of properties and logs, comments and what says how an export looks are left out.
"""

import re
from collections.abc import Sequence

from index.documents.store import Document
from ingestion.reading import fields
from ingestion.reading.markup import Items, finished, next_line, table, unindented
from ingestion.reading.text import decode, one_line
from ingestion.reading.text_builder import TextBuilder

# Blocks in blocks beyond this are read as text.
MAX_NESTED = 20
_HEADING = re.compile(r"(\*+)[ \t]+(\S.*)$")
_TAGS = re.compile(r"(?<![ \t])[ \t]++:[\w@#%:]+:[ \t]*$")
_BLANK_LINE = re.compile(r"\n[ \t]*+\n")
_PRIORITY = re.compile(r"(?:^|(?<=\s))\[#\w\][ \t]*")
_KEYWORD = re.compile(r"[ \t]*#\+(\w[\w-]*)(?:\[[^\]]*\])?:[ \t]*(.*)$")
_BEGIN = re.compile(r"[ \t]*#\+begin_(\S+)[ \t]*(.*)$", re.I)
_DYNAMIC = re.compile(r"[ \t]*#\+(?:begin|end):", re.I)
_DRAWER = re.compile(r"[ \t]*:([\w-]+):[ \t]*$")
_ITEM = re.compile(r"([ \t]*)([-+]|[ \t]\*|\d{1,9}[.)]|[a-zA-Z][.)])(?:[ \t]+(.*)|)$")
_COUNTER = re.compile(r"\[@(\d{1,9})\][ \t]*")
_TERM = re.compile(r"(\S(?:.*?\S)??)[ \t]+::(?:[ \t]+(.*)|)$", re.S)
_FIXED = re.compile(r"[ \t]*:(?: (.*)|)$")
_COMMENT = re.compile(r"[ \t]*#(?:[ \t]|$)")
_RULE = re.compile(r"[ \t]*-{5,}[ \t]*$")
_ROW = re.compile(r"[ \t]*\|")
_WIDTH = re.compile(r"<[lrc]?\d{0,4}>|/|[<>]{0,2}")
_FOOTNOTE = re.compile(r"\[fn:([\w-]+)\][ \t]*(.*)$")
_ESCAPED = re.compile(r"^([ \t]*),(?=\*|,|#\+)", re.M)
_DROPPED = frozenset(("properties", "logbook"))
_CODE = frozenset(("src", "example", "export"))
_METADATA = frozenset(("author", "date", "language", "keywords", "description"))
# Marks stand between these, so that paths such as /usr/lib/ keep theirs.
_BEFORE, _AFTER = r"(?:(?<=[\s\-('\"{—])|^)", r"(?=[\s\-.,;:!?'\")}\[—…]|$)"
_INLINE = re.compile(
    r"\[\[(?P<target>[^\[\]]{1,2000})\](?:\[(?P<shown>[^\[\]]{1,2000})\])?\]"
    r"|\[fn:[\w-]{0,50}:[ ]?(?P<footnote>[^\[\]]{1,2000})\]"
    r"|\[fn:[\w-]{1,50}\]"
    r"|<<<?(?P<radio>[^<>\n]{1,200})>>>?"
    r"|@@[\w-]{1,30}:[^@\n]{0,500}@@"
    r"|src_[\w-]{1,30}(?:\[[^\]\n]{0,200}\])?\{(?P<source>[^{}\n]{0,500})\}"
    r"|\{\{\{[\w-]{1,50}(?:\((?P<arguments>[^()]{0,500})\))?\}\}\}"
    + "".join(
        rf"|{_BEFORE}{mark}(?P<{name}>\S(?:[^\n]{{0,300}}?\S)??){mark}{_AFTER}"
        for mark, name in (("=", "verbatim"), ("~", "code"))
    )
    + "".join(
        rf"|{_BEFORE}{mark}(?P<{name}>[^\s{mark}](?:[^{mark}]{{0,2000}}[^\s{mark}])?){mark}{_AFTER}"
        for mark, name in ((r"\*", "bold"), ("/", "italic"), ("_", "under"), (r"\+", "struck"))
    ),
    re.M,
)


def read_org(data: bytes, doc_id: str) -> Document:
    """Return the document; its title is `#+TITLE`, else its first heading, else the file's name.

    Raises:
        UnreadableError: no text, or binary data.
    """
    builder = TextBuilder()
    reader = _Reader(builder)
    reader.read(decode(data).replace("\r\n", "\n").split("\n"))
    return finished(builder, doc_id, _inline(" ".join(reader.titles)), fields.metadata(reader.metadata, without=()))


class _Reader:
    def __init__(self, builder: TextBuilder) -> None:
        self._builder = builder
        self._indents: list[int] = []  # of the lists that are open
        self._numbers: list[int] = []
        self.titles: list[str] = []
        self.metadata: dict[str, str] = {}
        # What has no end in these lines, so that its end is not looked for again and again.
        self._endless: set[str] = set()
        self._drawers_endless_before = 0

    def read(self, lines: Sequence[str], nested: int = 0) -> None:
        """Read blocks."""
        outer = self._endless, self._drawers_endless_before
        self._endless, self._drawers_endless_before = set(), 0
        place = 0
        while place < len(lines):
            place = self._block(lines, place, nested)
        self._endless, self._drawers_endless_before = outer

    def _block(self, lines: Sequence[str], place: int, nested: int) -> int:
        """Read what begins at a line; return the line behind it."""
        line = lines[place].rstrip()
        if not line or _COMMENT.match(line) or _RULE.match(line) or _DYNAMIC.match(line):
            return place + 1
        if found := _HEADING.match(line):
            self._end_lists()
            title = _PRIORITY.sub("", _TAGS.sub("", found[2]))
            self._builder.heading(_inline(title), len(found[1]))
            return place + 1
        if found := _BEGIN.match(line):
            return self._delimited(lines, place, found[1].lower(), found[2], nested)
        if found := _KEYWORD.match(line):
            self._keyword(found[1].lower(), found[2])
            return place + 1
        if found := _DRAWER.match(line):
            return self._drawer(lines, place, found[1].lower())
        if _FIXED.match(line):
            end = _run(lines, place, _FIXED)
            self._builder.code("\n".join(line.lstrip()[2:] for line in lines[place:end]))
            return end
        if _ROW.match(line):
            end = _run(lines, place, _ROW)
            self._table(lines[place:end])
            return end
        if found := _FOOTNOTE.match(line):
            self._end_lists()
            end, words = _words(lines, place, found[2])
            number = int(found[1][:9]) if found[1].isdecimal() else None
            Items(self._builder, 0, number, term="" if number else f"[{found[1]}]").paragraph(words)
            return end
        if found := _ITEM.match(line):
            return self._item(lines, place, found)
        return self._paragraph(lines, place)

    def _keyword(self, name: str, value: str) -> None:
        if name == "title":
            self.titles.append(value)
        elif name == "caption":
            self._builder.caption(_inline(value))
        elif name == "include":
            self._builder.pair("include", value.partition('" ')[0].strip('"'))
        elif name in _METADATA and value:
            self.metadata.setdefault(name, _inline(value))

    def _delimited(self, lines: Sequence[str], place: int, name: str, given: str, nested: int) -> int:
        last = f"#+end_{name}"
        found = range(place + 1, len(lines)) if last not in self._endless else ()
        end = next((at for at in found if lines[at].strip().lower() == last), None)
        if end is None:
            self._endless.add(last)
            return place + 1
        inner = lines[place + 1 : end]
        if name in _CODE:
            language = given.split(maxsplit=1)[0] if name == "src" and given and given[0] not in "-:" else ""
            self._builder.code(_ESCAPED.sub(r"\1", unindented(inner)), language)
        elif name == "quote":
            for paragraph in _BLANK_LINE.split("\n".join(inner)):
                self._builder.quote(one_line(_inline(paragraph)))
        elif name == "verse":
            self._builder.paragraph(_inline(unindented(inner)))
        elif name != "comment":
            if nested < MAX_NESTED:
                self.read(inner, nested + 1)
            else:
                self._builder.paragraph(one_line(" ".join(inner)))
        return end + 1

    def _drawer(self, lines: Sequence[str], place: int, name: str) -> int:
        """Pass over a drawer; of one that is not left out only the two marks."""
        if name not in _DROPPED or place < self._drawers_endless_before:
            return place + 1
        at = place + 1
        while at < len(lines) and not _HEADING.match(lines[at]):
            if lines[at].strip().lower() == ":end:":
                return at + 1
            at += 1
        self._drawers_endless_before = at
        return place + 1

    def _table(self, lines: Sequence[str]) -> None:
        rows: list[list[str]] = []
        headers = 0
        for line in lines:
            if line.strip().startswith("|-"):
                headers = headers or len(rows)
                continue
            cells = [one_line(_inline(cell.strip())) for cell in line.strip().strip("|").split("|")]
            if not all(_WIDTH.fullmatch(cell) for cell in cells):
                rows.append(cells)
        table(self._builder, rows, headers if headers < len(rows) else 0)

    def _item(self, lines: Sequence[str], place: int, found: re.Match[str]) -> int:
        indent, mark, text = _indent(lines[place]), found[2].strip(), found[3] or ""
        while self._indents and self._indents[-1] > indent:
            self._indents.pop()
            self._numbers.pop()
        if not self._indents or self._indents[-1] < indent:
            self._indents.append(indent)
            self._numbers.append(0)
        ordered = mark not in ("-", "+", "*")
        counter = _COUNTER.match(text)
        if counter:
            text = text[counter.end() :]
        given = counter[1] if counter else mark[:-1]
        self._numbers[-1] = int(given) if given.isdecimal() else self._numbers[-1] + 1
        end, words = _words(lines, place, text, indent)
        term = _TERM.match(text) if not ordered else None
        depth = len(self._indents) - 1
        if term is None:
            Items(self._builder, depth, self._numbers[-1] if ordered else None).paragraph(words)
            return end
        end, words = _words(lines, place, term[2] or "", indent)
        if not words:
            below = next_line(lines, end)
            if below < len(lines) and _indent(lines[below]) > indent and not _begins_block(lines[below]):
                end, words = _words(lines, below, lines[below].strip(), indent)
        item = Items(self._builder, depth, term=_inline(term[1]))
        item.paragraph(words)
        item.begin()
        return end

    def _paragraph(self, lines: Sequence[str], place: int) -> int:
        indent = _indent(lines[place])
        if self._indents and indent <= self._indents[0]:
            self._end_lists()
        end, words = _words(lines, place, lines[place].strip())
        self._builder.paragraph("\n".join(one_line(part) for part in re.split(r"\\\\[ \t]*\n", words)))
        return end

    def _end_lists(self) -> None:
        self._indents.clear()
        self._numbers.clear()


def _run(lines: Sequence[str], place: int, pattern: re.Pattern[str]) -> int:
    while place < len(lines) and pattern.match(lines[place].rstrip()):
        place += 1
    return place


def _indent(line: str) -> int:
    return len(line[: len(line) - len(line.lstrip())].expandtabs(8))


def _begins_block(line: str) -> bool:
    begins = (_HEADING, _BEGIN, _KEYWORD, _DRAWER, _FIXED, _ROW, _ITEM, _COMMENT)
    return any(pattern.match(line) for pattern in begins)


def _words(lines: Sequence[str], place: int, first: str, indent: int = -1) -> tuple[int, str]:
    """Return the line behind a paragraph, and its words; those of an item stand deeper than its mark."""
    end = place + 1
    parts = [first]
    while end < len(lines) and (line := lines[end].rstrip()):
        if _begins_block(line) or _indent(line) <= indent:
            break
        parts.append(line.strip())
        end += 1
    return end, _inline("\n".join(parts))


def _inline(text: str, depth: int = 0) -> str:
    """Return the words of a text, without what says how they look and where they lead."""

    def shown(found: re.Match[str]) -> str:
        kind = found.lastgroup
        if kind is None:
            return ""
        value = found[kind]
        if kind == "target":
            return re.sub(r"^(?:(?:file|id|info|denote|attachment):|[*#])", "", value)
        if kind in ("verbatim", "code", "source", "arguments"):
            return value
        words = _inline(value, depth + 1) if depth < MAX_NESTED else value
        return f" ({words})" if kind == "footnote" else words

    return _INLINE.sub(shown, text)
