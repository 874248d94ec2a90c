"""Read Rich Text Format: headings, paragraphs, lists, tables and footnotes in the order in which they stand.

Flow: file bytes -> **here** -> `TextBuilder` -> `Document`. Pure; linear in the file's length, and without recursion.

Headers, footers, pictures, comments, hidden and deleted text, and tables of contents are left out. A footnote stands
behind the block that refers to it.
"""

import codecs
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal

from errors import UnreadableError
from index.documents.store import Document
from ingestion.reading.marks import lowered, raised
from ingestion.reading.markup import finished
from ingestion.reading.office.package import signed
from ingestion.reading.office.tables import add_table, split_names
from ingestion.reading.office.trailing import Trailing
from ingestion.reading.text import one_line
from ingestion.reading.text_builder import TextBuilder
from ingestion.reading.titles import own_title

_TOKEN = re.compile(
    rb"\\(?P<word>[A-Za-z]{1,40}+)(?P<number>-?\d{1,9})?+ ?|\\'(?P<hex>[0-9A-Fa-f]{2})|\\(?P<symbol>[^A-Za-z'])"
    rb"|(?P<brace>[{}])|(?P<text>[^\\{}\r\n]++)|[\r\n]+|(?P<stray>\\'?)",
    re.DOTALL,
)
# A group that begins with one of these holds no text of the document.
_LEFT_OUT = frozenset(
    b"colortbl pict header headerl headerr headerf footer footerl footerr footerf objdata themedata colorschememapping"
    b" latentstyles datastore generator listtable listoverridetable revtbl xmlnstbl rsidtbl fldinst bkmkstart bkmkend"
    b" datafield filetbl nonshppict annotation atnid atnauthor atndate atnicn atnref private xe tc sp nesttableprops"
    b" objclass objname pgdsctbl mmathPr userprops do operator company comment doccomm hlinkbase keywords subject"
    b" category manager creatim revtim printim buptim".split()
)
# Groups for newer readers, whose mark says that others may pass over them, and which hold text.
_STARRED_TEXT = frozenset((b"shpinst", b"shppict", b"footnote"))
_CHARACTERS = {
    b"tab": "\t", b"line": "\n", b"lbr": "\n", b"emdash": "—", b"endash": "–", b"bullet": "•", b"lquote": "‘",
    b"rquote": "’", b"ldblquote": "“", b"rdblquote": "”", b"emspace": " ", b"enspace": " ", b"nestcell": " ",
}  # fmt: skip
_SYMBOLS = {b"~": " ", b"_": "-", b"{": "{", b"}": "}", b"\\": "\\", b"\t": "\t"}
_CODECS = {
    0: "cp1252", 77: "mac_roman", 128: "cp932", 129: "cp949", 130: "johab", 134: "gbk", 136: "cp950", 161: "cp1253",
    162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874",
    238: "cp1250", 255: "cp437",
}  # fmt: skip
_PLACES: dict[bytes, Callable[[str], str]] = {
    b"super": raised, b"sub": lowered, b"nosupersub": str, b"up": raised, b"dn": lowered,
}  # fmt: skip
_ORDERED = re.compile(r"\(?(\d{1,6})[.)]?")
_CLAUSE = re.compile(r"\d{1,4}(?:\.\d{1,4})+\.?")
_MAX_DEPTH = 10_000

_Into = Literal["body", "label", "style", "font", "title", "author", "note"]


@dataclass(slots=True)
class _Group:
    """What holds inside the braces: formatting, and where text goes; None if it is left out."""

    into: _Into | None = "body"
    codec: str = "cp1252"
    fallback: int = 1  # characters that stand for one of Unicode, for old readers
    hidden: bool = False
    bold: bool = False
    placed: Callable[[str], str] = str  # raises or lowers


@dataclass(slots=True)
class _Style:
    name: str = ""
    level: int | None = None


@dataclass(slots=True)
class _Cell:
    text: str
    bold: bool


@dataclass(slots=True)
class _Row:
    cells: list[_Cell] = field(default_factory=list)
    is_header: bool = False


