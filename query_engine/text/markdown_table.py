"""Write rows as a Markdown table. Flow: quoted rows of a table -> **here** -> the answer. Pure."""

from collections.abc import Sequence

from query_engine.text.markdown_escape import as_quote


def table_head(names: Sequence[str]) -> str:
    """Return the two lines above the rows."""
    return f"{table_row(names)}\n|{'---|' * len(names)}"


def table_row(cells: Sequence[str], mark: str = "") -> str:
    """Return a row; `mark` follows the words of its last cell."""
    shown = [as_quote(" ".join(cell.split())).replace("|", "\\|") for cell in cells]
    return f"| {' | '.join(shown)}{mark} |"
