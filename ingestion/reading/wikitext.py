"""Turn wikitext into blocks: headings, lists, tables, the box of facts at the top, prose without markup.

Flow: `mediawiki.py` -> **here** -> blocks in a `TextBuilder`. Pure; linear in the text's length.

Templates are programs that only the wiki has. Those that say something themselves are written out (`_INLINE`), boxes of
facts become pairs, all others are left out, and so are footnotes, galleries and links to files.
"""

import html
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import takewhile

from ingestion.reading.marks import lowered, placed_tags, raised
from ingestion.reading.markup import Grid, table
from ingestion.reading.text_builder import MAX_HEADING_LEVEL, TextBuilder

# What is shown of a cell, and what of it is looked at.
MAX_CELL_CHARS, MAX_RAW_CELL_CHARS = 2000, 50_000
# Tables within tables become words of a cell; further in they are left out.
_MAX_INLINE_DEPTH = 4
# What stands in for a block, and for a bar that parts no arguments, while the text is taken apart.
_OPEN, _CLOSE, _BAR = "\ue000", "\ue001", "\ue002"
_OWN = re.compile("[\ue000-\ue002]")
_TAG = re.compile(
    r"<(/?)(ref|references|nowiki|pre|syntaxhighlight|source|math|chem|gallery|timeline|imagemap|score|"
    r"templatedata|graph|mapframe|maplink|noinclude|includeonly)\b([^<>]*)>|(<!--)",
    re.IGNORECASE,
)
_CODE = frozenset(("pre", "syntaxhighlight", "source"))
_TOKEN = re.compile(r"\{\{|\}\}|\[\[|\]\]|^[ \t:]*\{\||^[ \t]*\|\}(?!\})", re.MULTILINE)
_CLOSES = {"}}": "{{", "]]": "[[", "|}": "{|"}
_ANY_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,500}>")
_BREAK = re.compile(r"<br\s*+(?:/\s*+)?>", re.IGNORECASE)
_EMPHASIS = re.compile(r"'{2,5}")
_EXTERNAL = re.compile(r"\[(?:https?:|ftp:|mailto:)?//[^\s\[\]<>]{1,2000}(?:\s+([^\[\]\n]{0,2000}))?\]")
_SWITCH = re.compile(r"__[A-Z]{3,30}__")
_BLOCK = re.compile(f"{_OPEN}(\\d+){_CLOSE}")
_ONLY_BLOCK = re.compile(f"[ \t:]*{_OPEN}(\\d+){_CLOSE}[ \t]*")
_LANGUAGE = re.compile(r"lang\s*=\s*[\"']?([\w+#-]{1,30})", re.IGNORECASE)
_ATTRIBUTES = re.compile(r"[^|\[\]{}]{0,300}(?:=\s*(?:\"[^\"]*\"|'[^']*'|[\w#%.-]+)|nowrap)\s*")
_SPAN = re.compile(r"\b(col|row)span\s*=\s*[\"']?(\d{1,4})", re.IGNORECASE)
_INTERWIKI = re.compile(r"[a-z]{2,3}(?:-[a-z-]{2,12})?")
_PARAMETER = re.compile(r"[\w \t./-]{1,60}")
_FILE_OPTION = re.compile(
    r"(?:thumb|thumbnail|mini|miniatur|frame|frameless|border|left|right|center|none|links|rechts|upright|hochkant|"
    r"baseline|sub|super|top|middle|bottom|[\dx]+\s?px|\w{2,12}\s*=.*)",
    re.IGNORECASE | re.DOTALL,
)
_BOX_NAMES = ("infobox", "taxobox", "speciesbox", "automatic taxobox", "ficha", "карточка", "info/", "chembox")
_BOX_FORM = re.compile(r"image|img|bild|logo|size|width|map|karte|caption|alt\b|colou?r|style|class|coord", re.I)
_NUMBERS = re.compile(r"[\d.,/+-]+|to|and|by|or|x|-|–")
# A template's arguments to the words that it shows: the positional ones, then the named.
Arguments = tuple[list[str], dict[str, str]]


@dataclass(frozen=True, slots=True)
class Prefixes:
    """What links to no article begin with, in small letters."""

    files: frozenset[str] = frozenset(("file", "image"))
    categories: frozenset[str] = frozenset(("category",))


def add_wikitext(builder: TextBuilder, text: str, prefixes: Prefixes) -> list[str]:
    """Add the blocks of a page's text; return the names of its categories."""
    page = _Page(prefixes)
    flat = page.flat(page.without_raw(_OWN.sub("", text)))
    _Writer(builder, page).write(flat)
    return page.categories


