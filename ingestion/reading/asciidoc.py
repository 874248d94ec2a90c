"""Read AsciiDoc: sections, lists, tables, source code, admonitions.

Flow: file bytes -> **here** -> `markup.py` -> `Document`. Pure: a file that would be included is named by a line.

Read line by line. Attributes that the file defines are filled in; of conditional text all branches are kept.
"""

import csv
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from index.documents.store import Document
from ingestion.reading.marks import lowered, raised
from ingestion.reading.markup import Grid, Items, finished, next_line, table, unindented
from ingestion.reading.text import decode, one_line
from ingestion.reading.text_builder import TextBuilder

# Blocks in blocks beyond this are read as text.
MAX_NESTED = 20
MAX_VALUE_CHARS = 1000
# Attributes stand for so much text in a file, at most: those that stand for others could grow without end.
MAX_FILLED_CHARS = 1_000_000
_ATTRIBUTE = re.compile(r":(!?\w[\w-]*!?):(?:[ \t]+(.*))?$")
_CONDITION = re.compile(r"(?:ifdef|ifndef|ifeval|endif)::([^\[]*)\[(.*)\]$")
_MACRO = re.compile(r"([a-z][\w-]*)::(\S[^\[]*|)\[(.*)\]$")
_SECTION = re.compile(r"(={1,6}|#{1,6})[ \t]+(\S.*)$")
_UNDERLINES = {"=": 1, "-": 2, "~": 3, "^": 4, "+": 5}
_UNDERLINE = re.compile(r"(={3,}|-{3,}|~{3,}|\^{3,}|\+{3,})$")
_DELIMITER = re.compile(r"(-{4,}|\.{4,}|={4,}|\*{4,}|_{4,}|\+{4,}|/{4,}|--|```\S*|[|,:!]={3,})$")
_BLOCK_STYLE = re.compile(r"\[(?!\[)([^\]]*(?:\][^\]]+)*)\]$")
_ANCHOR = re.compile(r"\[\[[^\]]*\]\]$")
_TITLE = re.compile(r"\.(?![.\s])(.+)$")
_BULLET = re.compile(r"[ \t]*(\*{1,8}|-|•)[ \t]+(\S.*)$")
_ORDERED = re.compile(r"[ \t]*(\.{1,8}|\d{1,9}\.|[a-zA-Z]\.|[ivxIVX]{1,6}\))[ \t]+(\S.*)$")
_TERM = re.compile(r"[ \t]*(\S(?:.*?\S)??)(:{2,4}|;;)(?:[ \t]+(.*))?$")
_CALLOUT = re.compile(r"<(\d{1,4}|\.)>[ \t]+(.*)$")
_LINE_END = re.compile(r"[ \t]\+[ \t]*(?:\n|$)")
_CHECKBOX = re.compile(r"\[([ xX*])\][ \t]+")
_RULES = frozenset(("'''", "---", "***", "<<<", "- - -", "* * *"))
_ADMONITION = re.compile(r"(NOTE|TIP|IMPORTANT|WARNING|CAUTION):[ \t]+(.*)$", re.S)
_ADMONITIONS = frozenset(("NOTE", "TIP", "IMPORTANT", "WARNING", "CAUTION"))
_CODE_STYLES = frozenset(
    ("source", "listing", "literal", "stem", "latexmath", "asciimath", "mermaid", "plantuml", "ditaa", "synopsis")
)
_BAR = re.compile(r"(?:^|(?<=\s))((?:\d+\*)?(?:\d*(?:\.\d+)?\+)?[<^>]?(?:\.[<^>])?[aehlmsdv]?)(?<!\\)\||(?<!\\)\|")
_SPAN = re.compile(r"(?:(\d+)\*)?(?:(\d*)(?:\.(\d+))?\+)?")
_CHARACTERS = {
    "nbsp": " ", "sp": " ", "space": " ", "empty": "", "blank": "", "zwsp": "", "wj": "", "plus": "+", "asterisk": "*",
    "lt": "<", "gt": ">", "amp": "&", "apos": "'", "quot": '"', "startsb": "[", "endsb": "]", "vbar": "|", "caret": "^",
    "tilde": "~", "backslash": "\\", "backtick": "`", "two-colons": "::", "two-semicolons": ";;", "cpp": "C++",
    "lsquo": "‘", "rsquo": "’", "ldquo": "“", "rdquo": "”", "deg": "°", "brvbar": "¦", "pp": "++",
}  # fmt: skip
_REFERENCE = re.compile(r"\\?\{(\w[\w-]*)\}")
_IMAGE = re.compile(r"(?<!\w)image:(?!:)[^\s\[\]]{1,500}\[([^\[\]]*)\]")
# Each looks ahead no further than to the next of its own marks, so that a line of marks costs no square of its length.
_INLINE = re.compile(
    r"""
    \\(?P<escaped>[*_`#+^~<\[{])
    |\+\+\+(?P<raw>[^+]{1,2000})\+\+\+
    |\$\$(?P<raw2>[^$]{1,2000})\$\$
    |pass:[a-z,]{0,20}\[(?P<passed>[^\]]{0,200})\]
    |``(?P<code2>[^`]+)``
    |`\+(?P<plain>[^`]+)\+`
    |(?<!\w)`(?P<code>[^`\s](?:[^`]*[^`\s])?)`(?!\w)
    |\[\[[^\[\]]{0,200}\]\]
    |<<(?P<target>[^<>,]{1,300})(?:,(?P<reference>[^<>]*))?>>
    |(?:\(\(\([^()]{0,300}\)\)\))
    |\(\((?P<index>[^()]{1,300})\)\)
    |(?:link|xref|mailto):(?P<link>[^\s\[\]]{1,1000})\[(?P<shown>[^\[\]]*(?:\[[^\[\]]*\][^\[\]]*){0,20})\]
    |(?P<address>\b(?:https?|ftp|irc)://[^\s\[\]<>]{1,1000})\[(?P<shown2>[^\[\]]*(?:\[[^\[\]]*\][^\[\]]*){0,20})\]
    |\{[\w-]{1,100}\}[^\s\[\]]{0,1000}\[(?P<shown3>[^\[\]]*)\]
    |(?P<macro>(?<!\w)[a-zA-Z][\w-]{0,30}):(?P<of>[^\s\[\]:]{0,300})\[(?P<given>[^\[\]]*)\]
    |\[[.\#%][^\[\]\n]{1,100}\](?=[*_`+])
    |\[[^\[\]\n]{1,100}\]\#(?P<marked>[^\#]+)\#
    |\*\*(?P<bold2>[^*]+)\*\*
    |__(?P<italic2>[^_]+)__
    |\#\#(?P<mark2>[^\#]+)\#\#
    |(?<![\w*])\*(?P<bold>[^*\s](?:[^*]*[^*\s])?)\*(?![\w*])
    |(?<![\w_])_(?P<italic>[^_\s](?:[^_]*[^_\s])?)_(?![\w_])
    |(?<![\w\#&])\#(?P<mark>[^\#\s](?:[^\#]*[^\#\s])?)\#(?![\w\#])
    |(?<![\w+])\+(?P<mono>[^+\s](?:[^+]*[^+\s])?)\+(?![\w+])
    |\^(?P<above>[^\^\s]{1,50})\^
    |~(?P<below>[^~\s]{1,50})~
    """,
    re.VERBOSE,
)
_OPTIONS = re.compile(r"(?:(?:^|,)[ ]?[\w-]{1,30}=[^,\s]{0,100})+$")
_PLACED: dict[str, Callable[[str], str]] = {"above": raised, "below": lowered}
_VERBATIM = ("raw", "raw2", "passed", "plain")
_NESTED = ("bold", "bold2", "italic", "italic2", "mark", "mark2", "marked", "mono", "above", "below")


