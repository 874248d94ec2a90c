"""Show the rows that a question asks for, under the names of their columns, and say how many of how many they are.

Flow: `rows.py` -> **here**, in place of quoting where no language model writes -> pieces of text, each row with its
citation; or `Source`s, which a language model reads before others. Chooses nothing.
"""

import threading
from collections.abc import Iterator, Sequence

from index.documents.structure import Block
from query_engine.collection.rows import Rows
from query_engine.reader.table import cells_below, column_names, header_lines, row_line
from query_engine.retrieval.sections import stretch
from query_engine.schema.citations import Citations
from query_engine.schema.passage import Passage
from query_engine.schema.source import Source
from query_engine.text.markdown_escape import as_plain, without_marks

LISTED = 50


class ListingSynthesizer:
    """A `Synthesizer` that shows rows.

    Args:
        found: at least one table's.
    """

    name = "extractive"

    def __init__(self, found: Sequence[Rows]) -> None:
        self._found = found

    def write(
        self,
        question: str,  # noqa: ARG002
        passages: Sequence[Passage],  # noqa: ARG002
        citations: Citations,
        stop: threading.Event,
    ) -> Iterator[str]:
        """Yield the first `LISTED` rows, those of each table below a line that counts them."""
        shown = 0
        for rows in self._found:
            names = column_names(rows.document.text, rows.blocks)
            width = len(names) or max(len(row.cells) for row in rows.blocks)
            above = "\n".join((_counted(rows), "", *header_lines(names, width)))
            for row in rows.blocks[: LISTED - shown]:
                if stop.is_set():
                    return
                number = citations.cite(stretch(rows.passage, rows.document, *row.inner), *row.inner)
                # In the last cell: below the table, no mark would say which row it is of.
                cells = [without_marks(cell) for cell in cells_below(rows.document.text, row, names)]
                yield f"{above}\n{row_line(cells, width).removesuffix(' |')} [{number}]"
                above, shown = "", shown + 1
            if shown < LISTED:
                yield "\n\n"
        left = sum(len(rows.blocks) for rows in self._found) - shown
        if left:
            yield f"\n\n{self._found[0].language.more.format(count=left)}"


def row_sources(found: Sequence[Rows], room_chars: int) -> tuple[Source, ...]:
    """Return the rows as sources, adjacent ones together, until the room is full.

    Args:
        found: by table.
        room_chars: of all sources together.
    """
    sources: list[Source] = []
    for rows in found:
        for first, last in _runs(rows.blocks):
            passage = stretch(rows.passage, rows.document, first.inner[0], last.inner[1])
            room_chars -= len(passage.text)
            if room_chars < 0:
                return tuple(sources)
            sources.append(Source(passage, rows.headings, first.columns))
    return tuple(sources)


def _runs(blocks: Sequence[Block]) -> Iterator[tuple[Block, Block]]:
    """Yield the first and the last of the rows that stand one after the other."""
    first = last = blocks[0]
    for block in blocks[1:]:
        if block.start != last.end:
            yield first, last
            first = block
        last = block
    yield first, last


def _counted(rows: Rows) -> str:
    """Return the line above a table: the number of rows, their table, and the words they match."""
    wording = rows.language.rows if rows.whole else rows.language.first_rows
    table = as_plain(" › ".join(dict.fromkeys((rows.document.title, *rows.headings))))
    said = wording.format(found=len(rows.blocks), all=rows.looked, table=table)
    return f"{said} ({', '.join(rows.words)}):" if rows.words else f"{said}:"
