"""Lines of roff, the language of manual pages: requests and text, escapes as the characters that they stand for.

Flow: text of a manual page -> **here** -> `man.py`. Pure; linear in the text's length.

Of the language so much is understood as manual pages use: comments, strings, conditions, tables. Definitions of macros
are passed over; nothing is computed.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ingestion.reading.text import one_line

# A string that holds others could grow without end.
MAX_STRING_CHARS = 1000
# Names of two characters, each with what it stands for.
_GLYPHS = {
    pair[:2]: pair[2:]
    for pair in (
        "bu• em— en– hy- lq“ rq” oq‘ cq’ aq' dq\" ga` ha^ ti~ rs\\ ul_ ba| br| bv| or| sl/ at@ sh# Do$ co© rg® tm™ "
        "de° mcµ sc§ dg† dd‡ ps¶ ct¢ Po£ Ye¥ Eu€ eu€ +-± -+∓ mu× di÷ pl+ mi− eq= !=≠ ==≡ <=≤ >=≥ ~~≈ ~=≅ ->→ <-← "
        "<>↔ ua↑ da↓ rA⇒ lA⇐ la⟨ ra⟩ lB[ rB] lC{ rC} if∞ *aα *bβ *mμ *pπ *SΣ *DΔ *WΩ sr√ 14¼ 12½ 34¾ S1¹ S2² S3³ "
        "fm′ sq□ OK✓ Fc» Fo« fc› fo‹ r!¡ r?¿ ssß aeæ AEÆ oeœ OEŒ /oø /OØ oaå oAÅ :aä :oö :uü :AÄ :OÖ :UÜ 'aá 'eé "
        "'ií 'oó 'uú 'EÉ `aà `eè `uù ^aâ ^eê ^iî ^oô ^uû ~nñ ~aã ,cç ,CÇ vsš vzž vcč c*⊗ no¬ ci○ lz◊ fifi ffff "
        "flfl lh☜ rh☞ mo∈ te∃ fa∀ AN∧ OR∨ ap∼ pc·"
    ).split()
}
# What pages define for themselves in ways that take the whole language to understand is here too.
_STRINGS = {"lq": "“", "rq": "”", "R": "®", "Tm": "™", "Aq": "'", "C+": "C++", "PI": "π", "--": "—"}
_CHARACTERS = {"-": "-", "e": "\\", "E": "\\", "t": "\t", " ": " ", "0": " ", "~": " ", "\\": "\\", "'": "'", "`": "`"}
_NOTHING = "&)/,|^%:!acdpruz{}\n"
_ESCAPE = re.compile(
    r"""\\(?:
    (?P<comment>["\#].*)
    |\((?P<two>..)
    |\[(?P<glyph>[^\]\n]{0,200}+)\]
    |\*(?:\((?P<string2>..)|\[(?P<string>[^\]\n]{0,200}+)\]|(?P<string1>.))
    |N'(?P<number>\d{1,7})'
    |C'(?P<named>[^'\n]*)'
    |[oZ](?P<mark>['"])(?P<shown>[^'"\n]*)(?P=mark)
    |[fFmMgkVYn][+-]?(?:\(..|\[[^\]\n]{0,200}+\]|.)
    |s(?:[+-]?\d{1,2}|[+-]?\(..|[+-]?\[[^\]\n]{0,200}+\]|'[^'\n]*'|[+-]|)
    |[hvlLDbwXxRASBH]'[^'\n]*'
    |(?P<other>.)
    |$)""",
    re.VERBOSE,
)
_ARGUMENT = re.compile(r'"((?:[^"\\]|""|\\.)*+)"?|((?:[^\s\\]|\\(?:[^\n]|$))++)')
_REQUEST = re.compile(r"[.'][ \t]*(\\\}|[^\s\\]+|\\[{}\"]|)(.*)", re.S)
_CONDITION = re.compile(
    r"\s*+(!?)\s*+([nteo](?=[\s\\])|[drcmFS]\s+\S+|'[^']*'[^']*'|\"[^\"]*\"[^\"]*\"|\([^ ]*|\S+)\s*(.*)", re.S
)
_DEFINITIONS = ("de", "de1", "am", "am1", "dei", "ami", "ig")


class Line(NamedTuple):
    """A request with its arguments as they are written, or a line of text, for which `name` is empty."""

    name: str
    rest: str


class Roff:
    """Reads the lines of a page; knows the strings that it defines.

    Args:
        text: of the page.
    """

    def __init__(self, text: str) -> None:
        self._lines = re.sub(r"(?<!\\)((?:\\\\)*)\\\n", r"\1", text).split("\n")
        self._place = 0
        self._else: list[bool] = []
        self._strings = dict(_STRINGS)

    def lines(self) -> Iterator[Line]:
        """Yield requests and text in order; conditions and definitions are dealt with."""
        while self._place < len(self._lines):
            text = self._lines[self._place]
            self._place += 1
            yield from self._line(text)

    def raw(self, end: str) -> list[str]:
        """Return the lines as they are written up to the request `end`, which is passed over too."""
        start = self._place
        while self._place < len(self._lines):
            text = self._lines[self._place]
            self._place += 1
            if text[:1] in ".'" and text[1:].lstrip().startswith(end):
                return self._lines[start : self._place - 1]
        return self._lines[start:]

    def plain(self, text: str) -> str:
        """Return text without escapes."""
        return _ESCAPE.sub(self._escaped, text) if "\\" in text else text

    def arguments(self, rest: str) -> list[str]:
        """Return the arguments of a request without escapes; white space parts them, quotation marks hold it."""
        return [self.plain(word) for word in self.words(rest)]

    @staticmethod
    def words(rest: str) -> list[str]:
        """Return the arguments of a request as they are written, without a comment."""
        rest = re.sub(r'(?<!\\)((?:\\\\)*)\\".*', r"\1", rest)
        return [found[2] if found[2] is not None else found[1].replace('""', '"') for found in _ARGUMENT.finditer(rest)]

    def _line(self, text: str) -> Iterator[Line]:
        for _ in range(20):  # conditions on one line
            found = _REQUEST.match(text) if text[:1] in (".", "'") else None
            if not found:
                yield Line("", text)
                return
            name, rest = found[1], found[2].lstrip(" \t")
            if name in ("if", "ie", "el", "while"):
                held, rest = self._condition(name, rest)
                block = rest.startswith("\\{")
                if not held:
                    self._skip(rest)
                    return
                text = rest[2:].lstrip(" \t") if block else rest
                if not text:
                    return
                continue
            if name in _DEFINITIONS:
                self._pass_over(rest, name)
            elif name in ("ds", "ds1", "as", "as1"):
                key, _, value = rest.partition(" ")
                value = self.plain(value.lstrip(" ").removeprefix('"'))
                before = self._strings.get(key, "") if name[0] == "a" else ""
                if key not in _STRINGS:
                    self._strings[key] = (before + value)[:MAX_STRING_CHARS]
            elif name and name[0] not in "\\\"'.":  # else a comment, in one of the ways that pages write them
                yield Line(name, rest)
            return

    def _condition(self, name: str, rest: str) -> tuple[bool, str]:
        """Tell whether a condition holds, as for a terminal, and return what stands behind it."""
        if name == "el":
            return (self._else.pop() if self._else else False), rest
        found = _CONDITION.match(rest)
        held = False
        rest = found[3] if found else ""
        if found:
            held = self._holds(found[2]) != bool(found[1])
        if name == "ie":
            self._else.append(not held)
        return held and name != "while", rest

    def _holds(self, condition: str) -> bool:
        if condition in ("n", "o"):
            return True
        if condition[0] == "d":
            return condition[1:].strip() in self._strings
        if condition[0] in "'\"":
            _, first, second, *_ = condition.split(condition[0])
            return self.plain(first) == self.plain(second)
        figure = re.sub(
            r"\\n(?:\(..|\[[^\]]{0,100}\]|.)", "0", condition.replace(r"\n(.g", "1").replace(r"\n[.g]", "1")
        )
        return figure.strip("()").isdecimal() and int(figure.strip("()")[:9]) > 0

    def _skip(self, rest: str) -> None:
        """Pass over what a condition guards that does not hold."""
        depth = rest.count("\\{") - rest.count("\\}")
        while depth > 0 and self._place < len(self._lines):
            text = self._lines[self._place]
            depth += text.count("\\{") - text.count("\\}")
            self._place += 1

    def _pass_over(self, rest: str, name: str) -> None:
        words = rest.split()
        place = 0 if name == "ig" else 1
        end = "." + (words[place] if len(words) > place and not words[place].startswith("\\") else ".")
        while self._place < len(self._lines):
            text = self._lines[self._place].rstrip()
            self._place += 1
            if text.replace(" ", "") == end or text.startswith(end + " "):
                return

    def _escaped(self, found: re.Match[str]) -> str:
        group = found.lastgroup
        if group is None or group == "comment":
            return ""
        value = found[group]
        if group == "number":
            return _character(int(value))
        if group in ("shown", "mark"):
            return str(found["shown"])
        if group.startswith("string"):
            return self._strings.get(value, "")
        if group == "other":
            return "" if value in _NOTHING else _CHARACTERS.get(value, value)
        return _glyph(value)


def _glyph(name: str) -> str:
    if name in _GLYPHS:
        return _GLYPHS[name]
    if re.fullmatch(r"u[0-9A-F]{4,6}(?:_[0-9A-F]{4,6})*", name):
        return "".join(_character(int(code, 16)) for code in name[1:].split("_"))
    if name.startswith("char") and name[4:].isdecimal():
        return _character(int(name[4:10]))
    return ""


def _character(code: int) -> str:
    return chr(code) if code < 0x110000 else ""


def table_rows(lines: Sequence[str], roff: Roff) -> tuple[list[list[str]], int]:  # noqa: C901 - one branch a line
    """Return the rows of a table of tbl, and how many of the first ones name its columns.

    Args:
        lines: what stands between `.TS` and `.TE`.
        roff: the page.
    """
    place, between, formats = 0, "\t", []
    if lines and lines[0].rstrip().endswith(";"):
        place = 1
        if found := re.search(r"tab\s*\((.)\)", lines[0]):
            between = found[1]
    while place < len(lines):
        formats.append(lines[place])
        place += 1
        if formats[-1].rstrip().endswith("."):
            break
    rows: list[list[str]] = []
    ruled = 0
    block: list[str] | None = None
    pending = ""
    for line in lines[place:]:
        if block is not None:
            if not line.startswith("T}"):
                block.append(_block_line(line, roff))
                continue
            line, block = pending + " ".join(block) + line[2:], None  # noqa: PLW2901
            pending = ""
        elif line[:1] in (".", "'"):
            continue
        if line.rstrip().endswith("T{"):
            pending, block = line.rstrip()[:-2], []
            continue
        if line.strip() in ("_", "="):
            ruled = ruled or len(rows)
            continue
        cells = [one_line(roff.plain(cell)) for cell in line.split(between)]
        rows.append(["" if cell in ("\\^", "_", "=") else cell for cell in cells])
    if pending or block:
        rows.append([one_line(roff.plain(pending)), one_line(" ".join(block or []))])
    bold = len(formats) > 1 and _is_bold(formats[0]) and not _is_bold(formats[1])
    return rows, 1 if len(rows) > 1 and (ruled == 1 or bold) else 0


def _block_line(line: str, roff: Roff) -> str:
    found = _REQUEST.match(line) if line[:1] in (".", "'") else None
    if not found:
        return line
    return ("" if len(found[1]) == 2 and set(found[1]) <= set("BIR") else " ").join(roff.words(found[2]))


def _is_bold(line: str) -> bool:
    columns = re.findall(r"[lLcCrRnNaAsS]\S*", line)
    return bool(columns) and all(re.search(r"[bB]", column) or column[0] in "sS" for column in columns)
