"""Hold what a document's text must wait for: lines of code until the last of them, notes until their block has ended.

Readers of documents hand lines and notes over as they meet them; here they are written through the `TextBuilder`.
"""

from ingestion.reading.text_builder import TextBuilder


class Trailing:
    """Writes code as one block, footnotes behind their block, endnotes at the end; notes are numbered.

    Args:
        builder: the document so far.
    """

    def __init__(self, builder: TextBuilder) -> None:
        self._builder = builder
        self._code: list[str] = []
        self._footnotes: list[str] = []
        self._endnotes: list[str] = []
        self._noted = 0

    def code_line(self, text: str) -> None:
        """Take a paragraph that is a line of code."""
        self._code.append(text)

    def note(self, text: str, *, at_end: bool) -> None:
        """Take a footnote, or an endnote if it stands `at_end`; nothing if it is empty."""
        if text and at_end:
            self._endnotes.append(text)
        elif text:
            self._noted += 1
            self._footnotes.append(f"Footnote {self._noted}: {text}")

    def end_block(self) -> None:
        """Write the footnotes of a block that has ended; those within code wait for its last line."""
        if self._code:
            return
        notes, self._footnotes = self._footnotes, []
        for text in notes:
            self._builder.paragraph(text)

    def end_code(self) -> None:
        """Write the lines of code, and the footnotes in them, before what is not code."""
        if self._code:
            lines, self._code = self._code, []
            self._builder.code("\n".join(lines))
            self.end_block()

    def end(self) -> None:
        """Write what stands at the end of the document."""
        self.end_code()
        for number, text in enumerate(self._endnotes, 1):
            self._builder.paragraph(f"Endnote {number}: {text}")
