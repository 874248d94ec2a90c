"""What the cells of workbooks show, and how much all of them may.

Flow: `xlsx.py`, `xlsb.py`, `xls.py` -> **here**. Pure.
"""

import math
from dataclasses import dataclass, field

from errors import UnreadableError
from ingestion.reading.office import number_format
from ingestion.reading.office.tables import MAX_CELLS
from ingestion.reading.text_budget import BETWEEN_CELLS, Growth


@dataclass(slots=True)
class Budget:
    """What cells may still hold together: a string is stored once, and may be shown by every cell."""

    cells: int
    chars: int
    growth: Growth = field(default_factory=Growth)

    def take(self, chars: int) -> None:
        """Count a cell with this number of characters.

        Raises:
            UnreadableError: that is too much.
        """
        self.growth.add(chars + BETWEEN_CELLS)
        self.cells -= 1
        self.chars -= chars
        if self.cells < 0 or self.chars < 0:
            fact = f"The workbook has more than {MAX_CELLS:,} cells, or too much text in them."
            raise UnreadableError(fact, "Split it, or save the part that matters as CSV.")


def shown_number(number: float, code: str, *, since_1904: bool) -> tuple[str, bool]:
    """Return a number as it is shown in a format, and whether it is a figure: dates are none."""
    if not math.isfinite(number):
        return "", False
    return number_format.shown(number, code, since_1904=since_1904).strip(), not number_format.is_date(code)
