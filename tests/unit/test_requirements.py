"""The requirements files, the proven resolve in `constraints.txt` and the third-party notices agree."""

import re
from pathlib import Path

import pytest

HOME = Path(__file__).parents[2]
FILES = sorted(path.name for path in HOME.glob("requirements*.txt"))


def pins(file_name: str) -> dict[str, str]:
    """Return package -> the version specifier a file gives it, names normalised."""
    lines = (line.partition("#")[0].strip() for line in (HOME / file_name).read_text().splitlines())
    parts = (re.fullmatch(r"([\w.-]+)(?:\[\w+\])?(.*)", line) for line in lines if line)
    return {re.sub(r"[-_.]+", "-", part[1]).lower(): part[2] for part in parts if part}


@pytest.mark.parametrize("file_name", FILES)
def test_every_requirement_is_pinned_to_the_proven_version(file_name: str) -> None:
    # The packaged models depend on nothing and are installed without the resolver.
    proven = pins("constraints.txt") if file_name != "requirements-models.txt" else pins(file_name)

    assert {name: proven.get(name) for name in pins(file_name)} == pins(file_name)
    assert all(re.fullmatch(r"==[\w.]+", version) for version in pins(file_name).values())


def test_every_requirement_has_its_licence_in_the_notices() -> None:
    rows = re.findall(r"^\| ([\w.-]+) \|", (HOME / "THIRD_PARTY_NOTICES.md").read_text(), re.MULTILINE)
    named = {re.sub(r"[-_.]+", "-", row).lower() for row in rows}

    assert {name for file_name in FILES for name in pins(file_name)} - named == set()


def test_pytorch_stands_alone() -> None:
    assert list(pins("requirements-torch.txt")) == ["torch"]
    assert not any("torch" in pins(file_name) for file_name in FILES if file_name != "requirements-torch.txt")
