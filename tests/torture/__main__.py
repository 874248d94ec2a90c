"""`python -m tests.torture`: hours in which an ingestion is killed and made to fail, told in a table.

Edits, ingestions and deletions come in any order, SIGKILL and other signals at random moments; then every named point
is tried at its first call, its second and so on until it is not reached any more. With `--point`, `--kill-after` or
`--max-file-bytes` one case is repeated. Exit code 1 when anything went wrong; each such case is printed with the
command that repeats it, and the others are played all the same.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.torture.cases import SCENARIOS, Case, Scenario, Signal
from tests.torture.edits import Edits
from tests.torture.faults import POINTS, Fault, How, When
from tests.torture.harness import Ground, contend, random_kill
from tests.torture.tally import Tally

MODES: tuple[tuple[When, How], ...] = (
    ("before", "crash"),
    ("after", "crash"),
    ("before", "no space"),
    ("after", "input/output error"),
    ("before", "database full"),
    ("after", "database full"),
)
PARTS = ("edits", "kills", "stops", "contention", "disks", "points")
# From what stops the very first write to what stops the last: the first run's largest file has about 1.5 MB.
FILE_LIMITS = (20_000, 60_000, 120_000, 200_000, 300_000, 450_000, 700_000, 1_000_000)


def _points(tally: Tally, scenarios: tuple[Scenario, ...], most_calls: int) -> None:
    for scenario in scenarios:
        for point in POINTS:
            for when, how in MODES:
                for call in count(1):
                    case = Case(scenario, Fault(point, call, when, how))
                    if call > most_calls or not tally.play(f"{scenario}: {how} {when} '{point}'", case, call):
                        break
            print(f"... {scenario}, {point}", file=sys.stderr, flush=True)


def _kills(tally: Tally, ground: Ground, scenarios: tuple[Scenario, ...], kills: int, seed: int) -> None:
    for number in range(kills):
        scenario = scenarios[number % len(scenarios)]
        tally.play(f"{scenario}: SIGKILL at a random moment", random_kill(ground, scenario, seed, number), number)


def _stops(tally: Tally, ground: Ground, scenarios: tuple[Scenario, ...], stops: int, seed: int) -> None:
    for number in range(stops):
        name: Signal = "TERM" if number % 2 else "INT"
        scenario = scenarios[number // 2 % len(scenarios)]
        tally.play(
            f"{scenario}: SIG{name} at a random moment", random_kill(ground, scenario, seed, number, name), number
        )


def _contentions(tally: Tally, ground: Ground, times: int) -> None:
    row = tally.row("two ingestions at once; the holder killed")
    for _ in range(times):
        problems, seconds = contend(ground)
        row["cases"] += 1
        row["struck"] += 1
        row["corrupt"] += bool(problems)
        row["slowest_s"] = max(row["slowest_s"], round(seconds, 2))
        tally.tell("two ingestions at once", problems)


def _edit_sequences(tally: Tally, examples: int) -> None:
    # Not shrunk, which takes longer than all the rest: a sequence of 15 steps can be read as it is.
    options = settings(
        max_examples=examples,
        stateful_step_count=15,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
        report_multiple_bugs=False,
    )
    run_state_machine_as_test(Edits, settings=options)
    row = tally.row("edits")
    row["cases"] = row["struck"] = examples


def _full_disks(tally: Tally, scenarios: tuple[Scenario, ...]) -> None:
    for scenario in scenarios:
        for limit in FILE_LIMITS:
            tally.play(f"{scenario}: no file may grow beyond a limit", Case(scenario, max_file_bytes=limit), limit)


def _one(arguments: argparse.Namespace) -> Iterator[Case]:
    if arguments.point:
        fault = Fault(arguments.point, arguments.call, arguments.when, arguments.how)
        yield Case(arguments.scenario or "first", fault)
    if arguments.kill_after is not None:
        yield Case(arguments.scenario or "first", kill_after_s=arguments.kill_after, signal=arguments.signal)
    if arguments.max_file_bytes:
        yield Case(arguments.scenario or "first", max_file_bytes=arguments.max_file_bytes)


def main() -> int:
    """Play what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m tests.torture", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kills", type=int, default=200, help="SIGKILLs at random moments; other numbers follow")
    parser.add_argument("--most-calls", type=int, default=1000, help="give up a point after its n-th call")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--scenario", choices=SCENARIOS, help="this one only")
    parser.add_argument("--point", choices=POINTS, help="one fault, here")
    parser.add_argument("--call", type=int, default=1)
    parser.add_argument("--when", choices=("before", "after"), default="before")
    parser.add_argument("--how", choices=sorted({how for _, how in MODES}), default="crash")
    parser.add_argument("--kill-after", type=float, metavar="SECONDS", help="one SIGKILL, at this moment")
    parser.add_argument("--signal", choices=("KILL", "TERM", "INT"), default="KILL", help="instead of SIGKILL")
    parser.add_argument("--max-file-bytes", type=int, help="one run that no file of may grow beyond")
    parser.add_argument("--json", type=Path, help="write the figures here")
    arguments = parser.parse_args()
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        ground = Ground(Path(folder) / "ground", arguments.seed)
        tally = Tally(ground, arguments.seed)
        try:
            _play(tally, ground, arguments)
        finally:  # what is known when it is stopped is told, too
            print(tally.table(), flush=True)
            if arguments.json:
                figures = {"seed": arguments.seed, "minutes": round((time.monotonic() - started) / 60, 1)}
                figures |= {"parts": tally.minutes, "rows": tally.rows, "failures": tally.failures}
                arguments.json.parent.mkdir(parents=True, exist_ok=True)
                arguments.json.write_text(json.dumps(figures, indent=1))
    return 1 if tally.failures else 0


def _play(tally: Tally, ground: Ground, arguments: argparse.Namespace) -> None:
    if chosen := list(_one(arguments)):
        for case in chosen:
            tally.play(case.command(arguments.seed), case, 0)
        return
    scenarios: tuple[Scenario, ...] = (arguments.scenario,) if arguments.scenario else SCENARIOS
    kills, seed = arguments.kills, arguments.seed
    parts: dict[str, Callable[[], None]] = {
        "edits": lambda: _edit_sequences(tally, kills * 3 // 2),
        "kills": lambda: _kills(tally, ground, scenarios, kills, seed),
        "stops": lambda: _stops(tally, ground, scenarios, kills // 5, seed),
        "contention": lambda: _contentions(tally, ground, kills // 10),
        "disks": lambda: _full_disks(tally, scenarios),
        "points": lambda: _points(tally, scenarios, arguments.most_calls),
    }
    for name in arguments.parts:
        tally.part(name, parts[name])


if __name__ == "__main__":
    sys.exit(main())
