"""Which tests carry a marker with ids, `fault` or `promise`: read from the source, so that no test is imported."""

import ast
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parent


def marked(marker: str, folder: Path = TESTS) -> dict[str, list[str]]:
    """Return the tests in `folder` that name each id with `@pytest.mark.<marker>(id, …)`, as `file::test`, in order.

    A whole file carries an id by `pytestmark`, and is then named without a test.
    """
    found: dict[str, list[str]] = {}
    for path in sorted(folder.rglob("test_*.py")):
        source = path.read_text(encoding="utf-8")
        if f"mark.{marker}(" not in source:
            continue
        file = path.relative_to(folder).as_posix()
        for node in ast.parse(source).body:
            test = f"::{node.name}" if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else ""
            for name in dict.fromkeys(_ids(node, marker)):
                found.setdefault(name, []).append(file + test)
    return found


def _ids(node: ast.stmt, marker: str) -> Iterator[str]:
    """Yield the ids of all marks in a statement of a module, also of those of single parameters."""
    for call in ast.walk(node):
        if (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Attribute)
            and call.func.attr == marker
            and isinstance(call.func.value, ast.Attribute)
            and call.func.value.attr == "mark"
        ):
            yield from (one.value for one in call.args if isinstance(one, ast.Constant) and isinstance(one.value, str))
