"""Guess the blocks of a text whose format says nothing of them: plain text, PDF, pages from a search service.

The only place that looks at a line to tell what it is; readers of formats with markup know. What a block is stands in
`structure.py`. Pure; linear in the text's length.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise, takewhile
from typing import Literal

from index.documents.structure import Block, Kind, Span, stripped

# A longer line that begins like `key: value` is prose.
PAIR_CHARS = 160
# A longer line with gaps or bars in it is prose, unless it begins with a bar.
ROW_CHARS = 300
# In a row of `key: value` lines with long ones at least this many, and more than half, are short.
SHORT_LINES = 3
# A line of a record is continued by lines that are indented this much more.
HANGING_CHARS = 2
# Prose is wrapped at some 45 characters at least, in narrow columns; a shorter line is a heading or a label.
LABEL_CHARS = 32
# Numbered headings stand below those with marks.
NUMBERED_LEVEL = 6
# A table may go on after at most this many lines that are not rows ("Operating activities:"), each at most this long.
BETWEEN_LINES, BETWEEN_CHARS = 2, 120

FENCE = re.compile(r"^[ \t]*(```+|~~~+)[ \t]*([\w+#.-]*)", re.MULTILINE)
_HEADING = re.compile(
    r"^(?: {0,3}(?P<marks>#{1,6})[ \t]+(?P<marked>\S.*)$"
    # "2. Term", as contracts have it: a short line between a blank one and its text.
    r"|(?:(?<=\n\n)|(?<!\n))(?P<number>\d{1,2}(?:\.\d{1,2}){0,2})\.?[ \t]+(?P<numbered>[^\W\d_a-z][^\n.!?;:,]{1,60})$"
    r"(?=\n(?!\d)[^\W_a-z]))",
    re.MULTILINE,
)
# A heading of plain text: a line, and below it a rule that is as long, give or take two characters.
_UNDERLINED = re.compile(r"[ \t]*(?P<title>[^\s|][^\n|\t]{1,98})\n[ \t]*(?P<rule>={3,100}|-{3,100})[ \t]*\n?")
RULE_CHARS = 2
BULLET = "[-*+•▪◦‣]"
_BULLET = re.compile(rf"\s*{BULLET}\s+")
_NUMBERED = re.compile(r"\s*\(?(?:\d{1,3}|[a-z])[.)]\s+")
_QUOTED = re.compile(r"\s*(?:>\s?)+")
_BARE_NUMBER = re.compile(r"^(\d{1,2}) (?=[A-Z])", re.MULTILINE)
_CHUNK = re.compile(r"(?:^[^\S\n]*+[^\s][^\n]*+\n?)++", re.MULTILINE)
# What stands between the columns of a table that is set with blanks or tabs, and within a line of such a table.
_COLUMN_GAP = re.compile(r"(?<=\S)(?:[ ]{3,}|[ ]*+\t\s*+)(?=\S)")
_CELL_GAP = re.compile(r"[ ]{2,}+[ \t]*+|[ ]?\t[ \t]*+")
_CELL_MARK = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r"[\s|:–-]+")
_PAIR = re.compile(r"[ \t]*[^\s:.!?;,|#][^:.!?;,|\n]{0,39}:[ \t]+\S")
# A key may have a comma where its value is a figure: "Windows, each time: 145.00".
_PAIR_FIGURE = re.compile(r"[ \t]*[^\s:.!?;,|#][^:.!?;|\n]{0,39}:[ \t]+[$€£¥]?\d\S*(?:[ ]\S+){0,2}")
# The key of a line beside others that have keys.
_ANY_KEY = re.compile(r"[^\s:|#>*+-][^:|\n]{0,39}:(?=[ \t]+\S)")
# Dots lead from the key to the value, as in contact sheets and price lists: "Keys ........ at the front desk".
_LEADERS = re.compile(r"[ \t]*([^\s.][^.\n]{0,60})\.{4,}+[ \t]*+(?=\S)")
_MARKS_OF_RECORDS = (":", "|", "\t", "   ", "....")
_FIGURE_CELL = re.compile(r"[^\w\s]*\s?\d")
_DIGIT = re.compile(r"\d")
# What may name a column though it is a figure: "2019", "FY 2023", "July 29, 2023", "July 29," above the year.
_PERIOD = re.compile(
    r"(?:(?:FY|Q[1-4]|[A-Z][a-z]{2,8}\.?(?: \d{1,2},)?) ?)?(?:19|20)\d\d(?:[-–/]\d{2,4})?|[A-Z][a-z]{2,8}\.? \d{1,2},"
)
# What a line begins with that may begin a sentence, and what it ends with where the sentence goes on.
_BEGINS = re.compile(r"\s*[\"'“‘(\[]*[A-Z0-9\u00c0-\u00de]")
_GOES_ON = (",", ";", "-", "–", "(", "")
# A line that is a block by itself: heading, list item, table row, quote, fence.
_OWN_LINE = re.compile(rf"\s*(?:#{{1,6}}\s|{BULLET}\s|\d{{1,3}}[.)]\s|\||>|```|~~~)")
_YEAR_LINE = re.compile(r"\s*\d{4}(?:[–-]\d{2,4})?[.:]\s")


@dataclass(frozen=True, slots=True)
class _Found:
    """A block before its end is known: where its words stand, without the space around."""

    kind: Kind | Literal["record"]
    start: int
    end: int
    lines: tuple[Span, ...] = ()  # of a record


def guessed_blocks(text: str) -> tuple[Block, ...]:
    """Return blocks that tile `text`; none of a blank one."""
    blocks = list(_with_columns(text, list(_rows_of_records(text, list(_found(text))))))
    if not blocks:
        return ()
    bounds = [0, *(text.rfind("\n", 0, block.start) + 1 for block in blocks[1:]), len(text)]
    # Two blocks may share a line only where a reader made one: the second then begins where its words do.
    bounds = [
        max(bound, before) for before, bound in zip([0, *(block.inner[1] for block in blocks)], bounds, strict=True)
    ]
    return tuple(
        block._replace(start=start, end=end) for block, (start, end) in zip(blocks, pairwise(bounds), strict=True)
    )


def record_blocks(text: str) -> tuple[Block, ...]:
    """Return the `key: value` pairs that a paragraph is made of, or its rows, if it has two or more; else nothing."""
    first = text.partition("\n")[0]
    if not any(mark in first for mark in _MARKS_OF_RECORDS):  # nor has most prose
        return ()
    blocks = guessed_blocks(text)
    kinds = {block.kind for block in blocks}
    return blocks if kinds == {"pair"} or (kinds == {"row"} and len(blocks) > 1) else ()


def cell_spans(line: str, offset: int) -> list[Span]:
    """Return where each cell of a row stands, at least one; `offset` is that of the line."""
    if "|" in line:
        cuts = [(match.start(), match.end()) for match in _CELL_MARK.finditer(line)]
    else:
        body = len(line) - len(line.lstrip())
        cuts = [(match.start(), match.end()) for match in _CELL_GAP.finditer(line, body, len(line.rstrip()))]
    bounds = list(zip([0, *(end for _, end in cuts)], [*(start for start, _ in cuts), len(line)], strict=True))
    if line.lstrip().startswith("|"):
        bounds = bounds[1:-1] or bounds
    cells = (stripped(line, start, end) for start, end in bounds)
    return [(offset + start, offset + end) for start, end in cells]


def prose_spans(text: str) -> list[Span]:
    """Return the paragraphs, and the lines that stand for themselves, in order."""
    spans: list[Span] = []
    begin: int | None = None
    position = 0
    label = ended = False
    for line in text.splitlines(keepends=True):
        end = position + len(line)
        blank = not line.strip()
        # A year begins a line of a timeline, unless prose was wrapped before it.
        own = bool(_OWN_LINE.match(line) or ((begin is None or ended) and _YEAR_LINE.match(line)))
        if begin is not None and (blank or own or (label and _BEGINS.match(line))):
            spans.append((begin, position))
            begin = None
        if begin is not None and line.lstrip()[:1] in ("=", "-") and _underlined(text[begin:end]):
            spans.append((begin, end))
            begin, position, label = None, end, False
            continue
        label = _is_label(line)
        ended = line.rstrip()[-1:] in {".", "!", "?", ":", ";"}
        if own and line.lstrip().startswith(("#", "|", "`", "~")):
            spans.append((position, end))
        elif not blank and begin is None:
            begin = position
        position = end
    if begin is not None:
        spans.append((begin, position))
    return spans


def _underlined(text: str) -> re.Match[str] | None:
    """Return a match of a line with a rule below it."""
    found = _UNDERLINED.fullmatch(text)
    is_even = found and abs(len(found["title"].rstrip()) - len(found["rule"])) <= RULE_CHARS
    return found if is_even else None


def _is_label(line: str) -> bool:
    """Whether a line is too short to be wrapped prose, and not part of a list of names and values."""
    text = line.strip()
    return len(text) <= LABEL_CHARS and ":" not in text and text[-1:] not in _GOES_ON


def _found(text: str) -> Iterator[_Found]:
    fence = ""
    begin = 0
    for start, end in _chunks(text):
        mark = FENCE.match(text, start, end)
        if fence:
            if mark and mark[1].startswith(fence):
                yield _Found("code", begin, stripped(text, start, end)[1])
                fence = ""
        elif mark:
            fence, begin = mark[1], start
        elif steps := _bare_steps(text, start, end):
            yield from steps
        else:
            yield from _runs(text, start, end)
    if fence:
        yield _Found("code", *stripped(text, begin, len(text)))


def _chunks(text: str) -> Iterator[Span]:
    """Yield what stands between blank lines and fences, and each fence's line."""
    for chunk in _CHUNK.finditer(text):
        cuts = {chunk.start(), chunk.end()}
        for fence in FENCE.finditer(text, *chunk.span()):
            end = text.find("\n", fence.end(), chunk.end())
            cuts |= {fence.start(), end + 1 if end >= 0 else chunk.end()}
        yield from pairwise(sorted(cuts))


