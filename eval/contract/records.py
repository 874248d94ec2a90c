"""Read the records of a `/run` stream: one JSON object on each line that begins with `data:`.

Flow: a reply of `exchange.py` -> **here** -> `run_rules.py` judges. Liberal: what is no record is passed over.
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
        found = self.value.get("intermediate_steps")
        return found if isinstance(found, str) else None

    @property
    def report(self) -> str | None:
        """The answer so far; None if the record changes nothing or says nonsense."""
        found = self.value.get("final_report")
        return found if isinstance(found, str) else None

    def offence(self, what: str) -> Offence:
        """Return an offence of this record."""
        return Offence(f"Record {self.number}: {what}", shortened(self.line.text))


@dataclass(frozen=True, slots=True)
class Stream:
    """A reply of `/run` with the records that could be read from it."""

    reply: Reply
    records: tuple[Record, ...]

    @property
    def seen_by_client(self) -> tuple[Record, ...]:
        """The records up to the first one that is complete or carries `error`: no client reads on."""
        for index, record in enumerate(self.records):
            if record.value.get("complete") is True or "error" in record.value:
                return self.records[: index + 1]
        return self.records


def read_stream(reply: Reply) -> Stream:
    """Read the records of a reply; lines that are none are passed over here and judged by `run/lines`."""
    values = ((line, _object(line)) for line in reply.lines if line.text.startswith(b"data:"))
    found = [(line, value) for line, value in values if value is not None]
    return Stream(reply, tuple(Record(number, line, value) for number, (line, value) in enumerate(found, start=1)))


def is_record(line: Line) -> bool:
    """Whether the line holds one whole JSON object."""
    return _object(line) is not None


def _object(line: Line) -> dict[str, Any] | None:
    try:
        value = json.loads(line.text.removeprefix(b"data:"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
