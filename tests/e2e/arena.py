"""Read a `/run` stream the way the competition's arena does, and check it more strictly than anybody.

Written from the arena's observed behaviour: each record replaces what the one before it set, nulls change nothing, the
key `error` (whatever its value) is a failure that takes the answer away, everything after `complete` is dropped, and
lines that do not begin with `data:` are ignored. On the screen equal addresses become one and `[n]` is renumbered.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

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
    """Return everything in a whole stream that breaks the contract of `/run`; nothing for a good answer."""
    lines = [line for line in lines_of([body]) if line]
    data = [line for line in lines if not line.startswith(b":")]
    found = [f"not a data line: {line[:40]!r}" for line in data if not line.startswith(b"data: {")]
    found += [f"a line of {len(line)} bytes" for line in lines if len(line) > MAX_LINE_BYTES]
    if found:
        return found
    records = [json.loads(line.removeprefix(b"data: ")) for line in data]
    if not records:
        return ["no record"]
    for record in records:
        found += _malformed(record)
    return found or _out_of_order(records)


def _malformed(record: dict[str, Any]) -> list[str]:
    text_or_null = ("intermediate_steps", "final_report")
    found = [
        f"{key} is {record.get(key)!r}"
        for key in ("is_intermediate", "complete")
        if record.get(key) not in (True, False)
    ]
    found += [f"{key} is no text" for key in text_or_null if not isinstance(record.get(key, 0), str | None)]
    found += [
        f"unknown key {key}" for key in record.keys() - {*text_or_null, "is_intermediate", "complete", "citations"}
    ]
    urls = record.get("citations", [])
    if not isinstance(urls, list) or not all(re.match(r"https?://\S+$", str(url)) for url in urls):
        found.append(f"citations are no list of addresses: {urls!r}")
    return found


def _out_of_order(records: Sequence[dict[str, Any]]) -> list[str]:
    thinking = [record["is_intermediate"] for record in records]
    last = records[-1]
    found = []
    if thinking != sorted(thinking, reverse=True) or not thinking[0] or thinking[-1]:
        found.append(f"is_intermediate goes {thinking}")
    if [record["complete"] for record in records] != [False] * (len(records) - 1) + [True]:
        found.append("complete stands elsewhere than in the last record only")
    if any(record["final_report"] is not None for record in records if record["is_intermediate"]):
        found.append("a report while thinking")
    if any(not (record["final_report"] or "").strip() for record in records if not record["is_intermediate"]):
        found.append("an empty report while answering")
    if not any(not record["is_intermediate"] and not record["complete"] for record in records):
        found.append("no record between thinking and complete")
    if any(
        not later["intermediate_steps"].startswith(earlier["intermediate_steps"])
        for earlier, later in pairwise(records)
    ):
        found.append("steps were lost")
    if SEPARATOR not in (last["intermediate_steps"] or ""):
        found.append("fewer than two steps")
    marks = {int(mark) for mark in re.findall(r"\[(\d+)\]", last["final_report"] or "")}
    if marks != set(range(1, len(last.get("citations", [])) + 1)):
        found.append(f"marks {sorted(marks)} for {len(last.get('citations', []))} citations")
    return found
