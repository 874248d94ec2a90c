"""`python -m eval compare A B`: is run B better than run A?

Flow: two run folders -> `pairing.py` -> `verdicts.py` -> `printing.py` -> stdout; **here** they are put together. Exit
codes: 0 compared, 1 a metric of `--fail-on` failed, or a foreseen failure.

A metric of `--fail-on` must be judged. So it also fails where there are too few pairs to tell, or where the second run
has no score for rows that the first one has: the rows that fail are the hard ones, and a mean over the rest rises.
"""

import argparse
import difflib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from errors import RagError, SettingsError
from eval.argument_types import number_from_0, whole_from_0
from eval.cells import metric_names
from eval.comparing import speed
from eval.comparing.intervals import FEWEST_PAIRS
from eval.comparing.pairing import Joined, changes, join, read_run
from eval.comparing.printing import changed_rows, describe
from eval.comparing.verdicts import Difference, Verdicts, judge
from eval.run_folder import RunFolder, refused_by_disk
from eval.scoring.catalogue import METRICS, OVER_ALL, SPEED, in_order, metric_of
from eval.tables import counted
from settings import Settings

LOST_RATIO = 0.01


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
        "--min-difference",
        type=number_from_0,
        default=0.0,
        metavar="X",
        help="count smaller differences of means as none (default: 0)",
    )
    parser.add_argument(
        "--rows", type=whole_from_0, default=3, metavar="N", help="show the N worst losses and best gains (default: 3)"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write everything as JSON")
    parser.add_argument(
        "--junit",
        type=Path,
        metavar="FILE",
        help="also write what --fail-on found as JUnit's XML, a test case a metric",
    )


def run(arguments: argparse.Namespace, _settings: Settings) -> int:
    """Compare, print, and return 1 if a metric of `--fail-on` failed."""
    if arguments.junit and not arguments.fail_on:
        raise SettingsError("--junit writes what --fail-on found, and none is given.", "Add --fail-on METRIC.")
    joined = join(read_run(RunFolder(arguments.a)), read_run(RunFolder(arguments.b)))
    again = [(read_run(RunFolder(a)), read_run(RunFolder(b))) for a, b in arguments.again]
    wanted = wanted_metrics(arguments.fail_on, joined)
    verdicts = judge(joined, arguments.min_difference, again)
    found = failures(verdicts, wanted)
    failed = [f"{name}: {why}" for name, why in found.items()]
    if arguments.json:
        text = json.dumps(_as_json(joined, verdicts, failed), indent=2, ensure_ascii=False, allow_nan=False)
        _write(arguments.json, text + "\n")
    if arguments.junit:
        _write(arguments.junit, _as_junit(wanted, found))
    print(describe(joined, verdicts, arguments.rows, arguments.min_difference))
    if failed:
        print("\nFAILED (--fail-on):", *(f"- {sentence}" for sentence in failed), sep="\n")
    elif wanted:
        print(f"\nPassed: none of {len(wanted)} metric{'s' if len(wanted) > 1 else ''} of --fail-on is worse.")
    return int(bool(failed))


def wanted_metrics(texts: Iterable[str], joined: Joined) -> list[str]:
    """Return the metrics that `METRIC` or `METRIC:worse` name.

    Raises:
        RagError: no such metric, not in both runs, or nothing that runs can be compared by.
    """
    a, b = (set(metric_names(side.cells)) for side in (joined.a, joined.b))
    judged = {name for name in a & b - OVER_ALL if name == speed.METRIC or metric_of(name).family != SPEED}
    wanted = []
    for text in texts:
        name, _, condition = text.partition(":")
        if condition not in ("", "worse"):
            raise RagError(
                f"--fail-on {text}: {condition!r} is not a verdict.",
                f"Write {name} or {name}:worse, which are the same.",
                "unknown_metric",
            )
        if name not in judged:
            raise RagError(*_why_not(name, a | b, judged), "unknown_metric")
        wanted.append(name)
    return list(dict.fromkeys(wanted))


def failures(verdicts: Verdicts, wanted: Sequence[str]) -> dict[str, str]:
    """Return for each wanted metric that fails the gate why it does; empty if none does."""
    return {name: why for name in wanted if (why := _failure(verdicts, name))}


def _failure(verdicts: Verdicts, name: str) -> str:
    if name == speed.METRIC:
        told = verdicts.speed
        bad = {"slower": f"slower, {told.ratio or 1:.2f} times the time", "no verdict": f"no verdict: {told.why}"}
        return bad.get(told.verdict, "")
    groups = [one for one in verdicts.overall if one.metric.name == name]
    scored, lost = sum(one.a.n for one in groups), sum(one.lost for one in groups)
    if lost > LOST_RATIO * scored:
        return f"of {scored} questions that A has a score for, B failed {lost}"
    if worse := [abs(one.interval.mean) for one in groups if one.verdict == "worse" and one.interval]:
        return f"worse by {max(worse):.3f}"
    most = max(groups, key=lambda one: one.documents, default=None)
    if most and most.documents >= FEWEST_PAIRS:
        return ""
    pairs, drawn = (most.pairs, most.documents) if most else (0, 0)
    return f"too few to tell, {pairs} pairs" + (f" from {counted(drawn, 'document')}" if pairs >= FEWEST_PAIRS else "")


def _why_not(name: str, scored: set[str], judged: set[str]) -> tuple[str, str]:
    """Return why a metric cannot be judged, and what to do."""
    known = ", ".join(metric.name for metric in in_order(judged))
    if name in OVER_ALL:
        return (
            f"{name} is a share of the questions that each run declined, which are not the same ones.",
            "Name declined or abstention_recall: together they say it.",
        )
    if name in scored and metric_of(name).family == SPEED:
        return f"{name} has no verdict.", f"Name {speed.METRIC}, the time to the whole answer."
    if name in scored or name in METRICS:
        remedy = f"Score them (python -m eval score RUN), or name one of: {known}."
        return f"The runs are not both scored by {name}.", remedy
    near = difflib.get_close_matches(name, judged, n=1)
    hint = f"Did you mean {near[0]}? " if near else ""
    return f"There is no metric {name!r}.", f"{hint}Known here: {known}."


def _as_json(joined: Joined, verdicts: Verdicts, failed: list[str]) -> dict[str, Any]:
    return {
        "a": {"run": str(joined.a.path), "fingerprint": joined.a.header.fingerprint},
        "b": {"run": str(joined.b.path), "fingerprint": joined.b.header.fingerprint},
        "questions": len(joined.cases),
        "left_out": {"only_a": joined.only_a, "only_b": joined.only_b, "altered": joined.altered},
        "changed": {name: {"a": a, "b": b} for name, (a, b) in changes(joined.a, joined.b).items()},
        "verdicts": {"quality": verdicts.quality, "speed": asdict(verdicts.speed), "cost": verdicts.cost},
        "answerable": [_plain(one) for one in verdicts.answerable],
        "unanswerable": [_plain(one) for one in verdicts.unanswerable],
        "by_category": {name: [_plain(one) for one in some] for name, some in verdicts.by_category.items()},
        "rows": [
            {"id": row.case.id, "better_by": row.better_by, "scores": row.scores, "a": row.a.answer, "b": row.b.answer}
            for row in changed_rows(joined)
        ],
        "failed": failed,
    }


def _as_junit(wanted: Sequence[str], failed: Mapping[str, str]) -> str:
    """Return the gate as JUnit's XML, which the pages of CI services show."""
    counts = {"tests": str(len(wanted)), "failures": str(len(failed)), "errors": "0", "skipped": "0"}
    suite = ElementTree.Element("testsuite", {"name": "eval compare", **counts})
    for name in wanted:
        case = ElementTree.SubElement(suite, "testcase", classname="eval.compare", name=name)
        if name in failed:
            ElementTree.SubElement(case, "failure", message=failed[name], type="worse")
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _write(path: Path, text: str) -> None:
    with refused_by_disk(path, "Name another file.", SettingsError.code):
        path.write_text(text, encoding="utf-8")


def _plain(one: Difference) -> dict[str, Any]:
    return {**asdict(one), "metric": one.metric.name, "family": one.metric.family, "better": one.metric.better}