def _bare_steps(text: str, start: int, end: int) -> list[_Found]:
    """Return numbered steps whose numbers have no stop, as PDFs give them, if a paragraph is made of such."""
    marks = list(_BARE_NUMBER.finditer(text, start, end))
    numbers = [int(mark[1]) for mark in marks]
    if len(marks) < 2 or marks[0].start() > start or numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        return []
    ends = [*(mark.start() for mark in marks[1:]), end]
    return [_Found("item", *stripped(text, mark.start(), stop)) for mark, stop in zip(marks, ends, strict=True)]


def _runs(text: str, start: int, end: int) -> Iterator[_Found]:
    """Tell rows of tables and `key: value` lines from the sentences beside them.

    There are two or more together; a row may stand alone where others have as many columns.
    """
    lines, kinds = _with_continuations(text, start, end)
    if _is_row_of_lines([text[slice(*line)] for line in lines], kinds):
        yield _Found("record", lines[0][0], lines[-1][1], tuple(lines))
        return
    runs = [
        (kind, [line for _, line in run]) for kind, run in groupby(zip(kinds, lines, strict=True), lambda one: one[0])
    ]
    columns = {_columns(text, line) for kind, run in runs if kind == "row" and len(run) > 1 for line in run}
    runs = [
        (kind if len(run) > 1 or len(lines) == 1 or _columns(text, run[0]) in columns else "paragraph", run)
        for kind, run in runs
    ]
    for kind, joined in groupby(runs, lambda one: one[0]):
        run = [line for _, part in joined for line in part]
        if kind == "row":
            yield from (_Found("row", *line) for line in run)
        elif kind == "record":
            yield _Found("record", run[0][0], run[-1][1], tuple(run))
        else:
            yield from _prose(text, run[0][0], run[-1][1])


