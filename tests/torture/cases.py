"""What is done to a run, and how it ended: plain values that the harness, the tests and the long run share."""

from dataclasses import dataclass, field
from typing import Literal

from tests.torture.faults import Fault

Signal = Literal["KILL", "TERM", "INT"]
Scenario = Literal["first", "update", "rebuild"]
SCENARIOS: tuple[Scenario, ...] = ("first", "update", "rebuild")


@dataclass(slots=True)
class Result:
    """How one case ended.

    Attributes:
        struck: the fault came to pass, or the kill found the process alive.
        problems: what must not be; empty when all is well.
        embedded_twice: leaves that the second run embedded though the first had.
        raised: what the disturbed run said, if it ended by itself.
        stop_s: from the signal to the end of the process.
        vectors: how many there are in the end.
        out_of_reach: how many of them a search for all neighbours does not find.
    """

    struck: bool
    problems: list[str] = field(default_factory=list)
    embedded_twice: int = 0
    raised: str | None = None
    stop_s: float = 0.0
    vectors: int = 0
    out_of_reach: int = 0


@dataclass(frozen=True, slots=True)
class Case:
    """One disturbance: a fault at a point, a signal some seconds after the start, or files that may not grow.

    Attributes:
        scenario: the first ingestion of a folder, its update with pruning, or a rebuild that replaces the corpus.
    """

    scenario: Scenario
    fault: Fault | None = None
    kill_after_s: float | None = None
    signal: Signal = "KILL"
    max_file_bytes: int = 0

    def command(self, seed: int) -> str:
        """Return what repeats this case."""
        words = ["python -m tests.torture", f"--seed {seed} --scenario {self.scenario}"]
        if self.fault:
            fault = self.fault
            words.append(f"--point '{fault.point}' --call {fault.call} --when {fault.when} --how '{fault.how}'")
        if self.kill_after_s is not None:
            words.append(f"--kill-after {self.kill_after_s:.3f} --signal {self.signal}")
        if self.max_file_bytes:
            words.append(f"--max-file-bytes {self.max_file_bytes}")
        return " ".join(words)
