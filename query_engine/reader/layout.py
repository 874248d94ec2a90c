"""Divide a stretch of a document into blocks that can be read alone, made of sentences and lines.

Flow: a document and the leaves that were found in it -> **here** -> `windows.py` has the units read and
`synthesis/extractive.py` quotes whole units, and of lists, steps and tables what belongs to them. Where sentences end
is `text/sentences.py`'s business. Pure.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise, takewhile
from operator import itemgetter
from typing import Literal

from query_engine.reader.headings import FENCE, HEADING
from query_engine.text.sentences import Sentence, split_sentences_of_blocks

BlockKind = Literal["paragraph", "list", "steps", "table", "record", "heading", "code"]

# How far a stretch reaches beyond the leaf on either side, in characters, unless the document ends there.
AROUND_CHARS = 1500
# A line of which this share is addresses and timestamps is no answer.
MACHINE_SHARE = 0.4
# A longer line that begins like `key: value` is prose.
RECORD_LINE_CHARS = 160
# A longer line with gaps or bars in it is prose, unless it begins with a bar.
ROW_CHARS = 300
# What is longer than this is a sentence, not a heading.
HEADING_CHARS, HEADING_WORDS = 80, 12
# A row of `key: value` lines that is longer is read line by line, each below its first line, which names the row.
ROW_OF_LINES_CHARS = 800
# Of a row with long lines at least so many, and more than half, are short.
SHORT_LINES = 3
# Such a row, and the one beside it, are looked for within so many characters.
ROW_REACH_CHARS = 10_000
# A line of a record is continued by lines that are indented this much more.
HANGING_CHARS = 2
_BULLET = re.compile(r"\s*[-*+•▪◦‣]\s")
_NUMBERED = re.compile(r"\s*\(?(?:\d{1,3}|[a-z])[.)]\s")
_BARE_NUMBER = re.compile(r"^(\d{1,2}) (?=[A-Z])", re.MULTILINE)
_CHUNK = re.compile(r"(?:^[^\S\n]*+[^\s][^\n]*+\n?)++", re.MULTILINE)
_MACHINE_WORDS = re.compile(r"\b(?:https?:\s?//|www\.)\S+|(?<!\S)[^\s@]++@\S+\.\w+|\b\d{4}-\d\d-\d\dT[\d:.+Z-]*")
# A line of a few words without digits or punctuation, such as a heading in a text file.
_LABEL = re.compile(r"[^\W\d][\w'’&-]*+(?:[ \t]++[^\W\d][\w'’&-]*+){0,5}[ \t]*+")
# What stands between the columns of a table that is set with blanks or tabs, and within a line of such a table.
_COLUMN_GAP = re.compile(r"(?<=\S)(?:[ ]{3,}|[ ]*+\t\s*+)(?=\S)")
_CELL_GAP = re.compile(r"[ ]{2,}+[ \t]*+|[ ]?\t[ \t]*+")
_CELL_MARK = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r"[\s|:–-]+")
_KEY_VALUE = re.compile(r"[ \t]*[^\s:.!?;,|#][^:.!?;,|\n]{0,39}:[ \t]+\S")
# A key may have a comma where its value is a figure: "Windows, each time: 145.00".
_KEY_FIGURE = re.compile(r"[ \t]*[^\s:.!?;,|#][^:.!?;|\n]{0,39}:[ \t]+[$€£¥]?\d\S*(?:[ ]\S+){0,2}")
# The key of a line beside others that have keys.
_ANY_KEY = re.compile(r"[^\s:|#>*+-][^:|\n]{0,39}:(?=[ \t]+\S)")
# Dots lead from the key to the value, as in contact sheets and price lists: "Keys ........ at the front desk".
_LEADERS = re.compile(r"[ \t]*[^\s.][^.\n]{0,60}\.{4,}+[ \t]*+\S")
# A heading without marks may have a number before it, or a year: "2 Knowledge distillation", "The flood of 1908".
_NUMBER_OR_YEAR = re.compile(r"^\d{1,2}(?:\.\d{1,2}){0,2}\.? |\b(?:1[5-9]|20)\d\d\b")
_FIGURE_CELL = re.compile(r"[^\w\s]*\s?\d")
_DIGIT = re.compile(r"\d")
# What may name a column though it is a figure: "2019", "FY 2023", "July 29, 2023", "July 29," above the year.
_PERIOD = re.compile(
    r"(?:(?:FY|Q[1-4]|[A-Z][a-z]{2,8}\.?(?: \d{1,2},)?) ?)?(?:19|20)\d\d(?:[-–/]\d{2,4})?|[A-Z][a-z]{2,8}\.? \d{1,2},"
)
_SAYS_SOMETHING = re.compile(r"[\d:@]|[.!?…;,)\]\"”»]$")
# A table may go on after at most this many lines that are no rows ("Operating activities:"), each at most this long.
BETWEEN_LINES, BETWEEN_CHARS = 2, 120


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence, a list item's sentence, a table row or a line: `[start, end)` of the document.

    Attributes:
        block: the place of its block in the layout.
        item: which item of its block it belongs to, from 0; sentences of one list item share it.
        label: it is no answer alone: a heading, a table's header or rule, a question.
    """

    start: int
    end: int
    block: int
    item: int
    label: bool


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, a list with its introductory line, a table, a record of `key: value` lines.

    Attributes:
        units: places of its units in the layout.
        lead: the place of the sentence that introduces a list, if there is one; it belongs to the block before.
        header: the place of the row that names a table's columns, if there is one: its own, or that of the table it
            goes on from.
        row: the place of the line that names a row, of a row that is read line by line.
    """

    kind: BlockKind
    units: range
    lead: int | None = None
    header: int | None = None
    row: int | None = None


@dataclass(frozen=True, slots=True)
class Layout:
    """A stretch of a document: all its units, in order, and the blocks that they form."""

    units: tuple[Unit, ...]
    blocks: tuple[Block, ...]

    def block_of(self, place: int) -> Block:
        """The block that a unit belongs to."""
        return self.blocks[self.units[place].block]

    def inside(self, start: int, end: int) -> range:
        """Places of the units of which most lies in `[start, end)` of the document, or of those that overlap it."""
        shares = [(min(unit.end, end) - max(unit.start, start)) / (unit.end - unit.start or 1) for unit in self.units]
        for least in (0.5, 0.0):
            if places := [place for place, share in enumerate(shares) if share > least]:
                return range(places[0], places[-1] + 1)
        return range(0)

    def reads_like_heading(self, place: int, line: str) -> bool:
        """Whether a unit, as one line, stands alone above other text: no figure but a year, no end of a sentence."""
        block = self.block_of(place)
        if block.kind != "paragraph" or len(block.units) > 1 or block.units.stop == len(self.units):
            return False
        words = _NUMBER_OR_YEAR.sub("", line).split()
        return line.isupper() or (2 <= len(words) <= HEADING_WORDS and not _SAYS_SOMETHING.search(" ".join(words)))


def stretch(text: str, start: int, end: int, around_chars: int = AROUND_CHARS) -> tuple[int, int]:
    """Return a stretch about `[start, end)` of a document that begins and ends with a line, where lines are short."""
    first, last = max(0, start - around_chars), min(len(text), end + around_chars)
    begin = (text.find("\n", first, start) + 1 if first else 0) or first
    stop = text.rfind("\n", end, last) if last < len(text) else len(text)
    if begin and _KEY_VALUE.match(text, begin):  # in the middle of a row, whose first line names it
        reach = max(0, begin - ROW_REACH_CHARS)
        blank = text.rfind("\n\n", reach, begin)
        begin = blank + 2 if blank >= 0 else begin if reach else 0
    return begin, stop if stop > 0 else last


def lay_out(text: str, start: int, end: int) -> Layout:
    """Return the layout of `[start, end)` of a document."""
    units: list[Unit] = []
    blocks: list[Block] = []
    joined, long_rows = _rows_joined(text, start, list(_paragraphs(text[start:end])))
    for kind, paragraphs in _grouped(joined):
        first = len(units)
        for item, sentences in enumerate(paragraphs):
            for one in sentences:
                label = kind == "heading" or _is_label(text[start + one.start : start + one.end], one, kind)
                units.append(Unit(start + one.start, start + one.end, len(blocks), item, label))
        if first == len(units):
            continue
        if kind == "steps" and first + 1 == len(units) and _is_capitals(text[units[first].start : units[first].end]):
            units[first] = _labelled(units[first])
        lead = header = None
        row = first if units[first].start - start in long_rows else None
        if kind in {"list", "steps"} and blocks and text[units[first - 1].end - 1] == ":":
            lead = first - 1
        if kind == "table":
            rows = [text[unit.start : unit.end] for unit in units[first:]]
            if (own := _header_row(rows)) is not None:
                header = first + own
                units[first : header + 1] = map(_labelled, units[first : header + 1])
            else:
                header = _continued_header(text, units, blocks, rows)
        blocks.append(Block(kind, range(first, len(units)), lead, header, row))
    return Layout(tuple(units), tuple(blocks))


def split_row(line: str) -> list[str]:
    """Return the cells of a table's row, at least one."""
    if "|" not in line:
        return _CELL_GAP.split(line.strip())
    cuts = [-1, *(match.start() for match in _CELL_MARK.finditer(line)), len(line)]
    cells = [line[first + 1 : last].strip() for first, last in pairwise(cuts)]
    return cells[1:-1] or cells if line.lstrip().startswith("|") else cells


