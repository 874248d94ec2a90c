"""Show rows of a document's tables as Markdown tables, below the names of their columns.

Flow: `window.py` (the rows that are quoted) -> **here** -> the answer. Names and groups are those that the document's
reader stored (`index/documents/structure.py`); nothing is guessed here. Where the rows stand in the document is what
the citation says. Pure.
"""

from collections.abc import Callable, Container, Iterator, Sequence

from index.documents.structure import Block, Structure, is_placeholder
from query_engine.text.markdown_escape import without_effects

# The terms of a text if the question names all of it, else none.
Named = Callable[[str], frozenset[str]]
# A row with a longer cell is read line by line, not across.
MAX_CELL_CHARS = 400


def tables_of(structure: Structure, positions: Sequence[int]) -> Iterator[list[int]]:
    """Yield the rows among blocks that follow each other, those of each table together."""
    table: list[int] = []
    for position in positions:
        block = structure.blocks[position]
        follows = table and table[-1] == position - 1
        if table and not (follows and block.kind == "row" and (structure.blocks[table[-1]].header or not block.header)):
            yield table
            table = []
        if block.kind == "row":
            table.append(position)
    if table:
        yield table


def shown_table(
    text: str, structure: Structure, table: Sequence[int], named: Named, shown: Container[int] = ()
) -> str | None:
    """Return the rows of one table as Markdown, after what leads them in; None if they read better as they stand.

    Args:
        text: of the document.
        structure: its blocks.
        table: positions of the rows, which follow each other.
        named: tells what the question names; the asked cell is bold if row and column are certain, else the row.
        shown: positions that are shown anyway: what leads the rows in is not repeated.
    """
    blocks = structure.blocks
    rows = [at for at in table if blocks[at].cells and not blocks[at].header]
    leads = [at for at in structure.leads_above(rows[0]) if at not in table and at not in shown] if rows else []
    groups = [at for at in leads if blocks[at].kind == "row"]
    names = column_names(text, [blocks[at] for at in table])
    cells = [cells_below(text, blocks[at], names) for at in (*groups, *rows)]
    width = max((len(one) for one in [names, *cells]), default=0)
    longest = max((len(cell) for one in cells for cell in one), default=0)
    if width < 2 or longest > MAX_CELL_CHARS or (not any(names) and len(cells) < 2):
        return None
    row, column = _asked(text, structure, rows, names, named)
    if row is not None and (column is not None or len(rows) > 1):
        own = cells[len(groups) + row]
        for at in range(len(own)) if column is None else [column]:
            own[at] = f"**{own[at]}**" if own[at] and "*" not in own[at] else own[at]
    lines = [*header_lines(names, width), *(row_line(one, width) for one in cells)]
    above = [_one_line(text[slice(*blocks[at].inner)]) for at in leads if blocks[at].kind != "row"]
    return "\n\n".join([*above, "\n".join(lines)])


def column_names(text: str, table: Sequence[Block]) -> list[str]:
    """Return what the columns are called: as the rows have it, in which cells may be missing; else as their header."""
    names: list[str] = []
    for columns in dict.fromkeys(block.columns for block in table):
        if columns[: len(names)] == tuple(names):
            names = list(columns)
        else:
            names += [name for name in columns if name not in names]
    if not names:
        names = next(([text[slice(*cell)] for cell in block.cells] for block in reversed(table) if block.header), [])
    return names


def cells_below(text: str, block: Block, names: Sequence[str]) -> list[str]:
    """Return a row's cells below the names: one that has a name of its own stands below that, others in order."""
    own = [_one_line(text[slice(*cell)]) for cell in block.cells]
    if tuple(names[: len(own)]) == block.columns or len(set(block.columns)) < len(own):
        return own
    by_name = dict(zip(block.columns, own, strict=True))
    return [by_name.get(name, "") for name in names]


def _one_line(text: str) -> str:
    return without_effects(" ".join(text.split()))


def header_lines(names: Sequence[str], width: int) -> list[str]:
    """Return the lines above the rows of a Markdown table; a column without a name of its own has none."""
    return [row_line(["" if is_placeholder(name) else name for name in names], width), row_line(["---"] * width, width)]


def row_line(cells: Sequence[str], width: int) -> str:
    """Return cells as a row of a Markdown table of `width` columns."""
    padded = [cell.replace("\\|", "|").replace("|", "\\|") for cell in cells] + [""] * (width - len(cells))
    return f"| {' | '.join(padded)} |"


def asked_row(text: str, structure: Structure, positions: Sequence[int], named: Named) -> int | None:
    """Return the position of the row that the question names, of the only table among blocks; None if ambiguous."""
    found = list(tables_of(structure, positions))
    table = found[0] if len(found) == 1 else []
    rows = [at for at in table if structure.blocks[at].cells and not structure.blocks[at].header]
    names = column_names(text, [structure.blocks[at] for at in table])
    row, _ = _asked(text, structure, rows, names, named)
    return None if row is None or len(rows) == 1 else rows[row]


def _asked(
    text: str, structure: Structure, rows: Sequence[int], names: Sequence[str], named: Named
) -> tuple[int | None, int | None]:
    """Return the row that the question names, and the column; None for what it does not name, or not alone."""
    cells = [cells_below(text, structure.blocks[at], names) for at in rows]
    columns = [named(name) for name in names]
    # "Week 7" names a column, not the rows with a 7.
    taken = frozenset[str]().union(*columns)
    keys = [{at: terms for at, cell in enumerate(row) if not (terms := named(cell)) <= taken} for row in cells]
    row = _most_named([frozenset[str]().union(*one.values()) for one in keys])
    if row is None or _is_repeated(text, structure, rows[row], list(keys[row])):
        return None, None
    column = _most_named([frozenset() if at in keys[row] else terms for at, terms in enumerate(columns)])
    return row, column if column is not None and column < len(cells[row]) and cells[row][column] else None


def _most_named(found: Sequence[frozenset[str]]) -> int | None:
    """Return the place of the terms that no others reach; None if absent or ambiguous."""
    best = [at for at, terms in enumerate(found) if terms and not any(terms < other for other in found)]
    return best[0] if len(best) == 1 else None


def _is_repeated(text: str, structure: Structure, position: int, columns: Sequence[int]) -> bool:
    """Whether another row of the table has the same texts in these columns."""
    blocks = structure.blocks
    block = blocks[position]

    def keys(one: Block) -> list[str]:
        return [text[slice(*one.cells[column])] for column in columns if column < len(one.cells)]

    own = keys(block)
    for step in (-1, 1):
        at = position + step
        while 0 <= at < len(blocks) and blocks[at].kind == "row" and not blocks[at].header:
            if blocks[at].columns == block.columns and keys(blocks[at]) == own:
                return True
            at += step
    return False