class _Page:
    """Takes markup that nests out of a text; blocks that it holds are kept, and their places marked."""

    def __init__(self, prefixes: Prefixes) -> None:
        self._prefixes = prefixes
        self.blocks: list[tuple[str, object]] = []
        self.categories: list[str] = []

    def mark(self, kind: str, content: object) -> str:
        """Keep a block; return what stands in its place."""
        self.blocks.append((kind, content))
        return f"{_OPEN}{len(self.blocks) - 1}{_CLOSE}"

    def without_raw(self, text: str) -> str:
        """Remove what is not text, and set aside what holds no markup (code, formulas, comments)."""
        parts: list[str] = []
        place = 0
        unclosed: set[str] = set()  # searched for once
        lower = text.lower()
        while match := _TAG.search(text, place):
            parts.append(text[place : match.start()])
            name = (match[2] or "").lower()
            place = match.end()
            is_empty = (match[3] or "").endswith("/")
            if match[1] or is_empty or name in unclosed or name == "noinclude":
                continue
            end_mark = "-->" if match[4] else f"</{name}"
            end = lower.find(end_mark, place)
            if end < 0:
                unclosed.add(name)
                if match[4]:  # as in the wiki, a comment without end hides the rest
                    return "".join(parts)
                continue
            content = text[place:end]
            place = end + 3 if match[4] else text.find(">", end) + 1 or len(text)
            if name in _CODE:
                language = _LANGUAGE.search(match[3] or "")
                parts.append(f"\n{self.mark('code', (content, language[1] if language else ''))}\n")
            elif name in ("nowiki", "math", "chem"):
                parts.append(self.mark("raw", content))
        parts.append(text[place:])
        return "".join(parts)

    def flat(self, text: str) -> str:
        """Undo links, templates and tables, the inner ones first."""
        frames: list[tuple[str, list[str]]] = [("", [])]
        place = 0
        for match in _TOKEN.finditer(text):
            frames[-1][1].append(text[place : match.start()])
            place = match.end()
            token = match[0].strip(" \t:")
            opening = _CLOSES.get(token)
            if opening is None:
                frames.append((token, []))
            elif frames[-1][0] == opening:
                content = "".join(frames.pop()[1])
                frames[-1][1].append(self._closed(opening, content))
            else:
                frames[-1][1].append(match[0])
        frames[-1][1].append(text[place:])
        # What was never closed is text.
        return "".join(f"{opening}{''.join(parts)}" for opening, parts in frames)

    def _closed(self, opening: str, content: str) -> str:
        if opening == "[[":
            return self._link(content)
        if opening == "{{":
            return self._template(content)
        return f"\n{self.mark('table', _table(content))}\n"

    def _link(self, content: str) -> str:
        target, *labels = content.split("|")
        prefix, colon, rest = target.strip().partition(":")
        known = prefix.strip().casefold() if colon else ""
        if known in self._prefixes.files:
            shown = [label for label in labels if not _FILE_OPTION.fullmatch(label.strip())]
            return self.mark("caption", shown[-1]) if shown and shown[-1].strip() else ""
        if known in self._prefixes.categories:
            self.categories.append(rest.strip())
            return ""
        if known and _INTERWIKI.fullmatch(prefix.strip()):
            return ""
        label = labels[-1] if labels and labels[-1].strip() else target.strip().removeprefix(":")
        return label.replace("|", _BAR)

    def _template(self, content: str) -> str:
        name, *arguments = content.split("|")
        name = " ".join(name.replace("_", " ").split())
        key = name.casefold()
        positional, named = _sorted(arguments)
        if key.startswith(_BOX_NAMES):
            return f"\n{self.mark('box', named)}\n"
        if key in ("quote", "blockquote", "cquote", "quotation", "zitat"):
            words = positional[0] if positional else named.get("text", named.get("quote", ""))
            return f"\n{self.mark('quote', words)}\n" if words.strip() else ""
        if key == "citation" or key.startswith(("cite ", "literatur", "internetquelle", "ouvrage")):
            return _citation(named)
        if key.startswith("formatnum:"):
            return name.partition(":")[2].strip()
        if key.startswith("lang-"):
            return positional[0] if positional else ""
        shown = _INLINE.get(key)
        return shown((positional, named)).replace("|", _BAR) if shown else ""


def _sorted(arguments: Sequence[str]) -> Arguments:
    positional: list[str] = []
    named: dict[str, str] = {}
    for argument in arguments:
        name, equals, value = argument.partition("=")
        name = name.strip()
        if not equals or not _PARAMETER.fullmatch(name):
            positional.append(argument.strip())
        elif name.isdigit():
            positional.append(value.strip())
        else:
            named[name] = value.strip()
    return positional, named