def column_names(header: Sequence[str], cells: int) -> list[str]:
    """Return a header's names for so many cells, at least one; nothing if they do not fit.

    The first column may have no name, and each year may stand above several columns.
    """
    if len(header) == cells:
        return list(header)
    unnamed = len(header) + 1 == cells or _PERIOD.fullmatch(header[0])
    first, names = ("", header) if unnamed else (header[0], header[1:])
    each, rest = divmod(cells - 1, len(names) or cells)
    if not each or rest or (each > 1 and not all(map(_PERIOD.fullmatch, names))):
        return []
    return [first, *(part for name in names for part in (name, *[""] * (each - 1)))]


def _labelled(unit: Unit) -> Unit:
    return Unit(unit.start, unit.end, unit.block, unit.item, label=True)


def _paragraphs(text: str) -> Iterator[tuple[BlockKind, list[Sentence]]]:
    """Yield paragraphs, list items, rows and headings with their sentences; of records, each line as a sentence."""
    fenced = False
    for own, start in _chunks(text):
        is_fence = FENCE.match(own) is not None
        if fenced or is_fence:
            fenced ^= is_fence
            yield "code", _lines(own, start)
        elif (steps := _bare_steps(own, start)) is not None:
            yield from (("steps", [step]) for step in steps)
        else:
            yield from _runs(own, start)


