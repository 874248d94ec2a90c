"""Read manual pages: sections, options with what they do, examples.

Flow: file bytes -> **here** -> `man_page.py` -> `Document`. Pure. Pages in mdoc, the language of the BSDs, are refused:
`mandoc` converts them.

Options and other tagged paragraphs are items, "-a, --all: show everything"; what is set without filling is code. Words
that are bold or in italics are words like others.
"""

import re

from errors import UnreadableError
from index.documents.store import Document
from ingestion.reading.man_page import Page
from ingestion.reading.markup import Items, finished
from ingestion.reading.roff import Roff
from ingestion.reading.text import decode, one_line

# Pages that old versions of Pod::Man wrote call their subsections `.Sh` too, but begin with `.TH`.
_HEADER = re.compile(r"^[.'][ \t]*(TH|Dd|Dt|Sh)\b", re.M)
_CODING = re.compile(rb"coding:[ \t]*([\w.-]{1,40})")
# Several tags of one paragraph are its term together, up to this length.
MAX_TAG_CHARS = 1000
# A page on many functions is called by the first one.
MAX_NAME_CHARS = 80
_BULLETS = frozenset("•·*-–—o○")
_NUMBER = re.compile(r"[(\[]?(\d{1,5})[.)\]]{0,2}")
_PARAGRAPHS = frozenset(("PP", "P", "LP", "HP"))
_CODE_BEGINS = frozenset(("nf", "EX", "Vb", "DS", "CS"))
_CODE_ENDS = frozenset(("fi", "EE", "Ve", "DE", "CE"))
_FONTS = frozenset(("B", "I", "R", "SM", "SB", "b", "i"))
_PAIRED_FONTS = frozenset(("BR", "BI", "IB", "IR", "RB", "RI", "CQ"))
# What says how a page looks, with its arguments.
_LAYOUT = frozenset(
    "ad aln als bd bp break cc ce char close color continue cs cu defcolor device do ds ec eo ev fam fc fp ft ftr "
    "hc hlm hpf hw hy hym hys in it kern lc lf lg ll ls lt mk mso na ne nh nm nop nr nroff ns nx open os "
    "output pc pl pn po ps pso rchar return rfschar rj rm rn rnn rr rs rt schar shift sizes special ss sv sy "
    "ta tc ti tkf tl tm tr trf troff uf ul unformat vpt vs warn warnscale wh while write AT DT LINKSTYLE EN IX "
    "PD PM T& TA TB TE UC".split()
)
_NAME_LINE = re.compile(r"(.+?)(?<!\s)\s++[-–—]++\s++(\S.*)", re.S)


