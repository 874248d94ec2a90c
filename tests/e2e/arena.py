"""Read a `/run` stream the way the competition's arena does, and check what Treeline promises beyond the contract.

Written from the arena's observed behaviour: each record replaces what the one before it set, nulls change nothing, the
key `error` (with any value) is a failure that takes the answer away, everything after `complete` is dropped, and
lines that do not begin with `data:` are ignored. On the screen equal addresses become one and `[n]` is renumbered.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from eval.contract.exchange import Line, Reply
from eval.contract.rules import RUN_RULES

SEPARATOR = "|||---|||"
MAX_LINE_BYTES = 64 * 1024


def lines_of(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield whole lines from pieces of any size, split at LF only."""
    rest = b""
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        yield from lines
    if rest:
        yield rest


@dataclass
class Arena:
    """What a voter would see of one answer.

    Attributes:
        records: every record up to and including the last one that counts.
        steps, report, citations: the state after them; None until set.
        failed: a record carried the key `error`.
        complete: a record said so.
    """

    records: list[dict[str, Any]] = field(default_factory=list)
    steps: str | None = None
    report: str | None = None
    citations: list[str] | None = None
    failed: bool = False
    complete: bool = False

    def read(self, chunks: Iterable[bytes]) -> "Arena":
        """Consume a stream."""
        for line in lines_of(chunks):
            if line.startswith(b"data:") and not (self.complete or self.failed):
                self._take(json.loads(line.removeprefix(b"data:")))
        return self

    def shown_steps(self) -> list[str]:
        """Return the steps a voter can vote on."""
        return [step.strip() for step in (self.steps or "").split(SEPARATOR) if step.strip()]

    def shown_report(self) -> tuple[str, list[str]]:
        """Return text and links with equal addresses merged and the marks renumbered to match."""
        unique = list(dict.fromkeys(self.citations or []))
        number = {str(old): str(unique.index(url) + 1) for old, url in enumerate(self.citations or [], start=1)}
        text = re.sub(r"%?\[(\d+)\]%?", lambda mark: f"[{number.get(mark[1], mark[1])}]", self.report or "")
        return text, unique

    def _take(self, record: dict[str, Any]) -> None:
        self.records.append(record)
        if "error" in record:
            self.failed = True
            self.report = None
            return
        for name, key in (("steps", "intermediate_steps"), ("report", "final_report"), ("citations", "citations")):
            if record.get(key) is not None:
                setattr(self, name, record[key])
        self.complete = bool(record.get("complete"))


def violations(body: bytes) -> list[str]:
    """Return everything in a whole stream that breaks the contract of `/run`, or what Treeline promises beyond it."""
    lines = tuple(Line(line, 0.0) for line in lines_of([body]))
    stream = Reply(None, 200, "text/event-stream", lines, 0.0)
    return [offence.what for _, offence in RUN_RULES.offences(stream)] or _unkept_promises(stream)


def _unkept_promises(stream: Reply) -> list[str]:
    """Return where a stream that keeps the contract falls short of what ours do."""
    records = [record.value for record in stream.records]
    last = records[-1]
    keys = {"intermediate_steps", "final_report", "is_intermediate", "complete", "citations"}
    found = [f"unknown key {key}" for record in records for key in record.keys() - keys]
    found += [f"a line of {len(line.text)} bytes" for line in stream.lines if len(line.text) > MAX_LINE_BYTES]
    if any(line.text and not line.text.startswith((b":", b"data: ")) for line in stream.lines):
        found.append("a line that is neither data nor a ping")
    if not any(not record["is_intermediate"] and not record["complete"] for record in records):
        found.append("no record between thinking and complete")
    if SEPARATOR not in last["intermediate_steps"]:
        found.append("fewer than two steps")
    marks = {int(mark) for mark in re.findall(r"\[(\d+)\]", last["final_report"])}
    if marks != set(range(1, len(last["citations"]) + 1)):
        found.append(f"marks {sorted(marks)} for {len(last['citations'])} citations")
    return found
