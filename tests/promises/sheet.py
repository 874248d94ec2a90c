"""Join the promises of `promises.toml` with the tests that show them.

Flow: marks in the tests (`tests/marked.py`) -> **here** -> `reference/promises.md`.
"""

import tomllib
from pathlib import Path

from tests.faults.sheet import table_line
from tests.marked import marked

PROMISES = Path(__file__).with_name("promises.toml")
PAGE = Path(__file__).parents[2] / "reference" / "promises.md"
_HEAD = """# What Treeline promises

Each promise, and the tests that show it. `python -m tests.promises` writes this page from
`tests/promises/promises.toml` and the marks in the tests.
"""


def groups() -> dict[str, dict[str, str]]:
    """Return the promises by id, in groups by whose users expect them."""
    return tomllib.loads(PROMISES.read_text(encoding="utf-8"))


def problems() -> list[str]:
    """Return what does not fit: promises that no test shows, marks of no promise, ids that stand twice."""
    named = [name for group in groups().values() for name in group]
    shown = marked("promise")
    return [
        *(f"{name}: no test shows it; mark one with @pytest.mark.promise" for name in named if name not in shown),
        *(f"{name}: no promise, but named by {', '.join(shown[name])}" for name in shown if name not in named),
        *(f"{name}: in two groups of promises.toml" for name in sorted(set(named)) if named.count(name) > 1),
    ]


def page() -> str:
    """Return `reference/promises.md`."""
    shown = marked("promise")
    parts = [_HEAD]
    for title, rows in groups().items():
        lines = [[name, text, "<br>".join(f"`{test}`" for test in shown.get(name, []))] for name, text in rows.items()]
        parts.append(f"\n## {title}\n\n| | promise | tests |\n|---|---|---|\n")
        parts += (f"{table_line(line)}\n" for line in lines)
    return "".join(parts)
