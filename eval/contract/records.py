"""Read the records of a `/run` stream: one JSON object on each line that begins with `data:`.

Flow: a reply of `exchange.py` -> **here** -> `run_rules.py` judges. Liberal: other lines are passed over.
"""

import json
from dataclasses import dataclass
from typing import Any

from eval.contract.exchange import Line, Reply
from eval.contract.rules import Offence, shortened


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a stream: its number from 1, its line, and the JSON object on it."""

    number: int
    line: Line
    value: dict[str, Any]

    @property
    def steps(self) -> str | None:
        """The steps so far; None if the record changes nothing or says nonsense."""
        return self._text("intermediate_steps")

    @property
    def report(self) -> str | None:
        """The answer so far; None if the record changes nothing or says nonsense."""
        return self._text("final_report")

    def offence(self, what: str) -> Offence:
        """Return an offence of this record."""
        return Offence(f"Record {self.number}: {what}", shortened(self.line.text))

    def _text(self, key: str) -> str | None:
        found = self.value.get(key)
        return found if isinstance(found, str) else None


@dataclass(frozen=True, slots=True)
class Stream:
    """A reply of `/run` with the records that could be read from it."""

    reply: Reply
    records: tuple[Record, ...]

    @property
    def seen_by_client(self) -> tuple[Record, ...]:
        """The records up to the first one that is complete or carries `error`: no client reads on."""
        ends = (n for n, one in enumerate(self.records) if one.value.get("complete") is True or "error" in one.value)
        return self.records[: next(ends, len(self.records)) + 1]


def read_stream(reply: Reply) -> Stream:
    """Read the records of a reply; other lines are passed over here and judged by `run/lines`."""
    found = [(line, value) for line in reply.lines if (value := record_on(line)) is not None]
    return Stream(reply, tuple(Record(number, line, value) for number, (line, value) in enumerate(found, start=1)))


def record_on(line: Line) -> dict[str, Any] | None:
    """Return the record on a line; None if the line does not hold one whole JSON object after `data:`."""
    return object_in(line.text.removeprefix(b"data:")) if line.text.startswith(b"data:") else None


def object_in(text: bytes) -> dict[str, Any] | None:
    """Return a JSON object; None if the text is something else."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
