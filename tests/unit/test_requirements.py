"""What is installed: requirements, extras, the proven resolve in `constraints.txt` and the notices agree."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

HOME = Path(__file__).parents[2]
ROOMS = ("index", "ingestion", "query_engine", "sources", "research", "pipelines", "api")
PROJECT = tomllib.loads((HOME / "pyproject.toml").read_text())["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
# The packaged models are installed without their dependencies, the others in environments of their own.
APART = ("requirements-models.txt", "requirements-deepeval.txt", "requirements-client.txt", "requirements-sbom.txt")


def pins(lines: Iterable[str]) -> dict[str, str]:
    """Return package -> the version specifier that it is given, names normalised; extras of our own left out."""
    stripped = (line.partition("#")[0].strip() for line in lines)
    parts = (re.fullmatch(r"(\w[\w.-]*)(?:\[[\w,]+\])?(.*)", line) for line in stripped if line)
    return {normalised(part[1]): part[2] for part in parts if part and part[1] != PROJECT["name"]}


def normalised(name: str) -> str:
    """Return a package's name in the form in which names are compared."""
    return re.sub(r"[-_.]+", "-", name).lower()


def lines_of(file_name: str) -> list[str]:
    return (HOME / file_name).read_text().splitlines()


LISTS = {
    "requirements.txt": pins(lines_of("requirements.txt")),
    **{name: pins(lines_of(name)) for name in APART},
    **{f"extra {name}": pins(lines) for name, lines in EXTRAS.items()},
}


def test_one_file_holds_the_service_and_one_the_resolve() -> None:
    assert {path.name for path in HOME.glob("requirements*.txt")} == {"requirements.txt", *APART}
    assert [path.name for path in HOME.glob("*constraints*")] == ["constraints.txt"]


@pytest.mark.fault("G1")
@pytest.mark.parametrize("name", LISTS)
def test_every_requirement_is_pinned_to_the_proven_version(name: str) -> None:
    proven = LISTS[name] if name in APART else pins(lines_of("constraints.txt"))

    assert {package: proven.get(package) for package in LISTS[name]} == LISTS[name]
    assert all(re.fullmatch(r"==[\w.]+", version) for version in LISTS[name].values())


@pytest.mark.fault("G1")
def test_every_requirement_has_its_licence_in_the_notices() -> None:
    rows = re.findall(r"^\| ([\w.-]+) \|", (HOME / "THIRD_PARTY_NOTICES.md").read_text(), re.MULTILINE)
    named = {normalised(row) for row in rows}

    assert {package for packages in LISTS.values() for package in packages} - named == set()


def test_llamaindex_itself_is_a_requirement_and_agrees_with_its_integrations() -> None:
    proven = pins(lines_of("constraints.txt"))

    assert {"llama-index", "llama-index-llms-openai-like"} <= LISTS["requirements.txt"].keys()
    assert proven["llama-index"] == proven["llama-index-core"] == "==0.14.25"
    # It takes no newer OpenAI integration than 0.7, and openai-like follows that one.
    assert proven["llama-index-llms-openai"].startswith("==0.7.")
    assert proven["llama-index-llms-openai-like"].startswith("==0.7.")


def test_the_tests_have_what_the_evaluation_and_ray_need_and_the_service_has_not() -> None:
    assert "treeline[eval,ocr,otel,ray,training]" in EXTRAS["dev"]
    assert EXTRAS.keys() == {"eval", "ocr", "otel", "ray", "training", "dev"}
    assert (
        not {"ragas", "langchain-community", "datasets", "deepeval", "peft", "rapidocr", "ray"}
        & LISTS["requirements.txt"].keys()
    )


def test_pytorch_comes_from_the_index_of_its_build() -> None:
    assert not [name for name, packages in LISTS.items() if "torch" in packages]
    assert re.search(r"--extra-index-url.* torch -c constraints\.txt$", (HOME / "Dockerfile").read_text(), re.MULTILINE)
    assert re.search(r"\$\(TORCH_INDEX\) torch -c constraints\.txt$", (HOME / "Makefile").read_text(), re.MULTILINE)


def test_everything_the_service_imports_is_a_requirement() -> None:
    files = [*HOME.glob("*.py"), *(path for room in ROOMS for path in (HOME / room).rglob("*.py"))]
    modules = {name.partition(".")[0] for path in files for name in modules_of(path)}
    own = {*ROOMS, "treeline", *(path.stem for path in HOME.glob("*.py"))}
    foreign = modules - sys.stdlib_module_names - own
    required = {
        "torch",
        *LISTS["requirements.txt"],
        *(package for name in ("ray", "ocr", "otel") for package in LISTS[f"extra {name}"]),
    }
    providers = packages_distributions()

    assert {name for name in foreign if not required & {normalised(p) for p in providers.get(name, [])}} == set()


def modules_of(path: Path) -> set[str]:
    """Return the full names of the modules a file imports."""
    nodes = list(ast.walk(ast.parse(path.read_text())))
    plain = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return plain | {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}
