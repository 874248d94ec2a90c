"""Write an answer by quoting the blocks that answer.

Flow: passages that passed the gate -> `reader/reading.py` scores their sentences and lines -> `block_selection.py`
chooses -> **here** -> quotes (`quoting.py` writes them). No language model: nothing it says can be made up, and it
needs neither download nor GPU. What stands outside a quote is only its title or heading, where the quote leaves open
whom it is about, and the names of a table's columns.
"""

import re
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace

from query_engine.reader.reading import LeafReader
from query_engine.schema.passage import Passage
from query_engine.synthesis.block_selection import choose
from query_engine.synthesis.blocks import ChosenBlock
from query_engine.synthesis.quoting import Quote, QuotingSynthesizer, TableRows
from query_engine.text.asked_kind import asks_for_much
from query_engine.text.markdown_escape import as_text, fenced, without_marks
from query_engine.text.markdown_table import table_head
from query_engine.text.short_answers import short_answer
from query_engine.text.standalone import denies, leaves_open, names_another
from query_engine.text.words import WORD

LEAD_WORDS = 8
# Log-probability from which the reader's words are trusted. Of SQuAD 2.0's 293 answerable questions 17 have bold words
# then, of which 16 are right.
BOLD_SCORE = -0.6
# Signs of PDFs and word processors that Markdown does not know as bullets.
_BULLET_SIGN = re.compile(r"^[•▪◦‣](?=\s)[ \t]*")
_BULLET = re.compile(r"\s*[-*+•▪◦‣]\s+")
# The names of a row's columns, and its cells.
Row = tuple[Sequence[str], list[str]]
# A line `key: value`.
_ENTRY = re.compile(r"[^\s:][^:]{0,60}:\s")


class ExtractiveSynthesizer(QuotingSynthesizer):
    """Quotes the documents.

    Args:
        reader: reads the passages.
        max_words: length of an answer, doubled for how-, why-, list- and two-part questions; a first block may be
            longer.
    """

    def __init__(self, reader: LeafReader, max_words: int) -> None:
        self._reader = reader
        self._max_words = max_words

    def quotes(self, question: str, passages: Sequence[Passage], stop: threading.Event) -> Iterator[Quote]:
        """Yield what answers, best first; nothing when the passages hold no sentence."""
        reading = self._reader.read(question, passages)
        max_words = self._max_words * (2 if asks_for_much(question) else 1)
        for place, block in enumerate(choose(reading, max_words)):
            for start, end in block.spans():
                if stop.is_set():
                    return
                yield _quote(block, start, end, question, first=place == 0 and start == block.start)


def _quote(block: ChosenBlock, start: int, end: int, question: str, *, first: bool) -> Quote:
    quoted = block.leaf.text[start:end]
    words = " ".join(quoted.split())
    rows = None
    if block.kind == "code":
        shown = fenced(_whole_lines(block, start, end))
    elif block.kind in {"list", "steps"} and "\n" in quoted:
        lines = (_first_mark(block, start) + quoted if block.kind == "list" else quoted).splitlines()
        shown = "\n".join(as_text(_BULLET_SIGN.sub("- ", line.rstrip())) for line in lines if line.strip())
    elif block.kind == "table":
        table = [
            row for place, row in zip(block.places, block.rows(), strict=True) if start <= _start(block, place) < end
        ]
        shown = "; ".join(as_text(line) for line in _rows(table))
        rows = _table(table)
    else:
        line = as_text(_entries(quoted) if block.kind == "record" else words)
        shown = _emphasised(line, question, block, start, end) if first else line
        rows = _record(quoted) if block.kind == "record" else None
    if block.kind != "code":
        # A document's own marks of references would look like citations of the answer.
        shown = without_marks(shown)
        if first and (lead := _lead(block, words)):
            shown = f"{lead}:\n\n{shown}" if "\n" in shown else f"{lead}: {shown}"
            rows = rows and replace(rows, lead=f"{lead}:")
    return Quote(_holding(block, start, end), start, end, words, shown, rows)


def _start(block: ChosenBlock, place: int) -> int:
    return block.leaf.layout.units[place].start