class _Man(Page):
    """A page in the language of `man`."""

    def __init__(self, roff: Roff) -> None:
        super().__init__(roff)
        self.name = self.section = ""
        self._depth = 0
        self._tag: list[str] | None = None  # lines of the tag are awaited
        self._heading = 0  # the next line is a heading of this level
        self._address = ""
        self._said = self._marked = False  # the paragraph has text; it begins with a mark, as an option does

    def read(self) -> None:
        for name, rest in self.roff.lines():
            if name:
                self._request(name, rest)
            else:
                if not self._said:
                    self._marked = rest.startswith(("\\f", "\\-"))
                self._said = True
                continued = rest.endswith("\\c")
                self._text(self.roff.plain(rest))
                if continued:
                    self.glued = True
        self.end_code()
        self._end_item()

    def _end_item(self) -> None:
        if self._tag is not None:
            self._begin_item("")
        self.end_item()

    def _text(self, line: str) -> None:
        if self._heading:
            self._section(line, self._heading)
        elif self._tag is not None and self.code is None:
            if line.strip():
                self._begin_item(line)
        else:
            self.text(line)

    def _begin_item(self, tag: str) -> None:
        tags = [*filter(None, map(one_line, (*(self._tag or ()), tag)))]
        self._tag = None
        term = ", ".join(tags)
        number = _NUMBER.fullmatch(term)
        if term in _BULLETS or not term:
            self.item = Items(self.builder, self._depth)
        elif number:
            self.item = Items(self.builder, self._depth, int(number[1]))
        else:
            self.item = Items(self.builder, self._depth, term=term)

    def _section(self, title: str, level: int) -> None:
        if not title.strip():
            self._heading = level
            return
        self._end_item()
        self._heading = self._depth = 0
        self.heading(title, level)

    def flush(self) -> None:
        """End the paragraph."""
        super().flush()
        self._said = False

    def _request(self, name: str, rest: str) -> None:  # noqa: C901, PLR0912, PLR0915 - one branch a macro
        arguments = self.roff.arguments(rest)
        if name in _PAIRED_FONTS:
            self._text("".join(arguments))
        elif name in _FONTS:
            self._text(" ".join(arguments))
        elif name == "TH":
            self.name, self.section = (*arguments, "", "")[:2]
        elif name in ("SH", "SS", "Sh"):
            self.end_code()
            self._section(" ".join(arguments), 1 if name == "SH" else 2)
        elif name in _PARAGRAPHS:
            if self.code is not None:
                self.code.append("")
            else:
                self._end_item()
        elif name == "TP":
            self.end_code()
            self._end_item()
            self._tag = []
        elif name == "TQ":
            self._more_tags()
        elif name in ("IP", "Ip"):
            self.end_code()
            if arguments and arguments[0].strip():
                self._end_item()
                self._tag = []
                self._begin_item(arguments[0])
            else:
                self.flush()
        elif name == "RS":
            self._indent()
        elif name == "RE":
            self.end_code()
            self._end_item()
            self._depth = max(0, self._depth - 1)
        elif name in _CODE_BEGINS:
            self.begin_code()
        elif name in _CODE_ENDS:
            self.end_code()
        elif name in ("br", "sp", "Sp"):
            if self.code is not None:
                if name != "br":
                    self.code.append("")
            elif name == "br":
                self.line_break()
            else:
                self.flush()
        elif name == "TS":
            self.end_code()
            self.table()
        elif name == "EQ":
            self.builder.code("\n".join(self.roff.raw("EN")), "eqn")
        elif name == "so":
            self.flush()
            self.builder.pair("include", " ".join(arguments))
        elif name in ("UR", "MT"):
            self._address = arguments[0] if arguments else ""
        elif name in ("UE", "ME"):
            self._text(f"<{self._address}>{''.join(arguments[:1])}")
        elif name in ("URL", "MTO"):
            address, shown, end = (*arguments, "", "", "")[:3]
            self._text(f"{shown} <{address}>{end}" if shown else f"<{address}>{end}")
        elif name == "OP":
            self._text(f"[{' '.join(arguments)}]")
        elif name == "SY":
            self.flush()
            self._text(" ".join(arguments))
        elif name == "YS":
            self.flush()
        elif name in _LAYOUT:
            return
        elif arguments and self.builder:  # above the first heading macros of the page's own are at work
            self._text(" ".join(arguments))

    def _more_tags(self) -> None:
        """Take the tag that was read, whose item has no words yet, as one of several."""
        if self._tag is None and self.item:
            self.flush()
            again = not self.item.begun and len(self.item.term) < MAX_TAG_CHARS
            if not again:
                self.item.begin()
            self._tag = [self.item.term] if again else []
            self.item = None
        elif self._tag is None:
            self._tag = []

    def _indent(self) -> None:
        """Begin what stands deeper; below an option, as AsciiDoc and DocBook are converted, that is what it does."""
        self.end_code()
        if self._tag is not None:
            self._begin_item("")
        term = self.taken_term() if self._said and self._marked and self.item is None else ""
        if term:
            self.item = Items(self.builder, self._depth, term=term)
        else:
            self.flush()
            if self.item:
                self.item.begin()
        self._depth = min(self._depth + 1, 50)


def read_man(data: bytes, doc_id: str) -> Document:
    """Return the document; its title is what the page is called and does, `tar(1) - an archiver`.

    Else it is what of that is known, or the file's name.

    Raises:
        UnreadableError: no text, binary data, or a page in mdoc.
    """
    coding = _CODING.search(b"\n".join(data.split(b"\n", 2)[:2]))
    text = decode(data, coding[1].decode("ascii") if coding else None).replace("\r\n", "\n")
    header = _HEADER.search(text)
    if header and header[1] != "TH":
        raise UnreadableError(
            "It is a manual page in mdoc, which is not read.", "Convert it: mandoc -T man page.1 > converted.1"
        )
    page = _Man(Roff(text))
    page.read()
    return finished(page.builder, doc_id, _title(page))


def _title(page: _Man) -> str:
    name, does = page.name, ""
    text, blocks = page.builder.finished()
    first = next((place for place, block in enumerate(blocks) if block.kind == "heading"), len(blocks)) + 1
    found = _NAME_LINE.fullmatch(text[slice(*blocks[first].inner)]) if first < len(blocks) else None
    if found:
        name, does = one_line(found[1]), one_line(found[2])
        name = name if len(name) <= MAX_NAME_CHARS else name.partition(",")[0]
    title = f"{name}({page.section})" if name and page.section else name
    return f"{title} - {does}" if does else title
