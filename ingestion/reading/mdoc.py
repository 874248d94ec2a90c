"""Read manual pages in the language of the BSDs, in which macros say what a word is.

Flow: `man.py` -> **here** -> `man_page.py`. Pure.
"""

from collections.abc import Callable
from dataclasses import dataclass

from ingestion.reading.man_page import Page
from ingestion.reading.markup import Items, table
from ingestion.reading.roff import Roff

_CLOSING = frozenset(".,:;)]?!")
_OPENING = frozenset("([")
# What encloses the rest of a line, and the macros that open and close the same over several.
_ENCLOSED = {
    "Op": ("[", "]"),
    "Bq": ("[", "]"),
    "Pq": ("(", ")"),
    "Dq": ("“", "”"),
    "Sq": ("‘", "’"),
    "Ql": ("‘", "’"),
    "Qq": ('"', '"'),
    "Qo": ('"', '"'),
    "Aq": ("<", ">"),
    "Brq": ("{", "}"),
}
_OPENED = {"Oo": "[", "Bo": "[", "Po": "(", "Do": "“", "So": "‘", "Qo": '"', "Ao": "<", "Bro": "{", "Eo": ""}
_CLOSED = {"Oc": "]", "Bc": "]", "Pc": ")", "Dc": "”", "Sc": "’", "Qc": '"', "Ac": ">", "Brc": "}", "Ec": ""}
_WORDS = frozenset(
    "Ad An Ar Cd Cm Dv Em Er Ev Fa Fd Fr Ft Ic Lb Li Ms Mt No Pa St Sx Sy Tn Va Vt %A %B %C %D %I %J %N %O %P %Q %R %T "
    "%U %V Bf Ef Hf".split()
)
_SYSTEMS = {
    "Ux": "UNIX",
    "Bx": "BSD",
    "Fx": "FreeBSD",
    "Nx": "NetBSD",
    "Ox": "OpenBSD",
    "Dx": "DragonFly",
    "At": "AT&T UNIX",
    "Bsx": "BSD/OS",
}
_OTHERS = frozenset("Ap Es En Fl Fn Fo Fc In Lk Nd Nm Ns Pf Sm Xr Xo Xc Ex Rv Ta Bk Ek Db".split())
_CALLABLE = frozenset((*_ENCLOSED, *_OPENED, *_CLOSED, *_WORDS, *_SYSTEMS, *_OTHERS)) - {"Ex", "Rv", "Bk", "Ek"}
# Macros that may begin a line but are layout.
_LAYOUT = frozenset("Dd Os Bk Ek Bf Ef Db in nr ds ad na ll ta ti ft fi Tg hy nh ne po rm tr PD".split())
_DEFINING = frozenset(("tag", "hang", "ohang", "inset", "diag"))
MAX_NESTED = 30


@dataclass
class _List:
    """A list that is open."""

    kind: str
    outer: Items | None
    number: int = 0
    rows: list[list[str]] | None = None
    headers: int = 0


class _Phrase:
    """Words of a line, with the spaces between them that mdoc sets; in a table's row cells of such."""

    def __init__(self, *, spaced: bool = True) -> None:
        self._cells: list[list[str]] = [[]]
        self.glued = True  # no space parts the next word from the last one
        self.spaced = spaced

    @property
    def cells(self) -> list[str]:
        """The texts of the cells."""
        return ["".join(words) for words in self._cells]

    @property
    def text(self) -> str:
        """The text of all cells."""
        return " ".join(filter(None, self.cells))

    def add(self, word: str, *, before: bool = True, after: bool = True) -> None:
        """Add a word; `before` and `after` say whether a space may part it from its neighbours."""
        if before and not self.glued:
            self._cells[-1].append(" ")
        self._cells[-1].append(word)
        self.glued = not (after and self.spaced)

    def next_cell(self) -> None:
        """End the cell."""
        self._cells.append([])
        self.glued = True


