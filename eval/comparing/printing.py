"""Show a comparison in a terminal, as Markdown that also reads well in a review.

Flow: `pairing.py` + `verdicts.py` -> **here** -> `command.py`, `baseline.py`; the report takes its verdicts in words.
Returns text, prints nothing.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from eval.comparing.intervals import FEWEST_PAIRS, MOST_CHANCE, Interval
from eval.comparing.pairing import JUDGE, Joined, changes
from eval.comparing.speed import METRIC
from eval.comparing.verdicts import DIGITS, UNPAIRED, Difference, Verdicts
from eval.scoring.catalogue import COST, SPEED
from eval.tables import aligned, counted, cut, figure

IDS_SHOWN = 5
VALUE_CHARS = 60
NO_CATEGORY = "(none)"


class Said(NamedTuple):
    """One of the three verdicts, in words.

    Attributes:
        about: `Quality`, `Speed`, `Cost`.
        verdict: e.g. `worse`.
        why: what it rests on, as one clause; may be empty.
    """

    about: str
    verdict: str
    why: str


def said(verdicts: Verdicts) -> list[Said]:
    """Return the three verdicts."""
    speed, times = verdicts.speed, ""
    if speed.ratio is not None:
        bounds_ = f"95 % interval {speed.low:.2f} … {speed.high:.2f}"
        times = f"B takes {speed.ratio:.2f} times as long as A, {bounds_}; "
    return [
        Said("Quality", verdicts.quality, _why(verdicts, lambda family: family not in (COST, SPEED))),
        Said("Speed", speed.verdict, times + speed.why),
        Said("Cost", verdicts.cost, _why(verdicts, lambda family: family == COST)),
    ]


def headline(verdicts: Verdicts) -> str:
    """Return the three verdicts, a line each."""
    return "\n".join(f"- **{one.about}: {one.verdict}**{f' ({one.why})' if one.why else ''}" for one in said(verdicts))


def origin(joined: Joined) -> str:
    """Return what is compared with what: questions, left out ones, fingerprints, settings."""
    before, after = joined.a.header.fingerprint, joined.b.header.fingerprint
    lines = [f"{counted(len(joined.cases), 'question')} compared."]
    for ids, why in (
        (joined.only_a, "B has no reply to"),
        (joined.only_b, "A has no reply to"),
        (joined.altered, "question or reference is another one in"),
    ):
        if ids:
            more = f", and {len(ids) - IDS_SHOWN} more" if len(ids) > IDS_SHOWN else ""
            lines.append(f"Left out: {why} {counted(len(ids), 'question')} ({', '.join(ids[:IDS_SHOWN])}{more}).")
    lines.append(
        f"Same fingerprint of settings, models and index: {before}."
        if before and before == after
        else f"Fingerprint: {before or 'not reported'} -> {after or 'not reported'}."
    )
    return "\n".join([*lines, *_changes(changes(joined.a, joined.b))])


def tables(verdicts: Verdicts, min_difference: float) -> str:
    """Return the tables of both kinds of questions, of the categories, and how to read them."""
    parts = []
    for title, group in (("with", verdicts.answerable), ("without", verdicts.unanswerable)):
        if group:
            parts += [f"## Questions {title} an answer", _overall(group, verdicts.speed.verdict)]
    by_category = [
        [name or NO_CATEGORY, one.metric.name, _mean(one), bounds(one.interval), str(one.pairs), one.verdict]
        for name, group in verdicts.by_category.items()
        for one in group
        if one.verdict in ("better", "worse")
    ]
    if by_category:
        header = ["category", "metric", "B - A", "95 % interval", "pairs", "verdict"]
        parts += ["## By category", aligned(header, by_category, left={0, 1, 5})]
    return "\n\n".join([*parts, "\n".join(_notes(verdicts, min_difference))])


def signed(value: float | None) -> str:
    """Spell a difference with its sign."""
    if value is None:
        return "–"
    text = f"{value:+.{DIGITS}f}" if abs(value) < 10 else f"{value:+.1f}"
    return "0.000" if text in ("+0.000", "-0.000") else text


def bounds(interval: Interval | None) -> str:
    """Spell an interval; a dash where no pair differs."""
    if interval is None or interval.low == interval.high == 0:
        return "–"
    return f"{signed(interval.low)} … {signed(interval.high)}"


def _mean(one: Difference) -> str:
    return signed(one.interval.mean if one.interval else None)


def _why(verdicts: Verdicts, families: Callable[[str], bool]) -> str:
    """Return which metrics are better or worse; where none is, whether rows differ, and what cannot be told."""
    group = [one for one in verdicts.overall if families(one.metric.family)]
    if not group:
        return "the runs are not both scored by its metrics; --reopen computes them"
    if all(one.verdict == "no difference" for one in group):
        return "no row differs"
    told: dict[str, list[str]] = {"worse": [], "better": [], "too few to tell": []}
    for one in group:
        if one.verdict in told:
            apart = " without an answer" if one in verdicts.unanswerable else ""
            told[one.verdict].append(f"{one.metric.name} {_mean(one)}{apart}")
    return "; ".join(f"{verdict}: {', '.join(named)}" for verdict, named in told.items() if named)


def _changes(changed: Mapping[str, tuple[str, str]]) -> Iterator[str]:
    if not changed:
        yield "Settings and versions are the same."
        return
    width = max(map(len, changed))
    yield "Changed:\n"
    for name, (before, after) in changed.items():
        yield f"    {name.ljust(width)}  {cut(before, VALUE_CHARS)} -> {cut(after, VALUE_CHARS)}"
    if judged := [name.removeprefix(JUDGE) for name in changed if name.startswith(JUDGE)]:
        yield f"\nAnother judge: differences in {', '.join(judged)} may be the judge's, not the answers'."


def _overall(group: Sequence[Difference], speed: str) -> str:
    with_noise = any(one.noise is not None for one in group)
    header = ["family", "metric", "A", "B", "B - A", "95 % interval", "won/tied/lost", "scored"]
    header += [*(["judge's noise"] if with_noise else []), "verdict"]
    lines, family = [], ""
    for one in group:
        judged = one.metric.family != SPEED
        scored = list(dict.fromkeys(f"{side.n}/{side.of}" for side in (one.a, one.b)))
        lines.append([
            "" if one.metric.family == family else one.metric.family,
            one.metric.name + (" ↓" if one.metric.better == "lower" else ""),
            figure(one.mean_a),
            figure(one.mean_b),
            _mean(one),
            bounds(one.interval) if judged else "–",
            f"{one.wins}/{one.ties}/{one.losses}",
            ", ".join(scored),
            *([f"±{one.noise:.3f}" if one.noise is not None else "–"] if with_noise else []),
            one.verdict if judged else speed if one.metric.name == METRIC else "",
        ])  # fmt: skip
        family = one.metric.family
    return aligned(header, lines, left={0, 1, len(header) - 1})


def _notes(verdicts: Verdicts, min_difference: float) -> Iterator[str]:
    floor = f", above {min_difference:g} (--min-difference)" if min_difference else ""
    noisy = ", above the judge's own noise" if any(one.noise is not None for one in verdicts.overall) else ""
    yield (
        f"Better or worse: at least {FEWEST_PAIRS} pairs, a 95 % interval without 0{noisy}{floor}, and at most "
        f"{100 * MOST_CHANCE:g} % chance that any of the metrics differs as much without a change."
    )
    yield "A and B are means over the pairs."
    if any(one.metric.better == "lower" for one in verdicts.overall):
        yield "↓ Lower is better."
    for side, names in (("A", verdicts.only_a), ("B", verdicts.only_b)):
        if shown := [name for name in names if name not in UNPAIRED]:
            yield f"Only {side} was scored by {', '.join(shown)}."
