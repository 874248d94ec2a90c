"""Actions stand below their heading, in whatever form, or behind "Action:"."""

import pytest

from query_engine.collection.actions import action_spans

LINES = """Minutes of the club

ACTIONS
Hamish: sign the order, by 27 September
Dov:    advertise "Heron"

Next meeting: 3 May
"""
ITEMS = """## Action items

- [ ] Ines: remind six members of
  their subscriptions
2. Gwil: order the scores
"""
TABLE = """## Action points

| Who | What |
|---|---|
| Lars | order from Haller |
| Dee and Tom | find packers |

Motions must reach Dee.
"""
INLINE = """4. Shuttles
We need more.
ACTION: Tom to order twelve tubes.
**Action:** Gwen to tell members.
Actions taken last year were praised.
"""


@pytest.mark.parametrize(
    ("text", "actions"),
    [
        (LINES, ["Hamish: sign the order, by 27 September", 'Dov:    advertise "Heron"']),
        (ITEMS, ["Ines: remind six members of\n  their subscriptions", "Gwil: order the scores"]),
        (TABLE, ["| Lars | order from Haller |", "| Dee and Tom | find packers |"]),
        (INLINE, ["Tom to order twelve tubes.", "Gwen to tell members."]),
        ("Minutes\n\nACTIONS\n", []),
        ("Nothing is to be done.", []),
    ],
)
def test_actions_are_found_without_their_markers(text: str, actions: list[str]) -> None:
    assert [text[start:end] for start, end in action_spans(text)] == actions
