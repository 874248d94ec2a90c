"""Who may import whom, as far as import-linter cannot see it; its contracts are in `pyproject.toml` (`make lint`).

It reads packages only, and takes every LlamaIndex integration for one `llama_index`; so the modules at the top
and the integrations are checked here.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

HOME = Path(__file__).parents[2]
ROOMS = (
    *("index", "ingestion", "query_engine", "sources", "research", "pipelines"),
    *("api", "eval", "bench", "training", "treeline"),
)


def imports_of(path: Path) -> Iterator[str]:
    """Yield the full names a file imports anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def importers_of(name: str) -> set[str]:
    """Return the files outside tests that import `name` or something inside it."""
    files = [*HOME.glob("*.py"), *(path for room in ROOMS for path in (HOME / room).rglob("*.py"))]
    return {
        str(path.relative_to(HOME))
        for path in files
        if any(f"{found}.".startswith(f"{name}.") for found in imports_of(path))
    }


@pytest.mark.parametrize(
    ("module", "known"),
    [
        ("errors", set()),
        ("setting_groups", {"pydantic"}),
        ("settings", {"errors", "pydantic", "dotenv", "setting_groups"}),
        (
            "main",
            {
                "missing_packages",
                "errors",
                "settings",
                "ingestion",
                "query_engine",
                "api",
                "fastapi",
            },
        ),
    ],
    ids=[
        "errors stand alone",
        "declarations stand alone",
        "settings know their declarations",
        "main composes the service",
    ],
)
def test_the_modules_at_the_top(module: str, known: set[str]) -> None:
    imported = {name.partition(".")[0] for name in imports_of(HOME / f"{module}.py")}

    assert imported - sys.stdlib_module_names <= known


@pytest.mark.parametrize(
    ("integration", "files"),
    [
        ("llama_index.vector_stores.chroma", {"index/llamaindex.py", "bench/baseline/llamaindex.py"}),
        ("llama_index.embeddings.huggingface", {"index/build.py", "bench/baseline/llamaindex.py"}),
        ("llama_index.llms.huggingface", {"query_engine/llms/huggingface.py"}),
        ("llama_index.llms.openai_like", {"query_engine/llms/openai.py"}),
    ],
)
def test_an_integration_is_used_in_its_place_only(integration: str, files: set[str]) -> None:
    assert importers_of(integration) == files
