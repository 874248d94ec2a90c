"""A manual page as it grows: paragraphs, items and code.

Flow: `man.py`, which knows the macros -> **here** -> `markup.py`. Pure.
"""

from ingestion.reading.markup import Items, table
from ingestion.reading.roff import Roff, table_rows
from ingestion.reading.text import one_line
from ingestion.reading.text_builder import TextBuilder

MAX_TERM_CHARS = 300


class Page:
    """A page as it grows.

    Args:
        roff: the page.

    Attributes:
        builder: what is written to.
        item: the item that the paragraph belongs to.
        code: the lines of code, where code is gathered.
        glued: the next text stands right behind the last one.
    """

    def __init__(self, roff: Roff) -> None:
        self.roff = roff
        self.builder = TextBuilder()
        self.item: Items | None = None
        self.code: list[str] | None = None
        self._pending: list[str] = []
        self.glued = False

    def text(self, line: str) -> None:
        """Add a line of text, without escapes, to the paragraph or the code."""
        if self.code is not None:
            if self.glued and self.code:
                self.code[-1] += line
            else:
                self.code.append(line)
        elif not line.strip():
            self.flush()
        else:
            if line[0] in " \t":
                self.line_break()
            if self._pending and self._pending[-1] != "\n" and not self.glued:
                self._pending.append(" ")
            self._pending.append(line.lstrip())
        self.glued = False

    def line_break(self) -> None:
        """End the line, not the paragraph."""
        if self._pending and self._pending[-1] != "\n":
            self._pending.append("\n")

    def flush(self) -> None:
        """End the paragraph."""
        lines = "".join(self._pending).split("\n")
        self._pending = []
        text = "\n".join(filter(None, map(one_line, lines)))
        if text and self.item:
            self.item.paragraph(text)
        elif text:
            self.builder.paragraph(text)

    def taken_term(self) -> str:
        """Return the paragraph as the term of what follows, and begin a new one; `""` if it reads like a sentence."""
        text = one_line("".join(self._pending))
        if len(text) > MAX_TERM_CHARS or "\n" in self._pending or text[-1:] in (".", ":"):
            return ""
        self._pending = []
        return text

    def end_item(self) -> None:
        """End the paragraph and the item that it belongs to."""
        self.flush()
        if self.item:
            self.item.begin()
        self.item = None

    def begin_code(self) -> None:
        """Take the lines that follow as they are."""
        if self.code is None:
            self.flush()
            if self.item:
                self.item.begin()
            self.code = []

    def end_code(self) -> None:
        """Write the code that was gathered, if any was."""
        if self.code is not None:
            self.builder.code("\n".join(self.code))
            self.code = None

    def heading(self, text: str, level: int) -> None:
        """End what stands above, and begin a section."""
        self.end_code()
        self.end_item()
        self.builder.heading(text, level)

    def table(self) -> None:
        """Write the table that begins here."""
        self.flush()
        if self.item:
            self.item.begin()
        rows, headers = table_rows(self.roff.raw("TE"), self.roff)
        table(self.builder, rows, headers)