def _is_row_of_lines(lines: Sequence[str], kinds: Sequence[str]) -> bool:
    """Whether all lines are `key: value`, long ones and "Item no.: 7" too, and most are short, as a CSV row's are.

    No two keys are the same: an interview has the same speakers again.
    """
    keys = [found[0] for line in lines if (found := _ANY_KEY.match(line))]
    short = kinds.count("record")
    return len(keys) == len(lines) == len(set(keys)) and short >= SHORT_LINES and 2 * short > len(lines)


def _columns(text: str, line: Span) -> int:
    return len(cell_spans(text[slice(*line)], 0))


def _with_continuations(text: str, start: int, end: int) -> tuple[list[Span], list[str]]:
    """Return the lines and their kinds; a line of a record ends where the lines end that are indented below it."""
    lines: list[Span] = []
    kinds: list[str] = []
    indent = 0
    position = start
    for line in text[start:end].splitlines(keepends=True):
        begin, stop = stripped(text, position, position + len(line))
        own = begin - position
        position += len(line)
        if begin >= stop:
            continue
        if kinds and kinds[-1] == "record" and own >= indent + HANGING_CHARS:
            lines[-1] = (lines[-1][0], stop)
            continue
        lines.append((begin, stop))
        kinds.append(_kind_of_line(text[begin:stop]))
        indent = own
    return lines, kinds


