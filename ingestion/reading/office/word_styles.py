"""What the styles and lists of a Word document say of a paragraph: its role, and the number it shows.

Flow: `styles.xml` and `numbering.xml` of a document -> **here** -> `docx.py`. Counts lists as it is asked, so one
instance serves one walk through a document.
"""

import string
from collections.abc import Iterator
from typing import Any, NamedTuple

MAIN = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
VAL = f"{MAIN}val"
NO = frozenset(("0", "false", "off", "none"))
_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
          (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip
_DEPTH = 9


class Label(NamedTuple):
    """What stands before a paragraph of a list.

    Attributes:
        number: of an item counted 1, 2, 3; None for any other.
        text: the mark as it is shown, such as "2.1" or "(a)"; empty for a bullet.
        depth: 0 is the outermost.
    """

    number: int | None
    text: str
    depth: int


class Styles:
    """The styles of a document.

    Args:
        root: of `styles.xml`; None if there is none.
    """

    def __init__(self, root: Any) -> None:
        self._styles: dict[str, Any] = {}
        self.default = ""
        for style in () if root is None else root.iter(f"{MAIN}style"):
            name = style.get(f"{MAIN}styleId", "")
            self._styles[name] = style
            if style.get(f"{MAIN}type") == "paragraph" and style.get(f"{MAIN}default", "0") not in NO:
                self.default = name

    def name(self, style: str) -> str:
        """Return the name of a style in small letters; built-in ones are English in every language of Word."""
        found = self._styles[style].find(f"{MAIN}name") if style in self._styles else None
        return "" if found is None else str(found.get(VAL, "")).casefold()

    def chain(self, style: str) -> Iterator[str]:
        """Yield a style and those that it is based upon."""
        seen: set[str] = set()
        while style in self._styles and style not in seen:
            seen.add(style)
            yield style
            above = self._styles[style].find(f"{MAIN}basedOn")
            style = "" if above is None else above.get(VAL, "")

    def heading_level(self, style: str) -> int | None:
        """Return the level of headings in this style, from 1; None for other styles."""
        for one in self.chain(style):
            name = self.name(one)
            if name == "title":
                return 1
            if name.startswith("heading ") and name[8:9].isdigit():
                return int(name[8:9])
            if (level := outline_level(self._styles[one])) is not None:
                return level
        return None

    def numbering(self, style: str) -> tuple[str | None, str | None]:
        """Return the list and the depth in it that a style gives its paragraphs."""
        for one in self.chain(style):
            list_id, depth = numbering(self._styles[one])
            if list_id is not None:
                return list_id, depth
        return None, None

    def vertical_alignment(self, run: Any) -> str:
        """Return "superscript", "subscript" or another value, as a run or its style says; empty if neither does."""
        properties = run.find(f"{MAIN}rPr")
        if properties is None:
            return ""
        named = _value(properties, "rStyle") or ""
        styles = (self._styles[one].find(f"{MAIN}rPr") for one in self.chain(named))
        found = (_value(one, "vertAlign") for one in (properties, *styles) if one is not None)
        return next(filter(None, found), "")

    def marks_first_row(self, style: str) -> bool:
        """Tell whether a table's style sets its first row in bold."""
        for one in self.chain(style):
            for part in self._styles[one].iter(f"{MAIN}tblStylePr"):
                if part.get(f"{MAIN}type") == "firstRow" and is_on(part.find(f"{MAIN}rPr/{MAIN}b")):
                    return True
        return False


class Lists:
    """The lists of a document, which count their items as they come.

    Args:
        root: of `numbering.xml`; None if there is none.
    """

    def __init__(self, root: Any) -> None:
        self._kinds: dict[str, dict[int, Any]] = {}
        self._starts: dict[tuple[str, int], int] = {}
        self._kind_of: dict[str, str] = {}
        self._counts: dict[str, list[int | None]] = {}
        if root is None:
            return
        for kind in root.iter(f"{MAIN}abstractNum"):
            levels = {_int(level.get(f"{MAIN}ilvl")): level for level in kind.iter(f"{MAIN}lvl")}
            self._kinds[kind.get(f"{MAIN}abstractNumId", "")] = levels
        for one in root.iter(f"{MAIN}num"):
            name = one.get(f"{MAIN}numId", "")
            kind = one.find(f"{MAIN}abstractNumId")
            self._kind_of[name] = "" if kind is None else kind.get(VAL, "")
            for override in one.iter(f"{MAIN}lvlOverride"):
                start = override.find(f"{MAIN}startOverride")
                if start is not None:
                    self._starts[name, _int(override.get(f"{MAIN}ilvl"))] = _int(start.get(VAL), 1)

    def label(self, list_id: str, depth: int) -> Label | None:
        """Count a paragraph of a list; return its mark, None if there is no such list."""
        kind = self._kind_of.get(list_id)
        levels = self._kinds.get(kind or "")
        depth = min(max(depth, 0), _DEPTH - 1)
        if kind is None or levels is None or depth not in levels:
            return None
        fresh = (list_id, depth) in self._starts
        counts = self._counts.setdefault(kind, [None] * _DEPTH)
        if fresh:
            counts[depth] = None
            start = self._starts.pop((list_id, depth))
        else:
            start = _int(_value(levels[depth], "start"), 1)
        before = counts[depth]
        counts[depth] = start if before is None else before + 1
        counts[depth + 1 :] = [None] * (_DEPTH - depth - 1)
        form = _value(levels[depth], "numFmt") or "decimal"
        if form in {"bullet", "none"}:
            return Label(None, "", depth)
        pattern = _value(levels[depth], "lvlText") or ""
        text = self._filled(pattern, counts, levels)
        plain = form == "decimal" and pattern.count("%") == 1
        return Label(counts[depth] if plain else None, text, depth)

    @staticmethod
    def _filled(pattern: str, counts: list[int | None], levels: dict[int, Any]) -> str:
        for depth in range(_DEPTH):
            if f"%{depth + 1}" in pattern:
                form = (_value(levels[depth], "numFmt") or "decimal") if depth in levels else "decimal"
                start = _int(_value(levels[depth], "start"), 1) if depth in levels else 1
                count = counts[depth]
                pattern = pattern.replace(f"%{depth + 1}", _counted(start if count is None else count, form))
        return pattern.strip()


def outline_level(element: Any) -> int | None:
    """Return the level that the properties of a style or paragraph give to it as a heading, from 1; None for text."""
    found = element.find(f"{MAIN}pPr/{MAIN}outlineLvl")
    level = _int(found.get(VAL), _DEPTH) if found is not None else _DEPTH
    return level + 1 if 0 <= level < _DEPTH else None


def numbering(element: Any) -> tuple[str | None, str | None]:
    """Return the list and the depth in it that the properties of a style or paragraph name."""
    found = element.find(f"{MAIN}pPr/{MAIN}numPr")
    return (None, None) if found is None else (_value(found, "numId"), _value(found, "ilvl"))


def is_on(element: Any) -> bool:
    """Tell whether a property is there, and not switched off."""
    return element is not None and element.get(VAL, "1") not in NO


def _value(element: Any, name: str) -> str | None:
    found = element.find(f"{MAIN}{name}")
    return None if found is None else found.get(VAL)


def _int(value: str | None, default: int = 0) -> int:
    return int(value) if value and value.lstrip("-").isdigit() and len(value) < 10 else default


def _counted(count: int, form: str) -> str:
    if form in {"lowerLetter", "upperLetter"} and count > 0:
        letter = string.ascii_lowercase[(count - 1) % 26] * min((count - 1) // 26 + 1, 9)
        return letter if form == "lowerLetter" else letter.upper()
    if form in {"lowerRoman", "upperRoman"} and 0 < count < 4000:
        roman = ""
        for value, mark in _ROMAN:
            times, count = divmod(count, value)
            roman += mark * times
        return roman if form == "lowerRoman" else roman.upper()
    return f"{count:02d}" if form == "decimalZero" else str(count)