def _chunks(text: str) -> Iterator[tuple[str, int]]:
    """Yield what stands between blank lines and fences, and each fence's line, with its offset."""
    for chunk in _CHUNK.finditer(text):
        cuts = {0, len(chunk[0])}
        for fence in FENCE.finditer(chunk[0]):
            end = chunk[0].find("\n", fence.end())
            cuts |= {fence.start(), end + 1 if end >= 0 else len(chunk[0])}
        for first, last in pairwise(sorted(cuts)):
            yield chunk[0][first:last], chunk.start() + first


def _runs(text: str, offset: int) -> Iterator[tuple[BlockKind, list[Sentence]]]:
    """Tell rows of tables and `key: value` lines from the sentences beside them.

    There are two or more together; a row may stand alone where others have as many columns.
    """
    lines, kinds = _with_continuations(text, offset)
    if _is_row_of_lines([text[line.start - offset : line.end - offset] for line in lines], kinds):
        yield "record", lines
        return
    runs = [(kind, [line for _, line in run]) for kind, run in groupby(zip(kinds, lines, strict=True), itemgetter(0))]
    columns = {_columns(text, offset, line) for kind, run in runs if kind == "table" and len(run) > 1 for line in run}
    runs = [
        (kind if len(run) > 1 or len(lines) == 1 or _columns(text, offset, run[0]) in columns else "paragraph", run)
        for kind, run in runs
    ]
    for kind, joined in groupby(runs, itemgetter(0)):
        run = [line for _, part in joined for line in part]
        if kind == "table":
            yield from (("table", [line]) for line in run)
        elif kind == "record":
            yield "record", run
        else:
            start, end = run[0].start, run[-1].end
            yield from _prose(text[start - offset : end - offset], start, text[end - offset :])