def _holding(block: ChosenBlock, start: int, end: int) -> Passage:
    """Return the passage that was found, widened if its paragraph or list, and so the quote, reaches beyond it."""
    passage = block.leaf.passage
    first, last = min(start, passage.start), max(end, passage.end)
    if (first, last) == (passage.start, passage.end):
        return passage
    return replace(passage, start=first, end=last, text=block.leaf.text[first:last])


def _whole_lines(block: ChosenBlock, start: int, end: int) -> str:
    """Return quoted code with the indentation of its first line, without which the others would stand askew."""
    text = block.leaf.text
    return text[text.rfind("\n", 0, start) + 1 : end]


def _first_mark(block: ChosenBlock, start: int) -> str:
    """Return the bullet that stands before a quote of several items, which begins behind it."""
    line = block.leaf.text[block.leaf.text.rfind("\n", 0, start) + 1 : start]
    return line.lstrip() if _BULLET.fullmatch(line) else ""


def _entries(quoted: str) -> str:
    """Return the lines of a record on one line, a semicolon before each key."""
    shown = ""
    for line in quoted.splitlines():
        words = " ".join(line.split())
        mark = ";" if _ENTRY.match(words) and shown and shown[-1] not in ".;:!?" else ""
        shown = f"{shown}{mark} {words}" if shown and words else shown or words
    return shown


def _rows(rows: Sequence[Row]) -> Iterator[str]:
    """Yield each row of a table with the names of its columns."""
    for names, cells in rows:
        if not names:
            between = " " if cells[0].endswith(":") else ": "
            yield (between if len(cells) == 2 else ", ").join(cell for cell in cells if cell)
        else:
            yield ", ".join(
                f"{name}: {cell}" if name and (place or not any(map(str.isalpha, cell))) else cell
                for place, (name, cell) in enumerate(zip(names, cells, strict=True))
                if cell
            )


def _table(rows: Sequence[Row]) -> TableRows | None:
    """Return the rows of a table that has a name for each column."""
    names = rows[0][0]
    if len(names) < 2 or any(one != names for one, _ in rows):
        return None
    return TableRows("", table_head(names), tuple(tuple(cells) for _, cells in rows))


def _record(quoted: str) -> TableRows | None:
    """Return lines of keys and values as a row below the keys."""
    entries = [line.split(": ", 1) for line in quoted.splitlines() if line.strip()]
    if len(entries) < 2 or any(len(entry) < 2 for entry in entries):
        return None
    names, cells = zip(*entries, strict=True)
    return TableRows("", table_head(names), (cells,))


def _lead(block: ChosenBlock, words: str) -> str:
    """Return the title or heading that says whom an answer is about, or what it denies, if the quote does not."""
    path = block.leaf.path_of(block.places[0])
    title = as_text(" ".join((path[-1] if path else block.leaf.passage.title).split()))
    wanted = (leaves_open(words) and not _may_mean_another(block)) or (path and denies(title) and not denies(words))
    return title if wanted and 0 < len(title.split()) <= LEAD_WORDS else ""


def _may_mean_another(block: ChosenBlock) -> bool:
    """Whether the sentence before a quote names another than the headings do, which the quote's pronoun may mean."""
    leaf, before = block.leaf, block.places[0] - 1
    if before < leaf.layout.block_of(block.places[0]).units.start:
        return False
    unit = leaf.layout.units[before]
    return names_another(leaf.text[unit.start : unit.end], block.titles)


def _emphasised(line: str, question: str, block: ChosenBlock, start: int, end: int) -> str:
    """Put in bold what the question asks for, if the rules for short answers and the reader agree on it.

    A line that already has stars stays as it is.
    """
    span = short_answer(question, line)
    read = block.leaf.words_read()
    if span is None or read is None or "*" in line or block.leaf.scores.words_score < BOLD_SCORE:
        return line
    if read[0] < start or read[1] > end:
        return line
    words, others = (
        f" {' '.join(WORD.findall(text.casefold()))} " for text in (line[slice(*span)], block.leaf.text[slice(*read)])
    )
    if words not in others and others not in words:
        return line
    return f"{line[: span[0]]}**{line[slice(*span)]}**{line[span[1] :]}"