def _citation(named: dict[str, str]) -> str:
    small = {key.casefold(): value for key, value in named.items()}
    author = (
        small.get("author") or small.get("autor") or " ".join(filter(None, (small.get("first"), small.get("last"))))
    )
    title = small.get("title") or small.get("titel") or small.get("titre") or ""
    rest = (small.get(key, "") for key in ("publisher", "verlag", "journal", "work", "year", "jahr", "date"))
    return ". ".join(filter(None, (author, title, *rest))).replace("|", _BAR)


def _first(arguments: Arguments) -> str:
    return arguments[0][0] if arguments[0] else ""


def _second(arguments: Arguments) -> str:
    return arguments[0][1] if len(arguments[0]) > 1 else _first(arguments)


def _all(arguments: Arguments) -> str:
    return ", ".join(filter(None, arguments[0]))


def _measure(arguments: Arguments) -> str:
    """`convert|5|to|10|km|mi` -> "5 to 10 km"."""
    words: list[str] = []
    for argument in arguments[0]:
        words.append(argument)
        if not _NUMBERS.fullmatch(argument):
            break
    return " ".join(words)


def _date(arguments: Arguments) -> str:
    numbers = [argument for argument in arguments[0] if argument.isdigit()][:3]
    return "-".join(number.zfill(2) for number in numbers) or _first(arguments)


_INLINE: dict[str, Callable[[Arguments], str]] = {
    **dict.fromkeys("nowrap nobr small big center abbr tooltip val url flag flagcountry ill transl".split(), _first),
    **dict.fromkeys(("as of", "ship", "nihongo", "smallcaps", "visible anchor", "color", "mvar", "math"), _first),
    **dict.fromkeys(("lang", "langx", "transliteration", "sortname"), _second),
    "sup": lambda arguments: raised(_first(arguments)),
    "sub": lambda arguments: lowered(_first(arguments)),
    "10^": lambda arguments: "10" + raised(_first(arguments)),
    "e": lambda arguments: "×10" + raised(_first(arguments)),
    **dict.fromkeys(("hlist", "ubl", "unbulleted list", "flatlist", "plainlist", "br separated entries"), _all),
    **dict.fromkeys(("convert", "cvt"), _measure),
    **dict.fromkeys(("birth date", "birth date and age", "death date", "death date and age", "start date"), _date),
    **dict.fromkeys(("start date and age", "end date", "film date", "dts", "release date"), _date),
    **dict.fromkeys(("circa", "c."), lambda arguments: f"c. {_first(arguments)}".strip()),
    **dict.fromkeys(("frac", "sfrac"), lambda arguments: "/".join(arguments[0])),
    **dict.fromkeys(("spaced ndash", "snd", "ndash", "spnd"), lambda _: " – "),
    **dict.fromkeys(("yes", "ya"), lambda arguments: _first(arguments) or "Yes"),
    **dict.fromkeys(("no", "na"), lambda arguments: _first(arguments) or "No"),
    "!": lambda _: _BAR,
    "=": lambda _: "=",
}

_Cell = tuple[str, int, int]  # text, the columns and the rows that it spans
_Table = tuple[str, list[tuple[bool, list[_Cell]]]]


def _table(content: str) -> _Table:
    """Return a table's caption, and its rows: whether all cells are headers, and the cells."""
    caption = ""
    rows: list[tuple[bool, list[_Cell]]] = []
    cells: list[_Cell] = []
    marks: list[bool] = []

    def end_row() -> None:
        if cells:
            rows.append((all(marks), list(cells)))
        cells.clear()
        marks.clear()

    for line in map(str.strip, content.split("\n")[1:]):  # the first holds the table's attributes
        if line.startswith("|+"):
            caption = _without_attributes(line[2:])
        elif line.startswith("|-"):
            end_row()
        elif line.startswith(("|", "!")):
            is_header = line[0] == "!"
            for cell in (line[1:].replace("!!", "||") if is_header else line[1:]).split("||"):
                cells.append((_without_attributes(cell), *_spans(cell)))
                marks.append(is_header)
        elif cells and len(cells[-1][0]) <= MAX_RAW_CELL_CHARS:
            text, columns, below = cells[-1]
            cells[-1] = (f"{text} {line}", columns, below)
    end_row()
    return caption, rows


def _spans(cell: str) -> tuple[int, int]:
    """Return how many columns and rows a cell spans."""
    attributes = cell.partition("|")[0]
    if "span" not in attributes or not _ATTRIBUTES.fullmatch(attributes):
        return 1, 1
    found = {match[1].lower(): int(match[2]) for match in _SPAN.finditer(attributes)}
    return found.get("col", 1), found.get("row", 1)


