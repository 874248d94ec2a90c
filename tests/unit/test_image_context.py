"""What the image's programs import enters the image: `.dockerignore` names all of it."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# What runs in the image: the service, its commands, and gunicorn's settings.
PROGRAMS = [
    "main",
    "ingestion.__main__",
    "query_engine.__main__",
    "pipelines.__main__",
    "research",
    "starter",
    "gunicorn.conf",
]


def admitted() -> list[str]:
    """Return the paths that `.dockerignore` lets in; everything else stays out."""
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert "*" in lines
    return [line[1:] for line in lines if line.startswith("!")]


def file_of(module: str) -> Path | None:
    """Return the project's file of a module, relative to the root; None for an installed package."""
    path = ROOT / module.replace(".", "/")
    for file in (path / "__init__.py", path.with_suffix(".py"), ROOT / f"{module}.py"):
        if file.is_file():
            return file.relative_to(ROOT)
    return None


def imported(file: Path) -> Iterator[str]:
    """Yield the modules that a file names in its imports, whether at its top or in a function."""
    for node in ast.walk(ast.parse((ROOT / file).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.fixture(scope="module")
def reached() -> set[Path]:
    """Return the project's files that the programs import, directly or not."""
    files: set[Path] = set()
    waiting = [file for program in PROGRAMS if (file := file_of(program))]
    assert len(waiting) == len(PROGRAMS)
    while waiting:
        file = waiting.pop()
        if file not in files:
            files.add(file)
            waiting += [found for module in imported(file) if (found := file_of(module))]
    return files


def test_every_file_that_the_image_imports_enters_it(reached: set[Path]) -> None:
    missing = [file for file in reached if not any(file.is_relative_to(path) for path in admitted())]

    assert missing == []


@pytest.mark.parametrize("left_out", ["errors.py", "loopback.py", "remote.py", "missing_packages.py", "index"])
def test_a_file_that_is_left_out_would_be_noticed(reached: set[Path], left_out: str) -> None:
    paths = [path for path in admitted() if path != left_out]

    assert any(not any(file.is_relative_to(path) for path in paths) for file in reached)


def test_what_enters_exists() -> None:
    assert [path for path in admitted() if not (ROOT / path).exists()] == []
