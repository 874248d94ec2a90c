"""Show a comparison in a terminal, as Markdown that also reads well in a review.

Flow: `pairing.py` + `verdicts.py` -> **here** -> `command.py`, `baseline.py`; the report takes its verdicts in words.
Returns text, prints nothing.

How much a question changed is the mean over the families of metrics of the mean change within each, counted so that
more is better: otherwise the family with the most metrics would decide. Times and costs do not count.
"""

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from eval.cases import Case
from eval.cells import score_of
from eval.comparing.intervals import FEWEST_PAIRS, MOST_CHANCE, Interval
from eval.comparing.pairing import JUDGE, Joined, changes
from eval.comparing.speed import METRIC
from eval.comparing.verdicts import DIGITS, TIE, Difference, Verdicts
from eval.rows import Row
from eval.scoring.catalogue import OVER_ALL, SPEED, TAKES, metric_of
from eval.tables import aligned, counted, cut, figure

IDS_SHOWN = 5
SCORES_SHOWN = 5
MOST_CHARS = 900
VALUE_CHARS = 60
NO_CATEGORY = "(none)"


@dataclass(frozen=True, slots=True)
class Changed:
    """One question whose scores changed.

    Attributes:
        better_by: the mean change; below 0 it became worse.
        scores: metric -> score before and after, those that changed, the largest change first.
    """

    case: Case
    a: Row
    b: Row
    better_by: float
    scores: Mapping[str, tuple[float, float]]


def describe(joined: Joined, verdicts: Verdicts, count: int = 3, min_difference: float = 0.0) -> str:
    """Return the whole comparison as text, verdicts first; `count` of the worst and of the best rows are shown."""
    title = f"# {joined.a.path} (A) and {joined.b.path} (B)"
    headline = [f"- **{about}: {verdict}**{f' ({why})' if why else ''}" for about, verdict, why in said(verdicts)]
    notes = "\n".join(_notes(verdicts, min_difference))
    parts = [title, "\n".join(headline), "\n".join(_origin(joined)), *_tables(verdicts), notes]
    return "\n\n".join([*parts, *_rows(changed_rows(joined), count)])


def said(verdicts: Verdicts) -> list[tuple[str, str, str]]:
    """Return the three verdicts: what each is about, the verdict, and what it rests on, which may be empty."""
    speed, times = verdicts.speed, ""
    if speed.ratio is not None:
        bounds_ = f"95 % interval {speed.low:.2f} … {speed.high:.2f}"
        times = f"B takes {speed.ratio:.2f} times as long as A, {bounds_}; "
    return [
        ("Quality", verdicts.quality, _why(verdicts, cost=False)),
        ("Speed", speed.verdict, times + speed.why),
        ("Cost", verdicts.cost, _why(verdicts, cost=True)),
    ]


def changed_rows(joined: Joined) -> list[Changed]:
    """Return every question with a changed score, the worst loss first."""
    found = []
    for case in joined.cases:
        a, b = joined.a.cells[case.id], joined.b.cells[case.id]
        scores: dict[str, tuple[float, float]] = {}
        gains: dict[str, list[float]] = {}
        for metric in map(metric_of, b):
            before, after = score_of(a, metric.name), score_of(b, metric.name)
            if before is None or after is None or metric.family in TAKES:
                continue
            change = after - before if abs(after - before) > TIE else 0.0
            gains.setdefault(metric.family, []).append(change if metric.better == "higher" else -change)
            if change:
                scores[metric.name] = (before, after)
        if scores:
            better_by = statistics.fmean(map(statistics.fmean, gains.values()))
            scores = dict(sorted(scores.items(), key=lambda item: -abs(item[1][1] - item[1][0])))
            found.append(Changed(case, joined.a.rows[case.id], joined.b.rows[case.id], better_by, scores))
    return sorted(found, key=lambda one: one.better_by)


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


def _origin(joined: Joined) -> Iterator[str]:
    """Yield what is compared with what: questions, left out ones, fingerprints, settings."""
    named = {case.drawn_from for case in joined.cases} - {None}
    drawn = f", drawn from {counted(len(named), 'document')}: those of one document count as one draw" if named else ""
    yield f"{counted(len(joined.cases), 'question')} compared{drawn}."
    for ids, why in (
        (joined.only_a, "B has no reply to"),
        (joined.only_b, "A has no reply to"),
        (joined.altered, "question or reference is another one in"),
    ):
        if ids:
            more = f", and {len(ids) - IDS_SHOWN} more" if len(ids) > IDS_SHOWN else ""
            yield f"Left out: {why} {counted(len(ids), 'question')} ({', '.join(ids[:IDS_SHOWN])}{more})."
    before, after = joined.a.header.fingerprint, joined.b.header.fingerprint
    if before and before == after:
        yield f"Same fingerprint of settings, models and index: {before}."
    else:
        yield f"Fingerprint: {before or 'not reported'} -> {after or 'not reported'}."
    changed = changes(joined.a, joined.b)
    if not changed:
        yield "Settings and versions are the same."
        return
    width = max(map(len, changed))
    yield "Changed:\n"
    for name, (old, new) in changed.items():
        yield f"    {name.ljust(width)}  {cut(old, VALUE_CHARS)} -> {cut(new, VALUE_CHARS)}"
    if judged := [name.removeprefix(JUDGE) for name in changed if name.startswith(JUDGE)]:
        yield f"\nAnother judge: differences in {', '.join(judged)} may be the judge's, not the answers'."


