"""Show both answers to a question beside each other, as wide as the terminal is.

Flow: `changed.py` -> **here** -> `command.py`. Returns text, prints nothing.
"""

import textwrap
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from eval.comparing.changed import Changed
from eval.rows import Row

SCORES_SHOWN = 5
MOST_CHARS = 900
NARROWEST_SIDES = 90


def show_changed(rows: Sequence[Changed], count: int, width: int) -> str:
    """Return the `count` worst losses and the `count` best gains.

    Args:
        rows: in the order of `changed.changed_rows`.
        count: of each kind.
        width: of the terminal, in characters; narrow ones get the answers below each other.
    """
    losses = [row for row in rows if row.better_by < 0]
    gains = [row for row in reversed(rows) if row.better_by > 0]
    parts = []
    for title, some in (("Lost most", losses), ("Gained most", gains)):
        if some and count:
            more = f", {min(count, len(some))} of {len(some)} questions"
            parts += [f"## {title}{more}", *(_question(row, width) for row in some[:count])]
    return "\n\n".join(parts)


def _question(changed: Changed, width: int) -> str:
    shown = list(changed.scores.items())[:SCORES_SHOWN]
    scores = ", ".join(f"{name} {before:.2f} -> {after:.2f}" for name, (before, after) in shown)
    rest = len(changed.scores) - len(shown)
    case = changed.case
    category = f" ({case.category})" if case.category else ""
    right = "there is none" if case.unanswerable else case.answer
    lines = [
        f"### {case.id}{category}: {'worse' if changed.better_by < 0 else 'better'} by {abs(changed.better_by):.3f}",
        *_wrapped("Changed   ", scores + (f", and {rest} more" if rest else ""), width),
        *_wrapped("Question  ", _plain(case.question), width),
        *(_wrapped("Right     ", _plain(right), width) if right else []),
    ]
    return "\n".join([*lines, "", *_answers(changed.a, changed.b, width)])


def _answers(a: Row, b: Row, width: int) -> Iterator[str]:
    before, after = _said(a), _said(b)
    if before == after:
        yield from _wrapped("A and B   ", before, width)
    elif width < NARROWEST_SIDES:
        yield from _wrapped("A   ", before, width)
        yield from _wrapped("B   ", after, width)
    else:
        half = (width - 3) // 2
        left, right = _wrapped("A  ", before, half), _wrapped("B  ", after, half)
        for one, other in zip_longest(left, right, fillvalue=""):
            yield f"{one.ljust(half)} | {other}".rstrip()


def _said(row: Row) -> str:
    if row.outcome == "failed":
        return f"(no reply: {row.reason})"
    text = _plain(row.answer or "")
    return f"(declined{f': {row.reason}' if row.reason else ''}) {text}" if row.outcome == "declined" else text


def _plain(text: str) -> str:
    """Return the text in one line, cut, without what would command the terminal."""
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return line if len(line) <= MOST_CHARS else line[: MOST_CHARS - 1] + "…"


def _wrapped(label: str, text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, initial_indent=label, subsequent_indent=" " * len(label)) or [label]
