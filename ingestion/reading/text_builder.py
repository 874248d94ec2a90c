"""Write a document's text block by block, so that its structure is known exactly: what readers of rich formats share.

The text is in the Markdown that people and language models read well: `## ` before headings, `- ` or `1. ` before
items, ` | ` between cells, fences around code. What a block is stands in `index/documents/structure.py`.
"""

from collections.abc import Sequence

from index.documents.guess import guessed_blocks
from index.documents.structure import Block, Kind, Span
from ingestion.reading.text import clean, one_line
from ingestion.reading.text_budget import BETWEEN_CELLS, Growth, check

MAX_HEADING_LEVEL = 6
MAX_DEPTH = 8
# Blocks of these kinds stand on lines of their own without a blank line between two of a kind.
_DENSE = frozenset(("item", "row", "pair"))


class TextBuilder:
    """Grows a text with its blocks. What holds no visible character adds nothing.

    Texts are cleaned here (`text.clean`), so that readers hand over what they find. Whatever is added raises
    UnreadableError once the text is longer than the file may become (`text_budget.py`).
    """

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._blocks: list[Block] = []
        self._length = 0

    def __len__(self) -> int:
        """Characters so far, without the space after the last block."""
        return self._length

    def heading(self, text: str, level: int) -> None:
        """Add a heading; level 1 is the outermost, deeper ones than `MAX_HEADING_LEVEL` are shown as that."""
        level = min(max(level, 1), MAX_HEADING_LEVEL)
        self._marked("heading", "#" * level + " ", one_line(text), level=level)

    def paragraph(self, text: str) -> None:
        """Add a paragraph; its line ends are kept."""
        self._marked("paragraph", "", clean(text).strip())

    def plain(self, text: str) -> None:
        """Add text without markup, such as a mail's: what its parts are is guessed."""
        text = clean(text)
        if not text.strip():
            return
        start = self._begin("text")
        self._append(text)
        self._blocks += [block.moved(lambda place: start + place) for block in guessed_blocks(text)]

    def item(self, text: str, *, depth: int = 0, number: int | None = None) -> None:
        """Add a list item, on one line; with a number if its list is ordered."""
        depth = min(max(depth, 0), MAX_DEPTH)
        mark = "- " if number is None else f"{number}. "
        self._marked("item", "  " * depth + mark, one_line(text), level=depth, ordered=number is not None)

    def quote(self, text: str, *, depth: int = 0, marked: bool = True) -> None:
        """Add a quotation, such as the thread below a mail.

        Args:
            text: may have several lines.
            depth: in how many other quotations it stands.
            marked: each line gets `> `, more of them inside another quotation.
        """
        depth = min(max(depth, 0), MAX_DEPTH)
        mark = "> " * (depth + 1) if marked else ""
        lines = [f"{mark}{line}".rstrip() for line in clean(text).strip().split("\n")]
        self._marked("quote", "", "\n".join(lines) if clean(text).strip() else "", level=depth)

    def caption(self, text: str) -> None:
        """Add the caption of a table or figure, or the text that stands for an image."""
        self._marked("caption", "", one_line(text))

    def code(self, text: str, language: str = "") -> None:
        """Add code between fences, as it stands."""
        body = clean(text)
        if not body.strip():
            return
        fence = "```"
        while fence in body:
            fence += "`"
        language = one_line(language).replace(" ", "")
        self._marked("code", f"{fence}{language}\n", body, behind=f"\n{fence}", language=language)

    def pair(self, key: str, value: str) -> None:
        """Add a `key: value` line, such as a mail's header or a field of a form; without a value, nothing."""
        key, value = one_line(key).rstrip(":"), one_line(value)
        if not key or not value:
            return
        start = self._begin("pair")
        line = f"{key}: {value}"
        cells = ((start, start + len(key)), (start + len(line) - len(value), start + len(line)))
        self._add("pair", start, line, (start, start + len(line)), cells=cells)

    def row(
        self, cells: Sequence[str], columns: Sequence[str] = (), *, header: bool = False, ruled: bool = True
    ) -> None:
        """Add a table's row on one line.

        Args:
            cells: texts, empty ones too; at least one must not be.
            columns: what each cell is called; leave them out where that is not certain.
            header: these cells name the columns of the rows that follow; give those rows the names as `columns`.
            ruled: a header gets a rule below it, as in Markdown.
        """
        words = self._words(cells)
        if not any(words):
            return
        start = self._begin("row")
        edged = not words[0] or not words[-1]  # an empty cell at an end would be lost
        spans, line = _joined(words, start, "| " if edged else "", " | ")
        line += " |" if edged else ""
        inner = (start, start + len(line))
        if header and ruled:
            line += "\n" + " | ".join(["---"] * len(words))
        names = tuple(map(one_line, columns)) if len(columns) == len(words) else ()
        self._add("row", start, line, inner, cells=spans, columns=names, header=header)

    def record(self, columns: Sequence[str], cells: Sequence[str]) -> None:
        """Add a table's row as one `column: value` line a cell, for tables with wide rows; empty cells are left out.

        Args:
            columns: a name for each cell.
            cells: texts.
        """
        named = [*zip(self._words(columns), self._words(cells), strict=True)]
        named = [(name, value) for name, value in named if name and value]
        if not named:
            return
        start = self._begin("record")
        lines, spans, length = [], [], 0
        for name, value in named:
            line = f"{name}: {value}"
            lines.append(line)
            spans.append((start + length + len(line) - len(value), start + length + len(line)))
            length += len(line) + 1
        text = "\n".join(lines)
        names = tuple(name for name, _ in named)
        self._add("row", start, text, (start, start + len(text)), cells=tuple(spans), columns=names)

    def extend(self, text: str, blocks: Sequence[Block]) -> None:
        """Add a cleaned text after a blank line, such as another builder's, with the blocks that tile it."""
        if not text:
            return
        self._part("\n\n")
        start = self._length
        self._append(text)
        self._blocks += [block.moved(lambda place: start + place) for block in blocks]

    def finished(self) -> tuple[str, tuple[Block, ...]]:
        """Return the text, and the blocks that tile it; `""` and none if nothing was added."""
        ends = [block.start for block in self._blocks[1:]] + [self._length]
        blocks = [block._replace(end=end) for block, end in zip(self._blocks, ends, strict=False)]
        return "".join(self._parts), tuple(blocks)

    def _marked(
        self,
        kind: Kind,
        before: str,
        words: str,
        *,
        behind: str = "",
        level: int = 0,
        ordered: bool = False,
        language: str = "",
    ) -> None:
        if not words:
            return
        start = self._begin(kind)
        inner = (start + len(before), start + len(before) + len(words))
        text = f"{before}{words}{behind}"
        self._add(kind, start, text, inner, level=level, ordered=ordered, language=language)

    def _begin(self, kind: str) -> int:
        """Part the next block from the one before it; return where it begins."""
        if self._blocks:
            last = self._blocks[-1].kind
            dense = (kind in _DENSE and last == kind) or (last, kind) == ("caption", "row")
            self._part("\n" if dense else "\n\n")
        return self._length

    def _part(self, gap: str) -> None:
        if self._blocks:
            self._parts.append(gap)
            self._length += len(gap)

    def _add(
        self,
        kind: Kind,
        start: int,
        text: str,
        inner: Span,
        *,
        level: int = 0,
        ordered: bool = False,
        cells: tuple[Span, ...] = (),
        columns: tuple[str, ...] = (),
        header: bool = False,
        language: str = "",
    ) -> None:
        self._append(text)
        self._blocks.append(Block(kind, start, self._length, inner, level, ordered, cells, columns, header, language))

    def _words(self, cells: Sequence[str]) -> list[str]:
        """Return cells as they are written; one that is repeated is counted before there are many of it."""
        growth = Growth()
        growth.add(self._length)
        words = []
        for cell in cells:
            words.append(one_line(cell))
            growth.add(len(words[-1]) + BETWEEN_CELLS)
        return words

    def _append(self, text: str) -> None:
        check(self._length + len(text))
        self._parts.append(text)
        self._length += len(text)


def _joined(words: Sequence[str], start: int, before: str, between: str) -> tuple[tuple[Span, ...], str]:
    """Return where each text stands in the line that they form, and the line."""
    line, spans = before, []
    for place, word in enumerate(words):
        line += between if place else ""
        spans.append((start + len(line), start + len(line) + len(word)))
        line += word
    return tuple(spans), line