class Mdoc(Page):
    """A page in the language of mdoc."""

    def __init__(self, roff: Roff) -> None:
        super().__init__(roff)
        self.name = self.section = ""
        self._title = ""
        self._lists: list[_List] = []
        self._head: _Phrase | None = None  # of an item, which goes on over lines
        self._function: list[str] | None = None  # arguments of one that goes on over lines
        self._reference: list[str] | None = None  # parts of one to a book or paper
        self._spaced = True
        self._synopsis = False

    def read(self) -> None:
        """Write the page to its builder."""
        for name, rest in self.roff.lines():
            if name:
                self._request(name, rest)
            else:
                self._say(self.roff.plain(rest))
        self.end_code()
        while self._lists:
            self._end_list()
        self.end_item()

    def _say(self, line: str) -> None:
        if self._head is not None:
            self._head.add(line.strip())
        elif self._lists and self._lists[-1].rows and self.code is None:
            cells = self._lists[-1].rows[-1]
            cells[-1] = f"{cells[-1]} {line}"
        else:
            self.text(line)
            if not self._spaced:
                self.glued = True

    def _request(self, name: str, rest: str) -> None:  # noqa: C901, PLR0912, PLR0915 - one branch a macro
        words = self.roff.words(rest)
        match name:
            case "Dt":
                self._title, self.section = (*map(self.roff.plain, words), "", "")[:2]
            case "Sh" | "Ss":
                while self._lists:
                    self._end_list()
                title = self._inline(words)
                self._synopsis = title.upper() == "SYNOPSIS"
                self.heading(title, 1 if name == "Sh" else 2)
            case "Pp" | "Lp" | "sp":
                if self.code is not None:
                    self.code.append("")
                else:
                    self.flush()
            case "br":
                self.line_break()
            case "Bl":
                self._begin_list(words)
            case "El":
                self._end_list()
            case "It":
                self._item(words)
            case "Bd":
                if {"-literal", "-unfilled"} & set(words):
                    self.begin_code()
                else:
                    self.flush()
            case "Ed":
                self.end_code()
                self.flush()
            case "D1":
                self.flush()
                self._say(self._inline(words))
                self.flush()
            case "Dl":
                self.begin_code()
                self.text(self._inline(words))
                self.end_code()
            case "Rs":
                self._reference = []
            case "Re":
                self._say(f"{', '.join(self._reference or ())}.")
                self._reference = None
            case "nf" | "EX":
                self.begin_code()
            case "fi" | "EE":
                self.end_code()
            case "TS":
                self.table()
            case "Nd":
                self._say(f"- {self._inline(words)}")
            case "Ex" if "-std" in words:
                names = words[1:] or [self.name]
                verb = "utilities exit" if len(names) > 1 else "utility exits"
                self._say(f"The {' and '.join(names)} {verb} 0 on success, and >0 if an error occurs.")
            case "Rv" if "-std" in words:
                names = [f"{name}()" for name in words[1:] or [self.name]]
                what = f"functions {' and '.join(names)} return" if len(names) > 1 else f"{names[0]} function returns"
                self._say(
                    f"The {what} the value 0 if successful; otherwise the value -1, and errno is set to the error."
                )
            case "Fd" | "In" | "Vt" | "Ft" if self._synopsis:
                self._say(self._inline([name, *words]))
                if name != "Ft":
                    self.line_break()
            case _ if name in _LAYOUT:
                return
            case _:
                self._line(name, words)

    def _line(self, name: str, words: list[str]) -> None:
        if name == "Nm" and words and not self.name:
            self.name = self.roff.plain(words[0])
        if self._head is not None:
            self._phrase([name, *words], self._head)
            if "Xc" in (name, *words):
                self._end_head()
            return
        if name[0] == "%" and self._reference is not None:
            self._reference.append(self._inline(words))
            return
        if name == "Sm":
            self._spaced = "off" not in words
            self.glued = False
            return
        if name == "Nm" and self._synopsis and self.name:
            self.line_break()
        text = self._inline([name, *words])
        closes = name in _CLOSED or name == "Fc" or (name == "Ns" and text)
        if closes:
            self.glued = True
        if text:
            self._say(text)
        if (name in _OPENED and text) or (words and words[-1] == "Ns") or name == "Ap":
            self.glued = True

    def _begin_list(self, words: list[str]) -> None:
        self.flush()
        if self.item:
            self.item.begin()
        kind = next(
            (word[1:] for word in words if word.startswith("-") and word not in ("-compact", "-width", "-offset")), ""
        )
        rows: list[list[str]] | None = [] if kind == "column" else None
        if len(self._lists) < MAX_NESTED:
            self._lists.append(_List(kind, self.item, rows=rows))
        self.item = None

    def _end_list(self) -> None:
        self.end_code()
        if self._head is not None:
            self._end_head()
        self.end_item()
        if self._lists:
            ended = self._lists.pop()
            self.item = ended.outer
            if ended.rows:
                table(self.builder, ended.rows, ended.headers if len(ended.rows) > 1 else 0)

    def _item(self, words: list[str]) -> None:  # noqa: C901 - one branch a kind of list
        if not self._lists:
            self._say(self._inline(words))
            return
        self.end_code()
        if self._head is not None:
            self._end_head()
        self.end_item()
        current = self._lists[-1]
        depth = len(self._lists) - 1
        if current.rows is not None:
            phrase = _Phrase()
            for place, cell in enumerate("\t".join(words).split("\t") if "\t" in "".join(words) else [""]):
                if place:
                    phrase.next_cell()
                phrase.add(self.roff.plain(cell))
            if not any(phrase.cells):
                self._phrase(words, phrase)
            if not current.rows and words[:1] in (["Sy"], ["Em"]):
                current.headers = 1
            current.rows.append(phrase.cells)
        elif current.kind in _DEFINING:
            self._head = _Phrase()
            self._phrase(words, self._head)
            if "Xo" not in words or "Xc" in words:
                self._end_head()
        elif current.kind == "enum":
            current.number += 1
            self.item = Items(self.builder, depth, current.number)
        else:
            self.item = Items(self.builder, depth)
            if words:
                self._say(self._inline(words))

    def _end_head(self) -> None:
        assert self._head is not None
        self.item = Items(self.builder, len(self._lists) - 1, term=self._head.text)
        self._head = None

    def _inline(self, words: list[str]) -> str:
        phrase = _Phrase(spaced=self._spaced)
        self._phrase(words, phrase)
        return phrase.text

    def _phrase(self, words: list[str], phrase: _Phrase, depth: int = 0) -> None:
        place = 0
        while place < len(words):
            word = words[place]
            place += 1
            if word in _ENCLOSED and depth < MAX_NESTED:
                before, after = _ENCLOSED[word]
                rest = words[place:]
                closing: list[str] = []
                while rest and rest[-1] in _CLOSING:
                    closing.insert(0, rest.pop())
                phrase.add(before, after=False)
                self._phrase(rest, phrase, depth + 1)
                phrase.add(after, before=False)
                self._words(closing, phrase)
                return
            if word in _CALLABLE:
                stop = next((at for at in range(place, len(words)) if words[at] in _CALLABLE), len(words))
                self._macro(word, words[place:stop], phrase, last=stop == len(words))
                place = stop
            else:
                self._words([word], phrase)

    def _words(self, words: list[str], phrase: _Phrase, mark: Callable[[str], str] = str) -> None:
        for word in words:
            plain = self.roff.plain(word)
            if word in _CLOSING:
                phrase.add(word, before=False)
            elif word in _OPENING:
                phrase.add(word, after=False)
            elif word == "|":
                phrase.add(word)
            else:
                phrase.add(mark(plain))

    def _macro(self, name: str, words: list[str], phrase: _Phrase, *, last: bool) -> None:  # noqa: C901, PLR0912, PLR0915
        named = [word for word in words if word not in _CLOSING and word not in _OPENING]
        match name:
            case "Fl":
                if not named:
                    phrase.add("-", after=last or bool(words))
                self._words(words, phrase, lambda word: f"-{word}")
            case "Ar" if not named:
                phrase.add("file ...")
                self._words(words, phrase)
            case "Pa" if not named:
                phrase.add("~")
                self._words(words, phrase)
            case "Nm" if not named:
                phrase.add(self.name or self._title.lower())
                self._words(words, phrase)
            case "Ns":
                phrase.glued = True
                self._words(words, phrase)
            case "Ap":
                phrase.add("'", before=False, after=False)
                self._words(words, phrase)
            case "Pf":
                phrase.add(self.roff.plain(words[0]) if words else "", after=False)
                self._words(words[1:], phrase)
            case "Sm":
                phrase.spaced = "off" not in words
                phrase.glued = False
            case "Xr" if len(named) > 1:
                phrase.add(f"{self.roff.plain(named[0])}({self.roff.plain(named[1])})")
                self._words(words[words.index(named[1]) + 1 :], phrase)
            case "Fn" if named:
                inner = ", ".join(map(self.roff.plain, named[1:]))
                phrase.add(f"{self.roff.plain(named[0])}({inner})")
                self._words([word for word in words if word in _CLOSING], phrase)
            case "Fo":
                self._function = []
                phrase.add(f"{self.roff.plain(named[0])}(" if named else "(", after=False)
            case "Fa" if self._function is not None:
                phrase.add(("" if not self._function else ", ") + ", ".join(map(self.roff.plain, words)), before=False)
                self._function += words
                phrase.glued = True
            case "Fc":
                self._function = None
                phrase.add(")", before=False)
                self._words(words, phrase)
            case "In" if named:
                phrase.add(f"#include <{self.roff.plain(named[0])}>")
                self._words(words[1:], phrase)
            case "Lk" if named:
                shown = " ".join(map(self.roff.plain, named[1:]))
                phrase.add(f"{shown} <{self.roff.plain(named[0])}>" if shown else self.roff.plain(named[0]))
                self._words([word for word in words if word in _CLOSING], phrase)
            case "Ta":
                phrase.next_cell()
                self._words(words, phrase)
            case "Nd":
                phrase.add("-")
                self._words(words, phrase)
            case _ if name in _OPENED:
                phrase.add(_OPENED[name], after=False)
                self._words(words, phrase)
            case _ if name in _CLOSED:
                phrase.add(_CLOSED[name], before=False)
                self._words(words, phrase)
            case _ if name in _SYSTEMS:
                phrase.add(" ".join((_SYSTEMS[name], *map(self.roff.plain, named))))
                self._words([word for word in words if word in _CLOSING], phrase)
            case _:
                self._words([word for word in words if word not in ("-nosplit", "-split")], phrase)
