"""Join the faults of `faults.toml` with what their tests made of them, for the sheet.

Flow: pytest's JUnit XML, with the faults that each test tries (`tests/conftest.py`) -> **here** -> rows -> JSON and a
table in Markdown.
"""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

FAULTS = Path(__file__).with_name("faults.toml")
HOLDS, FAILS, NOT_TRIED = "holds", "fails", "not tried"


@dataclass(slots=True)
class Row:
    """One fault.

    Attributes:
        id: as in `faults.toml`, with the three texts that follow.
        gap: what is not tried.
        tests: how many cases try it.
        failed: names of those that failed.
        skipped: reasons of those that could not run here, each once.
        figures: what tests measured.
    """

    id: str
    fault: str
    tried: str = ""
    stock: str = ""
    gap: str = ""
    tests: int = 0
    failed: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    passed: int = 0
    figures: list[str] = field(default_factory=list)

    @property
    def result(self) -> str:
        """Return what came of it: it holds if a test passed and none failed."""
        if self.failed:
            return FAILS
        return HOLDS if self.passed else NOT_TRIED

    @property
    def missing(self) -> bool:
        """Whether no test tries it, and nothing says why."""
        return not self.tests and not self.gap


def faults() -> dict[str, dict[str, str]]:
    """Return the texts of each fault, by its id."""
    return tomllib.loads(FAULTS.read_text(encoding="utf-8"))


def joined(reports: Iterable[Path]) -> list[Row]:
    """Return all rows with what a run of the tests made of them, in one report or in several.

    Raises:
        KeyError: a test tries a fault that the sheet does not have.
    """
    rows = {
        name: Row(name, one["fault"], one.get("tried", ""), one.get("stock", ""), one.get("gap", ""))
        for name, one in faults().items()
    }
    for report in reports:
        for case in ElementTree.parse(report).iter("testcase"):
            _count(case, rows)
    return list(rows.values())


def _count(case: ElementTree.Element, rows: Mapping[str, Row]) -> None:
    told = [(one.get("name"), one.get("value", "")) for one in case.iter("property")]
    skipped = case.find("skipped")
    failed = case.find("failure") is not None or case.find("error") is not None
    for row in (rows[value] for name, value in told if name == "fault"):
        row.tests += 1
        if failed:
            row.failed.append(f"{case.get('classname')}::{case.get('name')}")
        elif skipped is None:
            row.passed += 1
        elif (reason := skipped.get("message", "")) not in row.skipped:
            row.skipped.append(reason)
        row.figures += [value for name, value in told if name == "figure"]


def to_json(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Return rows as JSON-ready values, each with its result."""
    return [{"result": row.result, **asdict(row)} for row in rows]


def to_table(rows: Iterable[Row]) -> str:
    """Return rows as a table in Markdown."""
    lines = ["| | fault | tried | result | stock parts |", "|---|---|---|---|---|"]
    return "\n".join([*lines, *map(_line, rows)])


def _line(row: Row) -> str:
    cases = f"{row.result} ({row.passed} {'case' if row.passed == 1 else 'cases'})" if row.passed else row.result
    told = [cases, *row.figures, *(f"skipped: {reason}" for reason in row.skipped)]
    tried = "; not tried: ".join(filter(None, [row.tried, row.gap])) if row.tried else row.gap
    return table_line([row.id, row.fault, tried, "; ".join(told), row.stock or "not measured"])


def table_line(cells: Iterable[str]) -> str:
    """Return a line of a table in Markdown."""
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