def _kind_of_line(line: str) -> Literal["row", "record", "paragraph"]:
    if line.startswith("|") or (" | " in line and len(line) <= ROW_CHARS):
        return "row"
    if _LEADERS.match(line):
        return "record"
    is_item = _BULLET.match(line) or _NUMBERED.match(line)
    if len(line) <= ROW_CHARS and _COLUMN_GAP.search(line) and not is_item:
        return "row"
    if len(line) > PAIR_CHARS or is_item:
        return "paragraph"
    return "record" if _PAIR.match(line) or _PAIR_FIGURE.fullmatch(line) else "paragraph"


def _prose(text: str, start: int, end: int) -> Iterator[_Found]:
    for first, last in prose_spans(text[start:end]):
        begin, stop = stripped(text, start + first, start + last)
        kind: Kind = "paragraph"
        is_marked = _HEADING.match(text, _line_start(text, begin)) and "\n" not in text[begin:stop]
        if is_marked or _underlined(text[begin:stop]):
            kind = "heading"
        elif _BULLET.match(text, begin) or _NUMBERED.match(text, begin):
            kind = "item"
        elif text[begin] == ">":
            kind = "quote"
        yield _Found(kind, begin, stop)


def _rows_of_records(text: str, found: Sequence[_Found]) -> Iterator[Block]:
    """Turn what was found into blocks; a record beside one with the same first key is a row of a table."""
    keys = [text[slice(*one.lines[0])].partition(":")[0] if one.kind == "record" else None for one in found]
    for place, one in enumerate(found):
        if one.kind != "record":
            yield _block(text, one)
            continue
        beside = {*keys[max(0, place - 1) : place], *keys[place + 1 : place + 2]}
        pairs = [_pair(text, line) for line in one.lines]
        if keys[place] in beside and len(pairs) > 1:
            columns = tuple(text[slice(*pair.cells[0])] for pair in pairs)
            cells = tuple(pair.cells[1] for pair in pairs)
            yield Block("row", one.start, one.end, (one.start, one.end), cells=cells, columns=columns)
        else:
            yield from pairs


def _pair(text: str, line: Span) -> Block:
    start, end = line
    if leaders := _LEADERS.match(text, start, end):
        key = (leaders.start(1), leaders.start(1) + len(leaders[1].rstrip()))
        value = leaders.end()
    else:
        colon = text.find(":", start, end)
        key, value = (start, colon), colon + 1
    return Block("pair", start, end, line, cells=(key, stripped(text, value, end)))


