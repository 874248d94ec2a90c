"""Spell tables, numbers and times, for a terminal, a review and the report.

Flow: figures -> **here** -> whatever prints, in `eval/`, `bench/` and `training/`. Pure.
"""

import math
import statistics
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

ABSENT = "–"

Item = TypeVar("Item")


def aligned(header: Sequence[str], lines: Iterable[Sequence[str]], left: Collection[int] = (0,)) -> str:
    """Return a Markdown table with padded columns: those at the places `left` to the left, the others to the right."""
    body = [list(line) for line in lines]
    widths = [max(map(len, column)) for column in zip(header, *body, strict=True)]
    rule = ["-" * width if place in left else "-" * (width - 1) + ":" for place, width in enumerate(widths)]
    padded = (
        [f"{cell:{'<' if place in left else '>'}{widths[place]}}" for place, cell in enumerate(line)]
        for line in (header, rule, *body)
    )
    return "\n".join(f"| {' | '.join(line)} |" for line in padded)


def of_items(columns: Mapping[str, Callable[[Item], str]], items: Iterable[Item], left: Collection[int] = (0,)) -> str:
    """Return a table with a row for each item; each column is a head and what it shows of an item."""
    return aligned(list(columns), ([cell(item) for cell in columns.values()] for item in items), left)


def figure(value: float | None, digits: int | None = None) -> str:
    """Spell a number with these digits after the point, by default three below 10 and fewer above; a dash if None."""
    if value is None:
        return ABSENT
    if digits is None:
        digits = 3 if abs(value) < 10 else 1 if abs(value) < 1000 else 0
    return f"{round(value, digits) + 0.0:,.{digits}f}".replace("-", "−")  # + 0.0 makes a negative zero a zero


def spread(values: Sequence[float], digits: int) -> str:
    """Return `median (smallest–largest)`, the median alone where they are alike, a dash for no value."""
    if not values:
        return ABSENT
    median, least, most = (figure(value, digits) for value in (statistics.median(values), min(values), max(values)))
    return median if least == most else f"{median} ({least}–{most})"


def percent(share: float) -> str:
    """Spell a part of a whole."""
    return f"{100 * share:.0f} %"


def moment(iso: str) -> str:
    """Spell a time of UTC for readers, without its fractions; any other text stays as it is."""
    try:
        time = datetime.fromisoformat(iso)
    except ValueError:
        return iso
    return f"{time.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC" if time.tzinfo else iso


def duration(seconds: float) -> str:
    """Spell a time in the unit that suits it."""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:.1f} s"


def counted(count: int, thing: str) -> str:
    """Spell a number of things."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def cut(text: str, most_chars: int) -> str:
    """Return the text in one line of limited length, without what would command a terminal."""
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return line if len(line) <= most_chars else line[: most_chars - 1] + "…"


def flat(values: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, str]]:
    """Yield nested values with their names joined by points, e.g. `retrieval.top_k`."""
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{above}{key}.")
        else:
            yield f"{above}{key}", "–" if value is None else str(value)


def quantile(values: Iterable[float], share: float) -> float:
    """Return the smallest value that at least this share of the values (one or more) does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]
