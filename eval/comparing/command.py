"""`python -m eval compare A B`: is run B better than run A?

Flow: two run folders -> `pairing.py` -> `verdicts.py` -> `printing.py`, `changed.py` -> stdout; **here** they are
put together. Only `--reopen` loads models. Exit codes: 0 compared, 1 a metric of `--fail-on` failed, or a foreseen
failure.
"""

import argparse
import json
import sys
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from errors import SettingsError
from eval.argument_types import number_from_0, whole_from_0
from eval.comparing.changed import Changed, changed_rows, show_changed
from eval.comparing.gate import failures, wanted_metrics
from eval.comparing.pairing import Joined, changes, join, read_side
from eval.comparing.printing import headline, origin, tables
from eval.comparing.reopening import reopen
from eval.comparing.verdicts import Difference, Verdicts, judge
from eval.run_folder import RunFolder
from settings import Settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `compare`."""
    parser.add_argument("a", type=Path, metavar="A", help="folder of the run before the change")
    parser.add_argument("b", type=Path, metavar="B", help="folder of the run after it")
    parser.add_argument(
        "--fail-on",
        action="append",
        default=[],
        metavar="METRIC[:worse]",
        help="exit with 1 if B is worse by this metric, or if that cannot be told; repeat it for several",
    )
    parser.add_argument(
        "--again",
        nargs=2,
        type=Path,
        action="append",
        default=[],
        metavar=("A2", "B2"),
        help="the same two systems asked again, in turns (A, B, A, B, ...), so that speed can be judged; repeat it",
    )
    parser.add_argument(
        "--reopen",
        action="store_true",
        help="compute the scores of both runs again, from their replies, by this version: for runs of earlier ones",
    )
    parser.add_argument(
        "--min-difference",
        type=number_from_0,
        default=0.0,
        metavar="X",
        help="smaller differences of means are none (0)",
    )
    parser.add_argument(
        "--rows", type=whole_from_0, default=3, metavar="N", help="show the N worst losses and best gains (default: 3)"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write everything as JSON")


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Compare, print, and return 1 if a metric of `--fail-on` failed."""
    read = partial(reopen, settings=settings) if arguments.reopen else read_side
    joined = join(read(RunFolder(arguments.a)), read(RunFolder(arguments.b)))
    again = [(read_side(RunFolder(a)), read_side(RunFolder(b))) for a, b in arguments.again]
    wanted = wanted_metrics(arguments.fail_on, joined)
    verdicts, rows = judge(joined, arguments.min_difference, again), changed_rows(joined)
    failed = failures(verdicts, wanted)
    if arguments.json:
        _write(arguments.json, _as_json(joined, verdicts, rows, failed))
    sys.stdout.write(describe(joined, verdicts, rows, arguments.rows, arguments.min_difference) + "\n")
    if wanted:
        sys.stdout.write("\n" + _gate(failed, len(wanted)) + "\n")
    return int(bool(failed))


def describe(joined: Joined, verdicts: Verdicts, rows: list[Changed], count: int, min_difference: float = 0.0) -> str:
    """Return the whole comparison as text, verdicts first; `count` of the worst and of the best rows are shown."""
    title = f"# {joined.a.name} (A) and {joined.b.name} (B)"
    parts = [title, headline(verdicts), origin(joined), tables(verdicts, min_difference), show_changed(rows, count)]
    return "\n\n".join(part for part in parts if part)


def _gate(failed: list[str], wanted: int) -> str:
    if not failed:
        return f"Passed: none of {wanted} metric{'s' if wanted > 1 else ''} of --fail-on is worse."
    return "\n".join(["FAILED (--fail-on):", *(f"- {sentence}" for sentence in failed)])


def _as_json(joined: Joined, verdicts: Verdicts, rows: list[Changed], failed: list[str]) -> dict[str, Any]:
    return {
        "a": {"run": joined.a.name, "fingerprint": joined.a.header.fingerprint},
        "b": {"run": joined.b.name, "fingerprint": joined.b.header.fingerprint},
        "questions": len(joined.cases),
        "left_out": {"only_a": joined.only_a, "only_b": joined.only_b, "altered": joined.altered},
        "changed": {name: {"a": a, "b": b} for name, (a, b) in changes(joined.a, joined.b).items()},
        "verdicts": {"quality": verdicts.quality, "speed": asdict(verdicts.speed), "cost": verdicts.cost},
        "answerable": [_plain(one) for one in verdicts.answerable],
        "unanswerable": [_plain(one) for one in verdicts.unanswerable],
        "by_category": {name: [_plain(one) for one in some] for name, some in verdicts.by_category.items()},
        "rows": [
            {"id": row.case.id, "better_by": row.better_by, "scores": row.scores, "a": row.a.answer, "b": row.b.answer}
            for row in rows
        ],
        "failed": failed,
    }


def _plain(one: Difference) -> dict[str, Any]:
    return {**asdict(one), "metric": one.metric.name, "family": one.metric.family, "better": one.metric.better}


def _write(path: Path, figures: dict[str, Any]) -> None:
    try:
        path.write_text(json.dumps(figures, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    except OSError as error:
        raise SettingsError(f"{path} cannot be written: {error.strerror}.", "Name another file with --json.") from error
