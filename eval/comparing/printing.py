"""Show a comparison in a terminal, as Markdown that also reads well in a review.

Flow: `pairing.py` + `verdicts.py` -> **here** -> `command.py`, `baseline.py`. The rows side by side are
`side_by_side.py`'s. Returns text, prints nothing.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from eval.comparing.intervals import LEVEL, Interval
from eval.comparing.pairing import JUDGE, Joined, changes
from eval.comparing.verdicts import FEWEST_CHANGED, FEWEST_PAIRS, UNPAIRED, Difference, Rules, Verdicts

IDS_SHOWN = 5
VALUE_CHARS = 60
CATEGORIES_ABREAST = 4
NO_CATEGORY = "(none)"
_SIGNS = {"better": "better", "worse": "WORSE", "no difference": "=", "no real difference": "~", "too few to tell": "?"}
_LEGEND = (
    "In brackets the pairs. = no row differs, ~ no real difference, ? too few to tell. Categories are for looking: "
    "by chance some stand out."
)


def origin(joined: Joined) -> str:
    """Return what is compared with what: runs, questions, left out ones, fingerprints, settings."""
    a, b = joined.a, joined.b
    lines = [f"# {a.name} (A) and {b.name} (B)", "", f"{_count(len(joined.cases), 'question')} compared."]
    for ids, why in (
        (joined.only_a, "B has no reply to"),
        (joined.only_b, "A has no reply to"),
        (joined.altered, "question or reference is another one in"),
    ):
        if ids:
            lines.append(f"Left out: {why} {_count(len(ids), 'question')} ({_some(ids)}).")
    return "\n".join([*lines, *_fingerprints(joined), *_changes(changes(a, b))])


def headline(verdicts: Verdicts) -> str:
    """Return the verdicts in a sentence or two, and how far chance reaches among so many metrics."""
    counts = Counter(one.verdict for one in verdicts.overall)
    if set(counts) == {"no difference"}:
        return f"**No difference: B is as A in all {len(verdicts.overall)} metrics, row by row.**"
    total = len(verdicts.overall)
    same = counts["no difference"] + counts["no real difference"]
    unknown = f", too few to tell in {counts['too few to tell']}" if counts["too few to tell"] else ""
    lines = [
        f"**B is worse in {counts['worse']} of {total} metrics and better in {counts['better']}; "
        f"no real difference in {same}{unknown}.**"
    ]
    for verdict in ("worse", "better"):
        for where, group in (("", verdicts.answerable), (", of questions without an answer", verdicts.unanswerable)):
            if named := [_named(one) for one in group if one.verdict == verdict]:
                lines.append(f"- {verdict}{where}: {', '.join(named)}")
    judged = total - counts["too few to tell"] - counts["no difference"]
    if judged:
        by_chance = f"about {judged * (1 - LEVEL):.1f} better or worse"
        lines.append(
            f"\nOf {judged} metrics in which rows differ, chance alone would call {by_chance}; "
            "* marks what holds even so (Holm)."
        )
    return "\n".join(lines)


def tables(verdicts: Verdicts, rules: Rules) -> str:
    """Return the tables of both kinds of questions, of the categories, and how to read them."""
    parts = []
    by_category = _without_times(verdicts.by_category)
    for title, group in (("with", verdicts.answerable), ("without", verdicts.unanswerable)):
        if group:
            parts += [f"## Questions {title} an answer", _overall(group)]
    if any(one.verdict != "no difference" for some in by_category.values() for one in some):
        parts += ["## By category", *_categories(by_category), _LEGEND]
    return "\n\n".join([*parts, "\n".join(_notes(verdicts, rules))])


def aligned(header: Sequence[str], lines: Iterable[Sequence[str]], left: int) -> str:
    """Return a Markdown table with padded columns, the first `left` ones and the last to the left."""
    body = [list(line) for line in lines]
    widths = [max(map(len, column)) for column in zip(header, *body, strict=True)]
    sides = [column < left or column == len(header) - 1 for column in range(len(header))]
    rule = ["-" * width if is_left else "-" * (width - 1) + ":" for width, is_left in zip(widths, sides, strict=True)]
    padded = [
        [
            cell.ljust(width) if is_left else cell.rjust(width)
            for cell, width, is_left in zip(line, widths, sides, strict=True)
        ]
        for line in (header, rule, *body)
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in padded)


def _fingerprints(joined: Joined) -> Iterator[str]:
    before, after = joined.a.header.fingerprint, joined.b.header.fingerprint
    if before and before == after:
        yield f"Same fingerprint of settings, models and index: {before}."
    else:
        yield f"Fingerprint: {before or 'none told'} -> {after or 'none told'}."


def _changes(changed: Mapping[str, tuple[str, str]]) -> Iterator[str]:
    if not changed:
        yield "Settings and versions are the same."
        return
    width = max(map(len, changed))
    yield "Changed:"
    yield ""
    for name, (before, after) in changed.items():
        yield f"    {name.ljust(width)}  {_short(before)} -> {_short(after)}"
    if judged := [name.removeprefix(JUDGE) for name in changed if name.startswith(JUDGE)]:
        yield f"\nAnother judge: differences in {', '.join(judged)} may be the judge's, not the answers'."


def _overall(group: Sequence[Difference]) -> str:
    with_noise = any(one.noise is not None for one in group)
    header = ["family", "metric", "A", "B", "B - A", "95 % interval", "won/tied/lost", "scored"]
    lines, family = [], ""
    for one in group:
        lines.append([
            "" if one.metric.family == family else one.metric.family,
            one.metric.name + (" ↓" if one.metric.better == "lower" else ""),
            _number(one.mean_a),
            _number(one.mean_b),
            _signed(one.interval.mean if one.interval else None),
            _bounds(one.interval),
            f"{one.wins}/{one.ties}/{one.losses}",
            _coverage(one),
            *([_noise(one.noise)] if with_noise else []),
            one.verdict + ("*" if one.sure else ""),
        ])  # fmt: skip
        family = one.metric.family
    return aligned([*header, *(["judge's noise"] if with_noise else []), "verdict"], lines, left=2)


def _without_times(by_category: Mapping[str, Sequence[Difference]]) -> dict[str, list[Difference]]:
    return {name: [one for one in some if one.metric.family != "speed"] for name, some in by_category.items()}


def _categories(by_category: Mapping[str, Sequence[Difference]]) -> Iterator[str]:
    """Yield tables of up to four categories each, with the metrics in which rows differ."""
    names = list(by_category)
    for begin in range(0, len(names), CATEGORIES_ABREAST):
        some = {name: by_category[name] for name in names[begin : begin + CATEGORIES_ABREAST]}
        changed = [one.metric.name for group in some.values() for one in group if one.verdict != "no difference"]
        metrics = dict.fromkeys(one.metric.name for group in some.values() for one in group)
        pairs = {name: max((one.pairs for one in group), default=0) for name, group in some.items()}
        header = ["metric", *(f"{name or NO_CATEGORY} ({pairs[name]})" for name in some)]
        found = {(name, one.metric.name): one for name, group in some.items() for one in group}
        lines = [
            [metric, *(_in_category(found.get((name, metric)), pairs[name]) for name in some)]
            for metric in metrics
            if metric in changed
        ]
        yield aligned(header, lines, left=len(header))


def _in_category(one: Difference | None, most_pairs: int) -> str:
    if one is None or one.interval is None:
        return "–"
    fewer = "" if one.pairs == most_pairs else f" ({one.pairs})"
    if one.verdict == "no difference":
        return f"={fewer}"
    return f"{_signed(one.interval.mean)} ({_bounds(one.interval)}) {_SIGNS[one.verdict]}{fewer}"


def _notes(verdicts: Verdicts, rules: Rules) -> Iterator[str]:
    floor = f", above {rules.min_difference:g} (--min-difference)" if rules.min_difference else ""
    noisy = ", above the judge's own noise" if any(one.noise is not None for one in verdicts.overall) else ""
    yield (
        f"Better or worse: at least {FEWEST_PAIRS} pairs, {FEWEST_CHANGED} of which differ, a 95 % interval without 0"
        f"{noisy}{floor}."
    )
    yield f"A and B are means over the pairs; intervals come from {rules.samples:,} resamplings, seed {rules.seed}."
    if any(one.metric.better == "lower" for one in verdicts.overall):
        yield "↓ Lower is better."
    for side, names in (("A", verdicts.only_a), ("B", verdicts.only_b)):
        if shown := [name for name in names if name not in UNPAIRED]:
            yield f"Only {side} was scored by {', '.join(shown)}."


def _named(one: Difference) -> str:
    change = f" {_signed(one.interval.mean)}" if one.interval else ""
    return f"{one.metric.name}{change}{'*' if one.sure else ''}"


def _bounds(interval: Interval | None) -> str:
    if interval is None or interval.low == interval.high == 0:
        return "–"
    return f"{_signed(interval.low)} … {_signed(interval.high)}"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}" if abs(value) < 10 else f"{value:.1f}"


def _signed(value: float | None) -> str:
    if value is None:
        return "–"
    text = f"{value:+.3f}" if abs(value) < 10 else f"{value:+.1f}"
    return "0.000" if text in ("+0.000", "-0.000") else text


def _coverage(one: Difference) -> str:
    a, b = (f"{side.n}/{side.of}" for side in (one.a, one.b))
    return a if a == b else f"{a}, {b}"


def _noise(value: float | None) -> str:
    return "–" if value is None else f"±{value:.3f}"


def _count(n: int, thing: str) -> str:
    return f"{n:,} {thing}{'' if n == 1 else 's'}"


def _some(ids: Sequence[str]) -> str:
    shown = ", ".join(ids[:IDS_SHOWN])
    return f"{shown}, and {len(ids) - IDS_SHOWN} more" if len(ids) > IDS_SHOWN else shown


def _short(text: str) -> str:
    return text if len(text) <= VALUE_CHARS else text[: VALUE_CHARS - 1] + "…"