def _is_row_of_lines(lines: Sequence[str], kinds: Sequence[BlockKind]) -> bool:
    """Whether all lines are `key: value`, long ones and "Item no.: 7" too, and most are short, as a CSV row's are.

    No two keys are the same: an interview has the same speakers again.
    """
    keys = [found[0] for line in lines if (found := _ANY_KEY.match(line))]
    short = kinds.count("record")
    return len(keys) == len(lines) == len(set(keys)) and short >= SHORT_LINES and 2 * short > len(lines)


def _columns(text: str, offset: int, line: Sentence) -> int:
    return len(split_row(text[line.start - offset : line.end - offset]))


def _with_continuations(text: str, offset: int) -> tuple[list[Sentence], list[BlockKind]]:
    """Return the lines and their kinds; a line of a record ends where the lines end that are indented below it."""
    lines: list[Sentence] = []
    kinds: list[BlockKind] = []
    indent = 0
    for line in _lines(text, offset):
        begin = line.start - offset
        own = begin - text.rfind("\n", 0, begin) - 1
        if kinds and kinds[-1] == "record" and own >= indent + HANGING_CHARS:
            lines[-1] = Sentence(lines[-1].start, line.end, "line")
            continue
        lines.append(line)
        kinds.append(_kind_of_line(text[begin : line.end - offset]))
        indent = own
    return lines, kinds


def _prose(text: str, offset: int, following: str) -> Iterator[tuple[BlockKind, list[Sentence]]]:
    for start, end, sentences in split_sentences_of_blocks(text):
        kind: BlockKind = "paragraph"
        if sentences and sentences[0].kind == "heading":
            kind = "heading"
        elif _BULLET.match(text[start:end]):
            kind = "list"
        elif HEADING.match(text + following, start) and sentences and sentences[0].kind == "line":
            kind = "heading"
        elif _NUMBERED.match(text[start:end]):
            kind = "steps"
        yield kind, [Sentence(one.start + offset, one.end + offset, one.kind) for one in sentences]


def _bare_steps(text: str, offset: int) -> list[Sentence] | None:
    """Return numbered steps whose numbers have no stop, as PDFs give them, if a paragraph is made of such."""
    marks = list(_BARE_NUMBER.finditer(text))
    numbers = [int(mark[1]) for mark in marks]
    if len(marks) < 2 or marks[0].start() or numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        return None
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    return [
        Sentence(offset + mark.start(), offset + mark.start() + len(text[mark.start() : end].rstrip()), "line")
        for mark, end in zip(marks, ends, strict=True)
    ]


def _rows_joined(
    text: str, start: int, paragraphs: list[tuple[BlockKind, list[Sentence]]]
) -> tuple[list[tuple[BlockKind, list[Sentence]]], frozenset[int]]:
    """Make one unit of each record that stands beside one with the same first key: it is a row of a table.

    Those that are too long stay lines; where each of these begins is returned as well. Offsets are relative to `start`.
    """
    keys = [
        text[start + found[0].start : start + found[0].end].partition(":")[0] if kind == "record" else ""
        for kind, found in paragraphs
    ]
    joined: list[tuple[BlockKind, list[Sentence]]] = []
    long_rows = set[int]()
    for place, (kind, lines) in enumerate(paragraphs):
        first, last = lines[0].start if lines else 0, lines[-1].end if lines else 0
        if kind == "record" and last - first > ROW_OF_LINES_CHARS:
            if _stands_beside(text, keys[place], start + first, start + last):
                long_rows.add(first)
        elif kind == "record" and keys[place] in {*keys[max(0, place - 1) : place], *keys[place + 1 : place + 2]}:
            joined.append((kind, [Sentence(first, last, "line")]))
            continue
        joined.append((kind, lines))
    return joined, frozenset(long_rows)


def _stands_beside(text: str, key: str, start: int, end: int) -> bool:
    """Whether another record with this first key stands near `[start, end)` of the document."""
    begins = f"\n\n{key}:"
    before = text.find(begins, max(0, start - ROW_REACH_CHARS - 2), max(0, start - 2)) >= 0
    first = start <= ROW_REACH_CHARS and start > 0 and text.startswith(begins.lstrip())
    return first or before or text.find(begins, end, end + ROW_REACH_CHARS) >= 0