def _without_attributes(cell: str) -> str:
    before, bar, after = cell.partition("|")
    if not bar and "=" in cell and _ATTRIBUTES.fullmatch(cell):
        return ""
    return after.strip() if bar and (not before.strip() or _ATTRIBUTES.fullmatch(before)) else cell.strip()


def _heading_level(line: str) -> int:
    """Return how many `=` stand at both ends of a line; 0 if it is not a heading."""
    words = line.strip()
    before, after = len(words) - len(words.lstrip("=")), len(words) - len(words.rstrip("="))
    return min(before, after, MAX_HEADING_LEVEL) if words.startswith("=") and words.strip("=") else 0


class _Writer:
    """Writes a flat text line by line."""

    def __init__(self, builder: TextBuilder, page: _Page) -> None:
        self._builder = builder
        self._page = page
        self._prose: list[str] = []
        self._numbers: dict[int, int] = {}

    def write(self, text: str) -> None:
        """Write all of it."""
        for line in text.split("\n"):
            self._line(line.rstrip())
        self._end_prose()

    def _line(self, line: str) -> None:
        first = line[:1]
        if first not in ("#", "*", ":", ";"):
            self._numbers = {}
        if not line.strip() or line.startswith("----"):
            self._end_prose()
        elif level := _heading_level(line):
            self._end_prose()
            self._builder.heading(self._inline(line.strip()[level:-level]), level)
        elif only := _ONLY_BLOCK.fullmatch(line):
            self._block(*self._page.blocks[int(only[1])], line)
        elif first in ("#", "*", ":", ";"):
            self._end_prose()
            self._item(line)
        else:
            self._prose.append(line)

    def _item(self, line: str) -> None:
        words = line.lstrip("#*:;")
        marks = line[: len(line) - len(words)]
        depth, text = len(marks) - 1, self._inline(words)
        if not text:
            return
        number = None
        if marks.endswith("#"):
            number = self._numbers[depth] = self._numbers.get(depth, 0) + 1
            self._numbers = {key: value for key, value in self._numbers.items() if key <= depth}
        if marks.strip(":") or depth:
            self._builder.item(text, depth=depth, number=number)
        else:
            self._builder.paragraph(text)  # only indented

    def _block(self, kind: str, content: object, line: str) -> None:
        if kind == "raw":
            self._prose.append(line)
            return
        self._end_prose()
        if isinstance(content, dict):
            for key, value in content.items():
                if not _BOX_FORM.search(key):
                    self._builder.pair(key.replace("_", " "), self._inline(value))
        elif kind == "table":
            self._table(content)  # type: ignore[arg-type]
        elif kind == "code":
            self._builder.code(*content)  # type: ignore[misc]
        elif kind == "quote":
            self._builder.quote(self._inline(str(content)))
        else:
            self._builder.caption(self._inline(str(content)))

    def _table(self, content: _Table) -> None:
        caption, rows = content
        grid = Grid()
        for _, cells in rows:
            for text, columns, below in cells:
                grid.cell(self._inline(text)[:MAX_CELL_CHARS], columns, below)
            grid.end_row()
        headers = sum(1 for _ in takewhile(lambda row: row[0] and len(row[1]) > 1, rows[:-1]))
        table(self._builder, grid.rows, headers, self._inline(caption))

    def _end_prose(self) -> None:
        if self._prose:
            self._builder.paragraph(self._inline(" ".join(self._prose)))
        self._prose = []

    def _inline(self, text: str) -> str:
        """Return words without markup, on one line."""
        for _ in range(_MAX_INLINE_DEPTH):
            if _OPEN not in text:
                break
            text = _BLOCK.sub(self._shown_inline, text)
        text = _BLOCK.sub("", text)
        text = _ANY_TAG.sub("", _BREAK.sub(" ", placed_tags(text)))
        text = _EXTERNAL.sub(lambda match: match[1] or "", _EMPHASIS.sub("", text))
        text = html.unescape(_SWITCH.sub("", text)).replace(_BAR, "|")
        return " ".join(text.split())

    def _shown_inline(self, match: re.Match[str]) -> str:
        kind, content = self._page.blocks[int(match[1])]
        if kind == "raw":
            return html.escape(str(content), quote=False)
        if kind == "code":
            return str(content[0])  # type: ignore[index]
        if kind == "table":
            return " ".join(text for _, cells in content[1] for text, *_ in cells)  # type: ignore[index]
        return str(content) if kind == "quote" else ""
