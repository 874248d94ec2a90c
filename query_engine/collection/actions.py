"""Find the actions in minutes: who is to do what. They stand below "ACTIONS", or behind "Action:" where agreed.

Flow: `outcomes.py`, with the text of minutes -> **here** -> where each action stands. English. Pure.
"""

import re
from collections.abc import Iterator

_HEADING = re.compile(
    r"^(?:#{1,6}[ \t]+|\*\*)?(?:\d{1,2}\.?[ \t]+)?"
    r"(?:(?:agreed |summary of )?actions?(?: (?:points|items|list|arising))?|to[- ]do(?: list)?|tasks|who does what)"
    r"(?:\*\*)?:?(?:\*\*)?[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_INLINE = re.compile(
    r"^[ \t]*(?:[-*•][ \t]+)?\**action(?: point| item)?s?\**:\**[ \t]*(?=\S)", re.IGNORECASE | re.MULTILINE
)
_MARKER = re.compile(r"[ \t]*(?:[-*•‣][ \t]+|\d{1,2}[.)][ \t]+)?(?:\[[ xX]?\][ \t]+)?")
_RULE = re.compile(r"[\s|:–-]+")
_GOES_ON = re.compile(r"[ \t]{2,}\S")

Span = tuple[int, int]


def action_spans(text: str) -> list[Span]:
    """Return where each action stands, in order, without its marker; `[]` where there is none."""
    found = [span for heading in _HEADING.finditer(text) for span in _below(text, heading.end())]
    found += [(match.end(), _line_end(text, match.end())) for match in _INLINE.finditer(text)]
    return sorted(set(found))


def _below(text: str, start: int) -> Iterator[Span]:
    """Yield the lines of the block below a heading; of a table the rows, and with a line those that go on from it."""
    begin = len(text) - len(text[start:].lstrip())
    end = text.find("\n\n", begin)
    lines = [*re.finditer(r"[^\n]+", text[: end if end >= 0 else len(text)][begin:])]
    spans: list[Span] = []
    for place, line in enumerate(lines):
        following = lines[place + 1][0] if place + 1 < len(lines) else ""
        is_header = "|" in line[0] and "-" in following and _RULE.fullmatch(following)
        if _RULE.fullmatch(line[0]) or is_header:
            continue
        if spans and _GOES_ON.match(line[0]):
            spans[-1] = spans[-1][0], begin + line.end()
        else:
            marker = _MARKER.match(line[0])
            spans.append((begin + line.start() + (marker.end() if marker else 0), begin + line.end()))
    yield from spans


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end
