"""The requirements files, the proven resolve in `constraints.txt` and the third-party notices agree."""

import ast
import re
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

HOME = Path(__file__).parents[2]
ROOMS = ("index", "ingestion", "query_engine", "api")
FILES = sorted(path.name for path in HOME.glob("requirements*.txt"))


def pins(file_name: str) -> dict[str, str]:
    """Return package -> the version specifier a file gives it, names normalised."""
    lines = (line.partition("#")[0].strip() for line in (HOME / file_name).read_text().splitlines())
    parts = (re.fullmatch(r"(\w[\w.-]*)(?:\[\w+\])?(.*)", line) for line in lines if line)
    return {normalised(part[1]): part[2] for part in parts if part}


def normalised(name: str) -> str:
    """Return a package's name in the form in which names are compared."""
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.mark.parametrize("file_name", FILES)
def test_every_requirement_is_pinned_to_the_proven_version(file_name: str) -> None:
    # The packaged models depend on nothing and are installed without the resolver; DeepEval is installed apart.
    apart = {"requirements-models.txt", "requirements-deepeval.txt"}
    proven = pins(file_name if file_name in apart else "constraints.txt")

    assert {name: proven.get(name) for name in pins(file_name)} == pins(file_name)
    assert all(re.fullmatch(r"==[\w.]+", version) for version in pins(file_name).values())


def test_every_requirement_has_its_licence_in_the_notices() -> None:
    rows = re.findall(r"^\| ([\w.-]+) \|", (HOME / "THIRD_PARTY_NOTICES.md").read_text(), re.MULTILINE)
    named = {normalised(row) for row in rows}

    assert {name for file_name in FILES for name in pins(file_name)} - named == set()


def test_the_tests_have_what_the_evaluation_needs_and_the_image_has_not() -> None:
    assert "-r requirements-eval.txt" in (HOME / "requirements-dev.txt").read_text().splitlines()
    assert "requirements-eval" not in (HOME / "Dockerfile").read_text()
    assert not {"ragas", "langchain-community", "datasets", "deepeval"} & pins("requirements.txt").keys()


def test_pytorch_stands_alone() -> None:
    assert list(pins("requirements-torch.txt")) == ["torch"]
    assert not any("torch" in pins(file_name) for file_name in FILES if file_name != "requirements-torch.txt")


def test_whatever_the_service_imports_is_a_requirement() -> None:
    files = [*HOME.glob("*.py"), *(path for room in ROOMS for path in (HOME / room).rglob("*.py"))]
    modules = {name.partition(".")[0] for path in files for name in modules_of(path)}
    foreign = modules - sys.stdlib_module_names - {"main", "settings", "setting_groups", "errors", *ROOMS}
    required = {name for file in ("", "-torch", "-ray") for name in pins(f"requirements{file}.txt")}
    providers = packages_distributions()

    assert {name for name in foreign if not required & {normalised(p) for p in providers.get(name, [])}} == set()


def modules_of(path: Path) -> set[str]:
    """Return the full names of the modules a file imports."""
    nodes = list(ast.walk(ast.parse(path.read_text())))
    plain = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return plain | {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}
