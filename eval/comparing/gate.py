"""Turn verdicts into an exit code for CI: has a metric that matters become worse?

Flow: `--fail-on` + `verdicts.py` -> **here** -> `command.py`. Pure.

A metric that was named here must be judged. So it also fails where there are too few pairs to tell, or where the second
run has no score for rows that the first one has: the rows that fail are the hard ones, and a mean over the rest rises.
"""

import difflib
from collections.abc import Iterable, Sequence

from errors import RagError
from eval.comparing import speed
from eval.comparing.intervals import FEWEST_PAIRS
from eval.comparing.pairing import REPLIED, Joined
from eval.comparing.verdicts import UNPAIRED, Verdicts, metric_of
from eval.scoring.catalogue import METRICS, SPEED
from eval.summary import metric_names

LOST_RATIO = 0.01


class UnknownMetricError(RagError):
    """`--fail-on` names what cannot be judged."""

    code = "unknown_metric"


def wanted_metrics(texts: Iterable[str], joined: Joined) -> tuple[str, ...]:
    """Return the metrics that `METRIC` or `METRIC:worse` name.

    Raises:
        UnknownMetricError: no such metric, not in both runs, or nothing that runs can be compared by.
    """
    either, both = _names(joined)
    wanted = []
    for text in texts:
        name, _, condition = text.partition(":")
        if condition not in ("", "worse"):
            raise UnknownMetricError(
                f"--fail-on {text}: {condition!r} is not a verdict.",
                f"Write {name} or {name}:worse, which are the same.",
            )
        if name not in both:
            raise _unknown(name, either, both)
        wanted.append(name)
    return tuple(dict.fromkeys(wanted))


def failures(verdicts: Verdicts, wanted: Sequence[str]) -> list[str]:
    """Return a sentence for each wanted metric that fails the gate; empty if none does."""
    return [f"{name}: {why}" for name in wanted if (why := _why(verdicts, name))]


def _names(joined: Joined) -> tuple[set[str], set[str]]:
    """Return the metrics that either run was scored by, and those that both can be judged by."""
    a, b = (set(metric_names(side.cells)) for side in (joined.a, joined.b))
    judged = {name for name in a & b - UNPAIRED if name == speed.METRIC or metric_of(name).family != SPEED}
    return a | b, judged


def _why(verdicts: Verdicts, name: str) -> str:
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
    pairs = max((one.pairs for one in groups), default=0)
    return f"too few to tell, {pairs} pairs" if pairs < FEWEST_PAIRS else ""


def _unknown(name: str, either: set[str], both: set[str]) -> UnknownMetricError:
    known = ", ".join([metric for metric in (REPLIED, *METRICS) if metric in both] or sorted(both))
    if name in UNPAIRED:
        return UnknownMetricError(
            f"{name} is a share of the questions that each run declined, which are not the same ones.",
            "Name declined or abstention_recall: together they say it.",
        )
    if name in either and metric_of(name).family == SPEED:
        return UnknownMetricError(f"{name} has no verdict.", f"Name {speed.METRIC}, the time to the whole answer.")
    if name in either or name in METRICS:
        return UnknownMetricError(
            f"The runs are not both scored by {name}.",
            f"Score them (python -m eval score RUN), or name one of: {known}.",
        )
    near = difflib.get_close_matches(name, both, n=1)
    hint = f"Did you mean {near[0]}? " if near else ""
    return UnknownMetricError(f"There is no metric {name!r}.", f"{hint}Known here: {known}.")