def _block(text: str, one: _Found) -> Block:
    start, end = one.start, one.end
    match one.kind:
        case "heading":
            if underlined := _underlined(text[start:end]):
                first = start + underlined.start("title")
                title = (first, first + len(underlined["title"].rstrip()))
                return Block("heading", start, end, title, 1 if underlined["rule"][0] == "=" else 2)
            heading = _HEADING.match(text, _line_start(text, start))
            assert heading is not None
            if heading["marks"]:
                first = heading.start("marked")
                title = (first, first + len(heading["marked"].rstrip(" #")) or end)
                return Block("heading", start, end, title if title[1] > first else (first, end), len(heading["marks"]))
            level = NUMBERED_LEVEL + heading["number"].count(".") + 1
            return Block("heading", start, end, (heading.start("numbered"), end), level)
        case "item":
            line = _line_start(text, start)
            mark = (
                _BULLET.match(text, start, end) or _NUMBERED.match(text, start, end) or _BARE_NUMBER.match(text, start)
            )
            ordered = _BULLET.match(text, start, end) is None
            return Block("item", start, end, (mark.end() if mark else start, end), (start - line) // 2, ordered)
        case "quote":
            mark = _QUOTED.match(text, start, end)
            inner = (min(mark.end(), end) if mark else start, end)
            return Block("quote", start, end, inner, (mark[0].count(">") if mark else 1) - 1)
        case "code":
            opening = FENCE.match(text, start, end)
            body = text.find("\n", start, end) + 1 or end
            last = text.rfind("\n", body, end)
            closed = last >= 0 and FENCE.match(text, last + 1, end)
            inner = (body, last) if closed else (body, end)
            language = opening[2] if opening else ""
            return Block("code", start, end, inner if inner[0] <= inner[1] else (end, end), language=language)
        case "row":
            cells = () if _is_rule(text[start:end]) else tuple(cell_spans(text[start:end], start))
            return Block("row", start, end, (start, end), cells=cells)
        case _:
            return Block("paragraph", start, end, (start, end))


def _with_columns(text: str, blocks: Sequence[Block]) -> Iterator[Block]:
    """Name the columns of tables whose header is plain: a rule follows it, or it alone has no figures but years."""
    headers: tuple[str, ...] = ()
    since: list[Block] = []  # what stands between a table and the next one
    for is_table, run in groupby(blocks, lambda one: one.kind == "row" and not one.columns):
        table = list(run)
        if not is_table:
            since = [*since, *table][-BETWEEN_LINES - 1 :]
            yield from table
            continue
        rows = [[text[slice(*cell)] for cell in row.cells] for row in table]
        own = header_row(rows)
        if own is not None:
            headers = tuple(rows[own])
        elif not _goes_on(since) or "|" in text[slice(*table[0].inner)]:
            headers = ()
        for place, (row, cells) in enumerate(zip(table, rows, strict=True)):
            if own is not None and place <= own:
                yield row._replace(header=bool(cells))
            else:
                yield row._replace(columns=tuple(column_names(headers, len(cells))) if headers and cells else ())
        since = []


def _goes_on(between: Sequence[Block]) -> bool:
    """Whether a table may go on behind these blocks, as in PDFs."""
    short = all(block.end - block.start <= BETWEEN_CHARS for block in between)
    return len(between) <= BETWEEN_LINES and short


def column_names(header: Sequence[str], cells: int) -> list[str]:
    """Return a header's names for this many cells, at least one; nothing if they do not fit.

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


def header_row(rows: Sequence[Sequence[str]]) -> int | None:
    """Return which row names the columns: a rule follows it, or none of its cells is a figure but years.

    Of such rows above the others it is the first one with years, else the first. A rule has no cells.
    """
    if len(rows) < 2:
        return None
    if not rows[1]:
        return 0 if rows[0] else None
    above = list(takewhile(_may_name_columns, rows))
    # Codes such as "E3" mark a row too, unless the header itself has digits ("SST-2").
    if any(map(_DIGIT.search, rows[0])):
        has_data = any(map(_has_figure, rows[1:]))
    else:
        has_data = any(_DIGIT.search(cell) for row in rows[1:] for cell in row)
    if not above or not has_data:
        return None
    return next((place for place, row in enumerate(above) if _has_figure(row)), 0)


def _may_name_columns(row: Sequence[str]) -> bool:
    """Whether a row's cells are three or more without a figure, or years, with or without a cell before them."""
    if not row:
        return False
    first, *others = row
    if any(map(_PERIOD.fullmatch, others)):
        return all(map(_PERIOD.fullmatch, others)) and bool(_PERIOD.fullmatch(first) or not _FIGURE_CELL.match(first))
    return len(others) > 1 and not _has_figure(row)


def _has_figure(row: Sequence[str]) -> bool:
    return any(map(_FIGURE_CELL.match, row))


def _is_rule(text: str) -> bool:
    return "-" in text and _RULE.fullmatch(text) is not None


def _line_start(text: str, place: int) -> int:
    return text.rfind("\n", 0, place) + 1
