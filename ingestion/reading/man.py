"""Read manual pages: sections, options with what they do, examples.

Flow: file bytes -> `roff.py` -> **here** -> `markup.py` -> `Document`. Pure. Pages in mdoc, the language of the
BSDs, are refused: `mandoc` converts them.

Options and other tagged paragraphs are items, "-a, --all: show everything"; what is set without filling is code. Words
that are bold or in italics are words like others.
"""

import re

from errors import UnreadableError
from index.documents.store import Document
from ingestion.reading.markup import Items, finished, table
from ingestion.reading.roff import Roff, table_rows
from ingestion.reading.text import decode, one_line
from ingestion.reading.text_builder import TextBuilder

# Pages that old versions of Pod::Man wrote call their subsections `.Sh` too, but begin with `.TH`.
_HEADER = re.compile(r"^[.'][ \t]*(TH|Dd|Dt|Sh)\b", re.M)
_CODING = re.compile(rb"coding:[ \t]*([\w.-]{1,40})")
# Several tags of one paragraph are its term together, up to this length.
MAX_TAG_CHARS = 1000
MAX_TERM_CHARS = 300
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


class _Man:
    """A page in the language of `man`, as it grows: paragraphs, items and code."""

    def __init__(self, roff: Roff) -> None:
        self.builder = TextBuilder()
        self.name = self.section = ""
        self._roff = roff
        self._item: Items | None = None  # that the paragraph belongs to
        self._code: list[str] | None = None  # lines of code that are being gathered
        self._pending: list[str] = []  # of the paragraph
        self._glued = False  # the next text stands right behind the last one
        self._depth = 0
        self._tag: list[str] | None = None  # lines of the tag are awaited
        self._heading = 0  # the next line is a heading of this level
        self._address = ""
        self._said = self._marked = False  # the paragraph has text; it begins with a mark, as an option does

    def read(self) -> None:
        for name, rest in self._roff.lines():
            if name:
                self._request(name, rest)
            else:
                if not self._said:
                    self._marked = rest.startswith(("\\f", "\\-"))
                self._said = True
                continued = rest.endswith("\\c")
                self._text(self._roff.plain(rest))
                if continued:
                    self._glued = True
        self._end_code()
        self._end_item()

    def _end_item(self) -> None:
        """End the paragraph and the item that it belongs to."""
        if self._tag is not None:
            self._begin_item("")
        self._flush()
        self._begin_words()
        self._item = None

    def _begin_words(self) -> None:
        """Write the item's term, if nothing of the item is written: something else follows."""
        if self._item:
            self._item.begin()

    def _text(self, line: str) -> None:
        if self._heading:
            self._section(line, self._heading)
        elif self._tag is not None and self._code is None:
            if line.strip():
                self._begin_item(line)
        else:
            self._add(line)

    def _add(self, line: str) -> None:
        """Add a line of text, without escapes, to the paragraph or the code."""
        if self._code is not None:
            if self._glued and self._code:
                self._code[-1] += line
            else:
                self._code.append(line)
        elif not line.strip():
            self._flush()
        else:
            if line[0] in " \t":
                self._break_line()
            if self._pending and self._pending[-1] != "\n" and not self._glued:
                self._pending.append(" ")
            self._pending.append(line.lstrip())
        self._glued = False

    def _break_line(self) -> None:
        """End the line, not the paragraph."""
        if self._pending and self._pending[-1] != "\n":
            self._pending.append("\n")

    def _begin_item(self, tag: str) -> None:
        tags = [*filter(None, map(one_line, (*(self._tag or ()), tag)))]
        self._tag = None
        term = ", ".join(tags)
        number = _NUMBER.fullmatch(term)
        shown = "" if number or term in _BULLETS else term
        self._item = Items(self.builder, self._depth, int(number[1]) if number else None, shown)

    def _section(self, title: str, level: int) -> None:
        if not title.strip():
            self._heading = level
            return
        self._end_item()
        self._heading = self._depth = 0
        self._end_code()
        self.builder.heading(title, level)

    def _flush(self) -> None:
        """End the paragraph."""
        lines = "".join(self._pending).split("\n")
        self._pending, self._said = [], False
        text = "\n".join(filter(None, map(one_line, lines)))
        if text and self._item:
            self._item.paragraph(text)
        elif text:
            self.builder.paragraph(text)

    def _taken_term(self) -> str:
        """Return the paragraph as the term of what follows, and begin a new one; `""` if it reads like a sentence."""
        text = one_line("".join(self._pending))
        if len(text) > MAX_TERM_CHARS or "\n" in self._pending or text[-1:] in (".", ":"):
            return ""
        self._pending = []
        return text

    def _begin_code(self) -> None:
        """Take the lines that follow as they are."""
        if self._code is None:
            self._flush()
            self._begin_words()
            self._code = []

    def _end_code(self) -> None:
        """Write the code that was gathered, if any was."""
        if self._code is not None:
            self.builder.code("\n".join(self._code))
            self._code = None

    def _request(self, name: str, rest: str) -> None:  # noqa: C901, PLR0912, PLR0915 - one branch a macro
        arguments = self._roff.arguments(rest)
        if name in _PAIRED_FONTS:
            self._text("".join(arguments))
        elif name in _FONTS:
            self._text(" ".join(arguments))
        elif name == "TH":
            self.name, self.section = (*arguments, "", "")[:2]
        elif name in ("SH", "SS", "Sh"):
            self._end_code()
            self._section(" ".join(arguments), 1 if name == "SH" else 2)
        elif name in _PARAGRAPHS:
            if self._code is not None:
                self._code.append("")
            else:
                self._end_item()
        elif name == "TP":
            self._end_code()
            self._end_item()
            self._tag = []
        elif name == "TQ":
            self._more_tags()
        elif name in ("IP", "Ip"):
            self._end_code()
            if arguments and arguments[0].strip():
                self._end_item()
                self._tag = []
                self._begin_item(arguments[0])
            else:
                self._flush()
        elif name == "RS":
            self._indent()
        elif name == "RE":
            self._end_code()
            self._end_item()
            self._depth = max(0, self._depth - 1)
        elif name in _CODE_BEGINS:
            self._begin_code()
        elif name in _CODE_ENDS:
            self._end_code()
        elif name in ("br", "sp", "Sp"):
            if self._code is not None:
                if name != "br":
                    self._code.append("")
            elif name == "br":
                self._break_line()
            else:
                self._flush()
        elif name == "TS":
            self._end_code()
            self._flush()
            self._begin_words()
            table(self.builder, *table_rows(self._roff.raw("TE"), self._roff))
        elif name == "EQ":
            self.builder.code("\n".join(self._roff.raw("EN")), "eqn")
        elif name == "so":
            self._flush()
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
            self._flush()
            self._text(" ".join(arguments))
        elif name == "YS":
            self._flush()
        elif name in _LAYOUT:
            return
        elif arguments and self.builder:  # above the first heading macros of the page's own are at work
            self._text(" ".join(arguments))

    def _more_tags(self) -> None:
        """Take the tag that was read, whose item has no words yet, as one of several."""
        if self._tag is None and self._item:
            self._flush()
            again = not self._item.started and len(self._item.term) < MAX_TAG_CHARS
            if not again:
                self._item.begin()
            self._tag = [self._item.term] if again else []
            self._item = None
        elif self._tag is None:
            self._tag = []

    def _indent(self) -> None:
        """Begin what stands deeper; below an option, as AsciiDoc and DocBook are converted, that is what it does."""
        self._end_code()
        if self._tag is not None:
            self._begin_item("")
        term = self._taken_term() if self._said and self._marked and self._item is None else ""
        if term:
            self._item = Items(self.builder, self._depth, term=term)
        else:
            self._flush()
            self._begin_words()
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
