"""Rules about language may only become fewer: what is learned from data is not written as a pattern.

Counted are calls of `re` and the alternatives in their patterns. Lower the budget with each rule that goes.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CALLS = frozenset({"compile", "search", "match", "fullmatch", "findall", "finditer", "split", "sub", "subn"})
# Folder: calls, alternatives.
BUDGET = {"query_engine": (61, 149), "research": (29, 92)}


def patterns(folder: Path) -> Iterator[str]:
    """Yield the constant text of the first argument of each call of a function of `re`."""
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            module = node.func.value
            if isinstance(module, ast.Name) and module.id == "re" and node.func.attr in CALLS and node.args:
                constants = (part.value for part in ast.walk(node.args[0]) if isinstance(part, ast.Constant))
                yield "".join(text for text in constants if isinstance(text, str))


@pytest.mark.parametrize("folder", BUDGET)
def test_rules_about_language_become_fewer(folder: str) -> None:
    found = list(patterns(ROOT / folder))
    calls, alternatives = BUDGET[folder]

    assert 0 < len(found) <= calls
    assert sum(text.count("|") + 1 for text in found) <= alternatives