def read_asciidoc(data: bytes, doc_id: str) -> Document:
    """Return the document; its title is its first heading, else the file's name.

    Raises:
        UnreadableError: no text, or binary data.
    """
    builder = TextBuilder()
    lines = decode(data).replace("\r\n", "\n").split("\n")
    _Reader(builder).read(lines)
    return finished(builder, doc_id)


@dataclass
class _Style:
    """What the lines above a block say of it."""

    names: list[str] = field(default_factory=list)
    options: dict[str, str] = field(default_factory=dict)
    title: str = ""

    @property
    def first(self) -> str:
        return self.names[0].partition("%")[0].partition("#")[0].partition(".")[0] if self.names else ""

    @property
    def is_headed(self) -> bool:
        flags = [*self.names, self.options.get("options", ""), self.options.get("opts", "")]
        return any(re.search(r"(?:^|[%,\s])header\b", flag) for flag in flags)

    @property
    def has_no_header(self) -> bool:
        return "noheader" in " ".join((*self.names, *self.options.values()))

    def take(self, line: str) -> None:
        for part in re.findall(r'(?:[^,"]|"[^"]*")+', line):
            name, equals, value = part.strip().partition("=")
            if equals and re.fullmatch(r"[\w-]+", name.strip()):
                self.options[name.strip()] = value.strip().strip('"')
            else:
                self.names.append(part.strip())