def _kind_of_line(line: str) -> BlockKind:
    if line.startswith("|") or (" | " in line and len(line) <= ROW_CHARS):
        return "table"
    if _LEADERS.match(line):
        return "record"
    if len(line) <= ROW_CHARS and _COLUMN_GAP.search(line) and not _BULLET.match(line) and not _NUMBERED.match(line):
        return "table"
    if len(line) > RECORD_LINE_CHARS or _BULLET.match(line) or _NUMBERED.match(line):
        return "paragraph"
    return "record" if _KEY_VALUE.match(line) or _KEY_FIGURE.fullmatch(line) else "paragraph"


def _grouped(
    paragraphs: Sequence[tuple[BlockKind, list[Sentence]]],
) -> Iterator[tuple[BlockKind, list[list[Sentence]]]]:
    """Join items to lists, rows to tables, lines to code; any other paragraph is a block."""
    place = 0
    while place < len(paragraphs):
        kind = paragraphs[place][0]
        last = place + 1
        if kind in {"list", "steps", "table", "code"}:
            while last < len(paragraphs) and paragraphs[last][0] == kind:
                last += 1
        yield kind, [sentences for _, sentences in paragraphs[place:last] if sentences]
        place = last


def _header_row(rows: Sequence[str]) -> int | None:
    """Return which row names the columns: a rule follows it, or none of its cells is a figure but years.

    Of such rows above the others it is the first one with years, else the first.
    """
    if len(rows) < 2:
        return None
    if _is_rule(rows[1]):
        return 0
    above = list(takewhile(_may_name_columns, rows))
    # Codes such as "E3" mark a row too, unless the header itself has digits ("SST-2").
    told = _has_figure if _DIGIT.search(rows[0]) else _DIGIT.search
    if not above or not any(map(told, rows[1:])):
        return None
    return next((place for place, row in enumerate(above) if _has_figure(row)), 0)


def _may_name_columns(row: str) -> bool:
    """Whether a row's cells are three or more without a figure, or years, with or without a cell before them."""
    first, *others = split_row(row)
    if any(map(_PERIOD.fullmatch, others)):
        return all(map(_PERIOD.fullmatch, others)) and bool(_PERIOD.fullmatch(first) or not _FIGURE_CELL.match(first))
    return len(others) > 1 and not _has_figure(row)


def _has_figure(row: str) -> bool:
    return any(map(_FIGURE_CELL.match, split_row(row)))


def _continued_header(text: str, units: Sequence[Unit], blocks: Sequence[Block], rows: Sequence[str]) -> int | None:
    """Return the header of the table before this one, if as many columns go on below a line or two, as in PDFs."""
    before = next((place for place in range(len(blocks) - 1, -1, -1) if blocks[place].kind == "table"), None)
    if before is None or (header := blocks[before].header) is None or "|" in rows[0]:
        return None
    between = units[blocks[before].units.stop : blocks[-1].units.stop]
    if len(between) > BETWEEN_LINES or any(unit.end - unit.start > BETWEEN_CHARS for unit in between):
        return None
    names = split_row(text[units[header].start : units[header].end])
    return header if column_names(names, len(split_row(rows[0]))) else None


def _lines(text: str, offset: int) -> list[Sentence]:
    found, position = [], offset
    for line in text.splitlines(keepends=True):
        begin = position + len(line) - len(line.lstrip())
        stop = position + len(line.rstrip())
        if stop > begin:
            found.append(Sentence(begin, stop, "line"))
        position += len(line)
    return found


def _is_rule(text: str) -> bool:
    return "-" in text and _RULE.fullmatch(text) is not None


def _is_capitals(text: str) -> bool:
    """Whether a number and capitals stand alone: "6. LIMITATIONS", a heading in a text file."""
    return text.isupper() and len(text) <= HEADING_CHARS


def _is_label(text: str, sentence: Sentence, kind: BlockKind) -> bool:
    if kind == "table" and "|" not in text:
        return False
    if sentence.kind == "heading" or text.endswith("?") or _RULE.fullmatch(text):
        return True
    if sum(len(match[0]) for match in _MACHINE_WORDS.finditer(text)) > MACHINE_SHARE * len(text):
        return True
    return sentence.kind == "line" and kind not in {"list", "steps"} and _LABEL.fullmatch(text) is not None