@dataclass(slots=True)
class _Paragraph:
    """Formatting of the paragraph, which holds until it is set back."""

    style: int | None = None
    level: int | None = None
    depth: int = 0
    in_table: bool = False


def read_rtf(data: bytes, doc_id: str) -> Document:
    """Return the document; its title is the one in its properties, else its first heading, else the file's name.

    Raises:
        UnreadableError: no such file, nested too deeply, or without text.
    """
    if not data.lstrip().startswith(b"{\\rtf"):
        raise UnreadableError("This is not an RTF document, or a damaged one.", "Open it and save it again.")
    walk = _Walk()
    walk.read(data)
    return finished(walk.builder, doc_id, own_title(walk.title), signed(walk.author), title_of=own_title)


class _Walk:
    def __init__(self) -> None:
        self.builder = TextBuilder()
        self.title = self.author = ""
        self._group = _Group()
        self._stack: list[_Group] = []
        self._default_codec = "cp1252"
        self._fonts: dict[int, str] = {}
        self._font = 0
        self._styles: dict[int, _Style] = {}
        self._style = _Style()
        self._bytes = bytearray()
        self._codec = "cp1252"
        self._to_skip = 0
        self._text: list[str] = []
        self._plain = False  # some text of the cell is not bold
        self._label = ""
        self._note: list[str] = []
        self._trailing = Trailing(self.builder)
        self._paragraph = _Paragraph()
        self._cell: list[str] = []
        self._row = _Row()
        self._definitions: list[tuple[int, bool, bool]] = []  # right edge, goes on from the left, goes on from above
        self._merge = [False, False]
        self._above: dict[int, _Cell] = {}
        self._rows: list[_Row] = []

    def read(self, data: bytes) -> None:
        """Read the whole file."""
        place, starred = 0, False
        while match := _TOKEN.match(data, place):
            place = match.end()
            if word := match["word"]:
                number = int(match["number"]) if match["number"] else None
                if word == b"bin":
                    place += max(number or 0, 0)
                else:
                    self._word(word, number, starred=starred)
                starred = False
            elif match["hex"]:
                self._add_bytes(bytes.fromhex(match["hex"].decode()), is_one=True)
            elif match["brace"] == b"{":
                self._open()
            elif match["brace"]:
                self._close()
            elif match["text"]:
                self._add_bytes(match["text"])
            elif symbol := match["symbol"]:
                starred = symbol == b"*"
                self._symbol(symbol)
        self._end_paragraph()
        self._end_table()

    def _open(self) -> None:
        if len(self._stack) > _MAX_DEPTH:
            raise UnreadableError("The RTF document is nested too deeply.", "Open it and save it again.")
        self._flush()
        self._to_skip = 0
        self._stack.append(self._group)
        self._group = replace(self._group)

    def _close(self) -> None:
        self._flush()
        self._to_skip = 0
        closed = self._group
        if self._stack:
            self._group = self._stack.pop()
        if closed.into == "note" != self._group.into:
            self._trailing.note(one_line("".join(self._note)), at_end=False)
            self._note = []
        elif closed.into == "style" and self._style.name.endswith(";"):
            self._style.name = self._style.name.rstrip(";").strip().casefold()

    def _symbol(self, symbol: bytes) -> None:
        if symbol in b"\r\n":
            self._word(b"par", None, starred=False)
        elif text := _SYMBOLS.get(symbol):
            self._add(text)

    def _word(self, word: bytes, number: int | None, *, starred: bool) -> None:
        group = self._group
        if word in _LEFT_OUT or (starred and word not in _STARRED_TEXT):
            self._flush()
            group.into = None
        elif group.into is None:
            return
        elif word in _CHARACTERS:
            self._add(_CHARACTERS[word])
        elif word == b"u" and number is not None:
            self._add(_character(number))
            self._to_skip = group.fallback
        elif word == b"uc":
            group.fallback = min(max(number or 0, 0), 100)
        elif not self._begins(word, number) and not self._formats(word, number):
            self._lays_out(word, number)

    def _begins(self, word: bytes, number: int | None) -> bool:
        """Obey the words that say where text goes; tell whether this is one."""
        into: dict[bytes, _Into] = {
            b"fonttbl": "font", b"stylesheet": "style", b"title": "title", b"author": "author", b"footnote": "note",
            b"listtext": "label", b"pntext": "label",
        }  # fmt: skip
        if word in into:
            self._flush()
            self._group.into = into[word]
            if into[word] == "label":
                self._label = ""
        elif word == b"info":
            self._group.into = None if self._group.into is None else "body"
        elif word == b"ansicpg" and number:
            self._default_codec = self._group.codec = _codec(f"cp{number}")
        elif word == b"mac":
            self._default_codec = self._group.codec = "mac_roman"
        elif word in {b"f", b"fcharset"}:
            self._set_font(word, number or 0)
        else:
            return False
        return True

    def _set_font(self, word: bytes, number: int) -> None:
        self._flush()
        if self._group.into == "font":
            if word == b"f":
                self._font = number
            else:
                self._fonts[self._font] = self._default_codec if number == 1 else _CODECS.get(number, "cp1252")
        elif word == b"f":
            self._group.codec = self._fonts.get(number, self._default_codec)

    def _formats(self, word: bytes, number: int | None) -> bool:
        """Obey the words that format what follows; tell whether this is one."""
        group = self._group
        match word:
            case b"v" | b"deleted":
                self._flush()
                group.hidden = number != 0
            case b"b":
                self._flush()
                group.bold = number != 0
            case b"super" | b"sub" | b"nosupersub" | b"up" | b"dn":
                self._flush()
                group.placed = str if number == 0 else _PLACES[word]
            case b"plain":
                self._flush()
                group.hidden = group.bold = False
                group.placed = str
            case _ if group.into == "style":
                return self._defines_style(word, number)
            case _ if group.into == "body":
                return self._formats_paragraph(word, number)
            case _:
                return False
        return True

    def _defines_style(self, word: bytes, number: int | None) -> bool:
        match word:
            case b"s":
                self._style = self._styles.setdefault(number or 0, _Style())
            case b"outlinelevel":
                self._style.level = number
            case _:
                return False
        return True

    def _formats_paragraph(self, word: bytes, number: int | None) -> bool:
        paragraph = self._paragraph
        match word:
            case b"pard":
                self._paragraph = _Paragraph()
            case b"s":
                paragraph.style = number
            case b"outlinelevel":
                paragraph.level = number
            case b"ilvl":
                paragraph.depth = number or 0
            case b"intbl":
                paragraph.in_table = True
            case _:
                return False
        return True

    def _lays_out(self, word: bytes, number: int | None) -> None:
        """Obey the words that end a paragraph, a cell or a row, or describe a row."""
        if self._group.into == "note" and word in {b"par", b"sect", b"page"}:
            self._add(" ")
        if self._group.into != "body":
            return
        match word:
            case b"par" | b"sect" | b"page":
                self._end_paragraph()
            case b"cell":
                self._end_cell()
            case b"row":
                self._end_row()
            case _:
                self._describes_row(word, number)

    def _describes_row(self, word: bytes, number: int | None) -> None:
        match word:
            case b"trowd":
                self._definitions = []
                self._merge = [False, False]
                self._row.is_header = False
            case b"trhdr":
                self._row.is_header = True
            case b"clmrg":
                self._merge[0] = True
            case b"clvmrg":
                self._merge[1] = True
            case b"cellx":
                self._definitions.append((number or 0, self._merge[0], self._merge[1]))
                self._merge = [False, False]

    def _add_bytes(self, data: bytes, *, is_one: bool = False) -> None:
        if self._to_skip:
            skipped = 1 if is_one else min(self._to_skip, len(data))
            self._to_skip -= skipped
            data = data[skipped:]
        if self._group.into is not None and data:
            if self._codec != self._group.codec:
                self._flush()
                self._codec = self._group.codec
            self._bytes += data

    def _flush(self) -> None:
        if self._bytes:
            text = self._bytes.decode(self._codec, errors="replace")
            self._bytes.clear()
            self._put(text)

    def _add(self, text: str) -> None:
        if self._to_skip:
            self._to_skip -= 1
            return
        self._flush()
        self._put(text)

    def _put(self, text: str) -> None:
        match self._group.into:
            case "body" if not self._group.hidden:
                self._text.append(self._group.placed(text))
                self._plain |= bool(text.strip()) and not self._group.bold
            case "note" if not self._group.hidden:
                self._note.append(self._group.placed(text))
            case "label":
                self._label += text
            case "style":
                self._style.name += text
            case "title":
                self.title += text
            case "author":
                self.author += text

    def _taken(self) -> str:
        self._flush()
        # Characters outside the first plane come as two halves.
        text = "".join(self._text).encode("utf-16", errors="surrogatepass").decode("utf-16", errors="replace")
        self._text = []
        return text

    def _end_paragraph(self) -> None:
        text = self._taken()
        label, self._label = one_line(self._label), ""
        if self._paragraph.in_table:
            self._cell.append(f"{label} {text}".strip())
            return
        self._plain = False
        if not text.strip():
            return
        self._end_table()
        style = self._styles.get(self._paragraph.style or 0, _Style())
        level = _level(self._paragraph, style)
        if style.name.startswith("toc ") or style.name.startswith("contents "):
            return
        ordered = _ORDERED.fullmatch(label)
        if level is not None:
            self.builder.heading(f"{label} {text}", level)
        elif style.name == "caption":
            self.builder.caption(text)
        elif _CLAUSE.fullmatch(label):
            self.builder.paragraph(f"{label} {text}")
        elif label:
            mark = "" if ordered or not re.search(r"\w", label) or label == "o" else f"{label} "
            number = int(ordered[1]) if ordered else None
            self.builder.item(mark + text, depth=self._paragraph.depth, number=number)
        else:
            self.builder.paragraph(text)
        self._trailing.end_block()

    def _end_cell(self) -> None:
        self._paragraph.in_table = True
        self._end_paragraph()
        place = len(self._row.cells)
        cell = _Cell(" ".join(filter(None, map(one_line, self._cell))), bold=not self._plain)
        self._cell, self._plain = [], False
        if place < len(self._definitions):
            edge, from_left, from_above = self._definitions[place]
            if from_left and self._row.cells:
                cell = self._row.cells[-1]
            elif from_above and edge in self._above:
                cell = self._above[edge]
            self._above[edge] = cell
        self._row.cells.append(cell)

    def _end_row(self) -> None:
        if self._row.cells:
            self._rows.append(self._row)
        self._row = _Row(is_header=self._row.is_header)

    def _end_table(self) -> None:
        rows, self._rows = self._rows, []
        if self._cell or self._row.cells:  # a row that never ends
            self._end_cell()
            rows.append(self._row)
        self._row, self._above = _Row(), {}
        if not rows:
            return
        if max(len(row.cells) for row in rows) == 1:
            for row in rows:
                self.builder.paragraph(row.cells[0].text)
        else:
            headed = len(rows) > 1 and (rows[0].is_header or _is_bold(rows[0])) and not _is_bold(rows[1])
            texts = [[cell.text for cell in row.cells] for row in rows]
            add_table(self.builder, *split_names(texts, int(headed)))
        self._trailing.end_block()


def _level(paragraph: _Paragraph, style: _Style) -> int | None:
    """Return the level of a heading, from 1; None for text."""
    level = paragraph.level if paragraph.level is not None else style.level
    if level is not None and 0 <= level < 9:
        return level + 1
    if style.name == "title":
        return 1
    match = re.fullmatch(r"heading (\d)", style.name)
    return int(match[1]) if match else None


def _is_bold(row: _Row) -> bool:
    cells = [cell for cell in row.cells if cell.text]
    return bool(cells) and all(cell.bold for cell in cells)


def _character(number: int) -> str:
    return chr(number % 0x10000) if number < 0x10000 else chr(min(number, 0x10FFFF))


def _codec(name: str) -> str:
    try:
        return codecs.lookup("utf-8" if name == "cp65001" else name).name
    except LookupError:
        return "cp1252"