def _tables(verdicts: Verdicts) -> Iterator[str]:
    """Yield the tables of both kinds of questions, and of the categories."""
    for title, group in (("with", verdicts.answerable), ("without", verdicts.unanswerable)):
        if group:
            yield f"## Questions {title} an answer"
            yield _overall(group, verdicts.speed.verdict)
    by_category = [
        [name or NO_CATEGORY, one.metric.name, _mean(one), bounds(one.interval), str(one.pairs), one.verdict]
        for name, group in verdicts.by_category.items()
        for one in group
        if one.verdict in ("better", "worse")
    ]
    if by_category:
        yield "## By category"
        header = ["category", "metric", "B - A", "95 % interval", "pairs", "verdict"]
        yield aligned(header, by_category, left={0, 1, 5})


def _mean(one: Difference) -> str:
    return signed(one.interval.mean if one.interval else None)


def _why(verdicts: Verdicts, *, cost: bool) -> str:
    """Return which metrics are better or worse; where none is, whether rows differ, and what cannot be told."""
    group = verdicts.deciding(cost=cost)
    if not group:
        return "the runs are not both scored by its metrics; `eval score` computes them"
    if all(one.verdict == "no difference" for one in group):
        return "no row differs"
    told: dict[str, list[str]] = {"worse": [], "better": [], "too few to tell": []}
    for one in group:
        if one.verdict in told:
            apart = " without an answer" if one in verdicts.unanswerable else ""
            told[one.verdict].append(f"{one.metric.name} {_mean(one)}{apart}")
    return "; ".join(f"{verdict}: {', '.join(named)}" for verdict, named in told.items() if named)


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
        f"Better or worse: at least {FEWEST_PAIRS} pairs from as many documents, a 95 % interval without "
        f"0{noisy}{floor}, and at most {100 * MOST_CHANCE:g} % chance that any of the metrics differs as much "
        "without a change."
    )
    yield "A and B are means over the pairs."
    if any(one.metric.better == "lower" for one in verdicts.overall):
        yield "↓ Lower is better."
    for side, names in (("A", verdicts.only_a), ("B", verdicts.only_b)):
        if shown := [name for name in names if name not in OVER_ALL]:
            yield f"Only {side} was scored by {', '.join(shown)}."


def _rows(rows: Sequence[Changed], count: int) -> Iterator[str]:
    """Yield the `count` worst losses and the `count` best gains; `rows` as `changed_rows` returns them."""
    losses = [row for row in rows if row.better_by < 0]
    gains = [row for row in reversed(rows) if row.better_by > 0]
    for title, some in (("Lost most", losses), ("Gained most", gains)):
        if some and count:
            yield f"## {title}, {min(count, len(some))} of {len(some)} questions"
            yield from ("\n".join(_row(row)) for row in some[:count])


def _row(changed: Changed) -> Iterator[str]:
    case, rest = changed.case, len(changed.scores) - SCORES_SHOWN
    shown = [f"{name} {before:.2f} -> {after:.2f}" for name, (before, after) in changed.scores.items()][:SCORES_SHOWN]
    category = f" ({case.category})" if case.category else ""
    right = "there is none" if case.unanswerable else case.answer
    yield f"### {case.id}{category}: {'worse' if changed.better_by < 0 else 'better'} by {abs(changed.better_by):.3f}"
    yield f"Changed   {', '.join(shown)}{f', and {rest} more' if rest > 0 else ''}"
    yield f"Question  {cut(case.question, MOST_CHARS)}"
    if right:
        yield f"Right     {cut(right, MOST_CHARS)}"
    before, after = _said(changed.a), _said(changed.b)
    yield from ([f"A and B   {before}"] if before == after else [f"A         {before}", f"B         {after}"])


def _said(row: Row) -> str:
    if row.outcome == "failed":
        return f"(no reply: {row.reason})"
    text = cut(row.answer or "", MOST_CHARS)
    return f"(declined{f': {row.reason}' if row.reason else ''}) {text}" if row.outcome == "declined" else text