class _Reader:
    def __init__(self, builder: TextBuilder) -> None:
        self._builder = builder
        self._attributes: dict[str, str] = {}
        self._fillable = MAX_FILLED_CHARS
        self._in_header = False
        self._style = _Style()
        self._said = ""  # what is said before the next paragraph, such as "Note"
        self._markers: list[str] = []  # of the lists that are open
        self._numbers: list[int] = []
        self._attached = False  # the next block belongs to the item above

    def read(self, lines: Sequence[str], nested: int = 0) -> None:
        """Read blocks; lists that were open before are open behind them again."""
        outer = self._markers, self._numbers
        self._markers, self._numbers = [], []
        place = 0
        while place < len(lines):
            place = self._block(lines, place, nested)
        self._markers, self._numbers = outer

    def _block(self, lines: Sequence[str], place: int, nested: int) -> int:  # noqa: C901, PLR0912 - one branch a block
        """Read what begins at a line; return the line behind it."""
        line = lines[place].rstrip()
        if not line:
            self._in_header = False
            return place + 1
        if line == "+":
            self._attached = True
            return place + 1
        if line in _RULES or (line.startswith("//") and not line.startswith("///")):
            return place + 1
        if found := _DELIMITER.match(line):
            return self._delimited(lines, place, found[1], nested)
        if found := _ATTRIBUTE.match(line):
            return self._define(lines, place, found)
        if found := _CONDITION.match(line):
            if found[2] and not line.startswith("ifeval"):
                self._paragraph(found[2])
            return place + 1
        if found := _MACRO.match(line):
            self._macro(found[1], found[2], found[3])
            return place + 1
        if _ANCHOR.match(line):
            return place + 1
        if found := _BLOCK_STYLE.match(line):
            self._style.take(found[1])
            return place + 1
        if found := _TITLE.match(line):
            self._style.title = self._inline(found[1])
            return place + 1
        if found := _SECTION.match(line):
            self._in_header = len(found[1]) == 1 and not self._builder
            self._heading(found[2], len(found[1]))
            return place + 1
        if level := self._underlined(lines, place):
            self._heading(line, level)
            return place + 2
        if self._style.first not in _CODE_STYLES:
            if found := _CALLOUT.match(line):
                return self._callout(lines, place, found)
            if (found := _BULLET.match(line)) or (found := _ORDERED.match(line)):
                return self._item(lines, place, found)
            if (found := _TERM.match(line)) and "//" not in found[2]:
                return self._term(lines, place, found)
        return self._text(lines, place)

    @staticmethod
    def _underlined(lines: Sequence[str], place: int) -> int:
        title = lines[place].rstrip()
        below = lines[place + 1].rstrip() if place + 1 < len(lines) else ""
        if not _UNDERLINE.match(below) or abs(len(title) - len(below)) > 2 or not re.search(r"\w", title):
            return 0
        return 0 if title[0] in " \t" else _UNDERLINES[below[0]]

    def _define(self, lines: Sequence[str], place: int, found: re.Match[str]) -> int:
        name, value = found[1], found[2] or ""
        while value.endswith(" \\") and place + 1 < len(lines):
            place += 1
            value = value[:-1].rstrip() + " " + lines[place].strip()
        if name.startswith("!") or name.endswith("!"):
            self._attributes.pop(name.strip("!"), None)
        else:
            self._attributes[name] = self._filled(value)[:MAX_VALUE_CHARS]
        return place + 1

    def _macro(self, name: str, target: str, given: str) -> None:
        style = self._taken_style()
        if name in ("image", "video", "audio"):
            self._builder.caption(style.title or self._inline(given.partition(",")[0].strip('" ')))
        elif name != "toc":
            self._builder.caption(style.title)
            self._builder.pair(name, self._filled(target) or self._inline(given))

    def _heading(self, title: str, level: int) -> None:
        self._end_lists()
        self._style = _Style()
        self._builder.heading(self._inline(re.sub(r"(?<=\s)[=#]+$", "", title)), level)

    def _delimited(self, lines: Sequence[str], place: int, mark: str, nested: int) -> int:
        kind = mark[:3] if mark.startswith("```") else mark
        end = next((at for at in range(place + 1, len(lines)) if lines[at].rstrip() == kind), len(lines))
        inner = lines[place + 1 : end]
        if kind[0] == "/":
            return end + 1
        if not self._attached:
            self._end_lists()
        self._attached = False
        style = self._taken_style()
        if kind[0] in "|,:!":
            self._table(inner, kind[0], style)
        elif kind[0] in "-.`" and kind != "--":
            self._code(inner, style, mark[3:] if kind[0] == "`" else "")
        elif kind[0] == "+":
            self._passed(inner, style)
        elif style.first in _CODE_STYLES:
            self._code(inner, style)
        elif kind[0] == "_" or style.first in ("quote", "verse"):
            self._builder.caption(style.title)
            self._quote(inner, style)
        elif nested >= MAX_NESTED:
            self._paragraph("\n".join(inner))
        else:
            if style.first in _ADMONITIONS:
                self._say(style.first.capitalize())
            self._builder.caption(style.title)
            self.read(inner, nested + 1)
            self._said = ""
        return end + 1

    def _code(self, lines: Sequence[str], style: _Style, language: str = "") -> None:
        self._builder.caption(style.title)
        named = style.names[1] if len(style.names) > 1 else style.options.get("language", "")
        if style.first and style.first not in _CODE_STYLES:
            named = ""
        self._builder.code("\n".join(lines), language or named or {"stem": "latex"}.get(style.first, ""))

    def _passed(self, lines: Sequence[str], style: _Style) -> None:
        if style.first in _CODE_STYLES:
            self._builder.code("\n".join(lines), "latex")
        else:
            self._builder.paragraph(one_line(re.sub(r"<[^<>]*>", " ", "\n".join(lines))))

    def _quote(self, lines: Sequence[str], style: _Style) -> None:
        for paragraph in re.split(r"\n\s*\n", "\n".join(lines)):
            if style.first == "verse":
                self._builder.paragraph("\n".join(map(self._inline, paragraph.split("\n"))))
            else:
                self._builder.quote(one_line(self._inline(paragraph)))
        if by := ", ".join(self._inline(name) for name in style.names[1:3] if name):
            self._builder.quote(f"— {by}")

    def _table(self, lines: Sequence[str], mark: str, style: _Style) -> None:
        lines = [line for line in lines if not line.startswith("//")]
        kind = style.options.get("format", {",": "csv", ":": "dsv"}.get(mark, "psv"))
        if kind == "psv":
            rows = self._cells("\n".join(lines), style, mark, style.options.get("separator", ""))
        else:
            between = style.options.get("separator") or {"csv": ",", "tsv": "\t"}.get(kind, ":")
            try:
                read = list(csv.reader(filter(str.strip, lines), delimiter="\t" if between == "\\t" else between[:1]))
            except csv.Error:
                read = [line.split(between) for line in lines]
            rows = [[self._inline(cell) for cell in row] for row in read]
        full = [bool(line.strip()) for line in lines]
        implied = len(full) > 2 and full[0] and not full[1] and not style.has_no_header
        headers = 1 if (style.is_headed or implied) and len(rows) > 1 else 0
        table(self._builder, rows, headers, style.title)

    def _cells(self, text: str, style: _Style, mark: str, separator: str) -> list[list[str]]:
        separator = (separator or (mark if mark == "!" else "|"))[0]
        cuts = list(_BAR.finditer(text.translate({ord("|"): separator, ord(separator): "|"})))
        cells = [
            (found[1] or "", text[found.end() : following.start() if following else len(text)])
            for found, following in zip(cuts, [*cuts[1:], None], strict=False)
        ]
        first_line = len(text) - len(text.lstrip())
        end = text.find("\n", first_line)
        on_first_line = [
            spec for found in cuts if found.start() < (end if end >= 0 else len(text)) for spec in [found[1]]
        ]
        width = _columns(style.options.get("cols", "")) or sum(
            _spans(spec or "")[0] * _spans(spec or "")[1] for spec in on_first_line
        )
        grid = Grid()
        for spec, words in cells:
            times, columns, rows = _spans(spec)
            shown = self._cell(words)
            for _ in range(times):
                grid.cell(shown, columns, rows)
                if grid.width >= max(width, 1):
                    grid.end_row()
        grid.end_row()
        return grid.rows

    def _cell(self, words: str) -> str:
        words = "\n".join(
            line
            for line in words.split("\n")
            if line.strip() != "+" and not _DELIMITER.match(line.strip()) and not _BLOCK_STYLE.match(line.strip())
        )
        return one_line(self._inline(_LINE_END.sub("\n", words)))

    def _callout(self, lines: Sequence[str], place: int, found: re.Match[str]) -> int:
        end, words = self._words(lines, place, found[2])
        number = self._numbers[-1] + 1 if self._markers[-1:] == ["<>"] else 1
        if self._markers[-1:] != ["<>"]:
            self._open("<>")
        self._numbers[-1] = int(found[1]) if found[1].isdecimal() else number
        Items(self._builder, len(self._markers) - 1, self._numbers[-1]).paragraph(words)
        return end

    def _item(self, lines: Sequence[str], place: int, found: re.Match[str]) -> int:
        style = self._taken_style()
        self._builder.caption(style.title)
        marker, text = found[1], found[2]
        ordered = marker[0] not in "*-•"
        number = int(marker[:-1]) if marker[:-1].isdecimal() else 0
        self._open("1." if ordered and marker[0] != "." else marker)
        end, words = self._words(lines, place, _CHECKBOX.sub("", text))
        self._numbers[-1] = number or self._numbers[-1] + 1
        if box := _CHECKBOX.match(text):
            words = f"[{box[1]}] {words}"
        Items(self._builder, len(self._markers) - 1, self._numbers[-1] if ordered else None).paragraph(words)
        return end

    def _term(self, lines: Sequence[str], place: int, found: re.Match[str]) -> int:
        style = self._taken_style()
        self._builder.caption(style.title)
        self._open(found[2])
        terms = [self._inline(found[1])]
        rest = found[3] or ""
        while not rest and place + 1 < len(lines):
            following = next_line(lines, place + 1)
            again = _TERM.match(lines[following].rstrip()) if following < len(lines) else None
            if not again or again[2] != found[2] or following > place + 2:
                break
            terms.append(self._inline(again[1]))
            rest, place = again[3] or "", following
        item = Items(self._builder, len(self._markers) - 1, term=", ".join(terms))
        if not rest:
            following = next_line(lines, place + 1)
            if following < len(lines) and not self._begins_block(lines[following]):
                place, rest = following, lines[following].strip()
        end, words = self._words(lines, place, rest)
        item.paragraph(words)
        item.begin()
        return end

    def _words(self, lines: Sequence[str], place: int, first: str) -> tuple[int, str]:
        """Return the line behind an item's paragraph, and its words."""
        end = place + 1
        parts = [first]
        while end < len(lines) and lines[end].strip() and not self._begins_block(lines[end]):
            if not lines[end].startswith("//"):
                parts.append(lines[end].strip())
            end += 1
        return end, self._inline("\n".join(parts)) if first or len(parts) > 1 else ""

    @staticmethod
    def _begins_block(line: str) -> bool:
        line = line.rstrip()
        marks = (_DELIMITER, _BULLET, _ORDERED, _CALLOUT, _BLOCK_STYLE, _CONDITION, _MACRO, _TERM, _ANCHOR)
        return line == "+" or any(mark.match(line) for mark in marks)

    def _open(self, marker: str) -> None:
        """Make the list with this marker the innermost one that is open."""
        self._attached = False
        if marker in self._markers:
            depth = self._markers.index(marker) + 1
            del self._markers[depth:], self._numbers[depth:]
        elif len(self._markers) < MAX_NESTED:
            self._markers.append(marker)
            self._numbers.append(0)

    def _end_lists(self) -> None:
        self._markers.clear()
        self._numbers.clear()

    def _text(self, lines: Sequence[str], place: int) -> int:
        end = place
        indented = lines[place][0] in " \t"
        while end < len(lines) and lines[end].strip():
            line = lines[end].rstrip()
            if end > place and (_DELIMITER.match(line) or _BLOCK_STYLE.match(line) or line == "+"):
                break
            if self._in_header and end > place and _ATTRIBUTE.match(line):
                break
            if end > place and (_CONDITION.match(line) or (_MACRO.match(line) and line.startswith("include"))):
                break
            end += 1
        inner = [line for line in lines[place:end] if not line.startswith("//")]
        if not self._attached and not indented:
            self._end_lists()
        self._attached = False
        style = self._taken_style()
        if style.first in _CODE_STYLES or (indented and style.first not in ("normal", "quote", "verse")):
            self._code(unindented(inner).split("\n"), style)
        elif style.first in ("quote", "verse"):
            self._builder.caption(style.title)
            self._quote(inner, style)
        else:
            self._builder.caption(style.title)
            if style.first in _ADMONITIONS:
                self._say(style.first.capitalize())
            self._paragraph("\n".join(inner))
        return end

    def _paragraph(self, text: str) -> None:
        if found := _ADMONITION.match(text):
            self._say(found[1].capitalize())
            text = found[2]
        lines = [self._inline(line) for line in _LINE_END.split(text)]
        said = f"{self._said}: " if self._said else ""
        self._said = ""
        self._builder.paragraph(said + "\n".join(map(one_line, lines)))

    def _say(self, name: str) -> None:
        self._said = name

    def _taken_style(self) -> _Style:
        style, self._style = self._style, _Style()
        return style

    def _filled(self, text: str) -> str:
        """Fill in attributes that are known."""
        return _REFERENCE.sub(self._value, text) if "{" in text else text

    def _value(self, found: re.Match[str]) -> str:
        value = self._attributes.get(found[1])
        if value is None or self._fillable < len(value):
            return found[0]
        self._fillable -= len(value)
        return value

    def _inline(self, text: str, depth: int = 0) -> str:
        """Return the words of a text, without what says how they look and where they lead."""
        if depth == 0:
            text = _IMAGE.sub(lambda found: found[1].partition(",")[0], self._filled(text))
        shown = _INLINE.sub(lambda found: self._shown(found, depth), text)
        return _REFERENCE.sub(lambda found: _CHARACTERS.get(found[1], found[0]), shown) if "{" in shown else shown

    def _shown(self, found: re.Match[str], depth: int) -> str:
        kind = found.lastgroup
        if kind is None:
            return ""
        value = found[kind] or ""
        if kind in ("escaped", "code", "code2", "index", *_VERBATIM):
            return value.strip("+") if kind == "code" and len(value) > 2 and value[0] == value[-1] == "+" else value
        if kind in _NESTED:
            words = self._inline(value, depth + 1) if depth < MAX_NESTED else value
            return _PLACED.get(kind, str)(words)
        if kind in ("target", "reference"):
            return (found["reference"] or found["target"]).strip()
        if kind in ("shown", "shown2", "shown3"):
            words = self._inline(value.rpartition("^")[0] or value, depth + 1).strip().strip('"')
            words = _OPTIONS.sub("", words)
            return words or found["link"] or found["address"] or found[0].rpartition("[")[0]
        value = _OPTIONS.sub("", value)
        return self._inline_macro(found["macro"], found["of"], self._inline(value, depth + 1))

    @staticmethod
    def _inline_macro(name: str, target: str, given: str) -> str:
        if name in ("footnote", "footnoteref"):
            return f" ({given})" if given else ""
        if name in ("image", "icon"):
            return given.partition(",")[0]
        if name == "menu":
            return " > ".join(filter(None, (target, *(part.strip() for part in given.split(">")))))
        if name in ("indexterm", "anchor"):
            return ""
        if given.isdecimal() and target:
            return f"{target}({given})"
        return given or target or f"{name}:"


def _spans(spec: str) -> tuple[int, int, int]:
    """Return how often a cell stands, and how many columns and rows it spans."""
    found = _SPAN.match(spec)
    times, columns, rows = found.groups() if found else (None, None, None)
    return min(int((times or "1")[:4]), 100), int((columns or "1")[:4]), int((rows or "1")[:4])


def _columns(value: str) -> int:
    """Return how many columns `cols` names: "1,2a,3*"."""
    count = 0
    for part in re.split(r"[,;]", value) if value.strip() else ():
        times = re.match(r"\s*(\d{1,3})\*", part)
        count += int(times[1]) if times else 1
    if count == 1 and value.strip().isdecimal():
        return 1
    return count
