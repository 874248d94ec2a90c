"""`python -m eval compare A B`: is run B better than run A?

Flow: two run folders -> `pairing.py` -> `verdicts.py` -> `printing.py`, `side_by_side.py` -> stdout; **here** they are
put together. Loads no model. Exit codes: 0 compared, 1 a metric of `--fail-on` failed, or a foreseen failure.
"""

import argparse
import json
import math
import shutil
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from errors import SettingsError
from eval.comparing.changed import Changed, changed_rows
from eval.comparing.gate import failures, wanted_metrics
from eval.comparing.intervals import SAMPLES
from eval.comparing.pairing import Joined, changes, join, read_side
from eval.comparing.printing import headline, origin, tables
from eval.comparing.side_by_side import show_changed
from eval.comparing.verdicts import Difference, Rules, Verdicts, judge
from eval.run_folder import RunFolder
from settings import Settings

WIDEST = 160


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
    parser.add_argument("--samples", type=_samples, default=SAMPLES, help="resamplings (default: %(default)s)")
    parser.add_argument("--seed", type=_whole, default=0, help="of the resampling (default: %(default)s)")
    parser.add_argument(
        "--min-difference", type=_positive, default=0.0, metavar="X", help="smaller differences of means are none (0)"
    )
    parser.add_argument(
        "--rows", type=_whole, default=3, metavar="N", help="show the N worst losses and best gains (default: 3)"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write everything as JSON")


def run(arguments: argparse.Namespace, _settings: Settings) -> int:
    """Compare, print, and return 1 if a metric of `--fail-on` failed."""
    joined = join(read_side(RunFolder(arguments.a)), read_side(RunFolder(arguments.b)))
    wanted = wanted_metrics(arguments.fail_on, joined)
    rules = Rules(arguments.samples, arguments.seed, arguments.min_difference)
    verdicts, rows = judge(joined, rules), changed_rows(joined)
    failed = failures(verdicts, wanted)
    if arguments.json:
        _write(arguments.json, _as_json(joined, rules, verdicts, rows, failed))
    sys.stdout.write(describe(joined, rules, verdicts, rows, arguments.rows) + "\n")
    if wanted:
        sys.stdout.write("\n" + _gate(failed, len(wanted)) + "\n")
    return int(bool(failed))


def describe(joined: Joined, rules: Rules, verdicts: Verdicts, rows: list[Changed], count: int) -> str:
    """Return the whole comparison as text; `count` of the worst and of the best rows are shown."""
    width = min(WIDEST, shutil.get_terminal_size((120, 40)).columns)
    parts = [origin(joined), headline(verdicts), tables(verdicts, rules), show_changed(rows, count, width)]
    return "\n\n".join(part for part in parts if part)


def _gate(failed: list[str], wanted: int) -> str:
    if not failed:
        return f"Passed: none of {wanted} metric{'s' if wanted > 1 else ''} of --fail-on is worse."
    return "\n".join(["FAILED (--fail-on):", *(f"- {sentence}" for sentence in failed)])


def _as_json(
    joined: Joined, rules: Rules, verdicts: Verdicts, rows: list[Changed], failed: list[str]
) -> dict[str, Any]:
    return {
        "a": {"run": joined.a.name, "fingerprint": joined.a.header.fingerprint},
        "b": {"run": joined.b.name, "fingerprint": joined.b.header.fingerprint},
        "questions": len(joined.cases),
        "left_out": {"only_a": joined.only_a, "only_b": joined.only_b, "altered": joined.altered},
        "changed": {name: {"a": a, "b": b} for name, (a, b) in changes(joined.a, joined.b).items()},
        "rules": asdict(rules),
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


def _samples(text: str) -> int:
    count = int(text)
    if not 1_000 <= count <= 1_000_000:
        raise argparse.ArgumentTypeError("between 1,000 and 1,000,000")
    return count


def _whole(text: str) -> int:
    count = int(text)
    if count < 0:
        raise argparse.ArgumentTypeError("0 or more")
    return count


def _positive(text: str) -> float:
    value = float(text)
    if not (math.isfinite(value) and value >= 0):
        raise argparse.ArgumentTypeError("a number, 0 or more")
    return value
