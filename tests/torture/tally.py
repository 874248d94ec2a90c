"""Counts of what happened, by fault: a case or a part that fails is told and counted, and the next one is played.

Flow: `__main__.py` chooses cases -> **here** has `harness.py` play them -> table and figures.
"""

import sys
import time
import traceback
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from tests.torture.cases import Case, Result, Scenario

COUNTED = ("cases", "struck", "corrupt", "embedded_twice", "embedded", "vectors", "out_of_reach", "slowest_s")


class Player(Protocol):
    """Plays cases; `harness.Ground` does.

    Attributes:
        embedded: how many leaves a run embeds that nobody disturbs.
    """

    @property
    def embedded(self) -> Mapping[Scenario, int]: ...

    def play(self, case: Case, seed: int = 0) -> Result: ...


class Tally:
    """What happened, by fault.

    Args:
        ground: where cases are played.
        seed: of everything.
    """

    def __init__(self, ground: Player, seed: int) -> None:
        self._ground = ground
        self._seed = seed
        self.rows: dict[str, dict[str, Any]] = {}
        self.failures: list[dict[str, Any]] = []
        self.minutes: dict[str, float] = {}

    def play(self, name: str, case: Case, number: int) -> bool:
        """Play a case, count it under `name`; return whether its fault came to pass."""
        try:
            result = self._ground.play(case, number)
        except Exception as error:  # noqa: BLE001  # the table reports it
            result = Result(struck=False, problems=_told(error))
        if not result.struck and not result.problems and case.kill_after_s is None:
            return False
        row = self.row(name)
        row["cases"] += 1
        row["struck"] += result.struck
        row["corrupt"] += bool(result.problems)
        row["embedded_twice"] += result.embedded_twice
        row["embedded"] += self._ground.embedded[case.scenario]
        row["vectors"] += result.vectors
        row["out_of_reach"] += result.out_of_reach
        if result.raised:
            row["errors"][result.raised] = row["errors"].get(result.raised, 0) + 1
        row["slowest_s"] = max(row["slowest_s"], round(result.stop_s, 2))
        self.tell(case.command(self._seed), result.problems)
        return result.struck

    def row(self, name: str) -> dict[str, Any]:
        """Return the counts of a fault."""
        return self.rows.setdefault(name, dict.fromkeys(COUNTED, 0) | {"errors": {}})

    def part(self, name: str, play: Callable[[], None]) -> None:
        """Play one part of the whole; if it fails as a whole, count that under `name`, and let the others go on."""
        started = time.monotonic()
        try:
            play()
        except Exception as error:  # noqa: BLE001  # the table reports it
            row = self.row(name)
            row["cases"] += 1
            row["corrupt"] += 1
            self.tell(f"python -m tests.torture --parts {name}", _told(error))
        self.minutes[name] = round((time.monotonic() - started) / 60, 1)
        sys.stderr.write(f"... {name}: {self.minutes[name]} minutes\n")

    def tell(self, command: str, problems: list[str]) -> None:
        """Keep and print what went wrong, if anything did."""
        if problems:
            self.failures.append({"command": command, "problems": problems})
            sys.stdout.write("\n  ".join([f"FAILED: {command}", *problems]) + "\n")
            sys.stdout.flush()

    def table(self) -> str:
        """Return the rows for people."""
        lines = [f"{'fault':62} {'cases':>6} {'struck':>7} {'corrupt':>8} {'embedded twice':>15} {'slowest':>9}"]
        for name, row in self.rows.items():
            again = 100 * row["embedded_twice"] / max(1, row["embedded"])
            counts = f"{row['cases']:6} {row['struck']:7} {row['corrupt']:8}"
            lines.append(f"{name:62} {counts} {again:13.1f} % {row['slowest_s']:7.2f} s")
        return "\n".join(lines)


def _told(error: Exception) -> list[str]:
    """Return an error with all that was noted of it, such as the sequence of edits that led to it."""
    return "".join(traceback.format_exception(error)).splitlines()
