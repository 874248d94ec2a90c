"""Spell numbers and times: each in as many digits and in the unit that it deserves.

Flow: any figure -> **here** -> the page and the Markdown. Pure.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any


def figure(value: float | None) -> str:
    """Spell a number with three digits after the point below 10, fewer above; a dash if there is none."""
    if value is None:
        return "–"
    digits = 3 if abs(value) < 10 else 1 if abs(value) < 1000 else 0
    return f"{round(value, digits) + 0.0:,.{digits}f}".replace("-", "−")  # + 0.0 makes a negative zero a zero


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


def flat(values: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, str]]:
    """Yield nested values with their names joined by points, e.g. `retrieval.top_k`."""
    for key, value in values.items():
        if isinstance(value, dict):
            yield from flat(value, f"{above}{key}.")
        else:
            yield f"{above}{key}", "–" if value is None else str(value)
