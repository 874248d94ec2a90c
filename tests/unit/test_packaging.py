"""`pip install -e .` makes the checkout importable and adds the command; a wheel is refused."""

import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from settings import VERSION

HOME = Path(__file__).parents[2]
NEEDED = ("pyproject.toml", "README.md", "LICENSE", "NOTICE", "requirements.txt", "settings.py")


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of what a build reads: building writes beside it."""
    copy = tmp_path_factory.mktemp("packaging") / "treeline"
    shutil.copytree(HOME / "treeline", copy / "treeline", ignore=shutil.ignore_patterns("__pycache__"))
    for name in NEEDED:
        shutil.copy(HOME / name, copy)
    return copy


def pip(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run pip without a network, with the build requirements of this environment."""
    command = [sys.executable, "-m", "pip", *arguments, "--no-deps", "--no-index", "--no-build-isolation"]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


def test_an_editable_install_points_to_the_checkout_and_adds_the_command(checkout: Path, tmp_path: Path) -> None:
    code = (
        f"import sys; sys.path.insert(0, 'treeline'); import editable_build as b; b.build_editable({str(tmp_path)!r})"
    )
    subprocess.run([sys.executable, "-c", code], cwd=checkout, check=True, capture_output=True, timeout=300)

    (built,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(built) as wheel:
        text = {name.rpartition("/")[2]: wheel.read(name).decode() for name in wheel.namelist()}
        outside = [name for name in wheel.namelist() if ".dist-info/" not in name]
    (pointer,) = outside
    assert pointer.endswith(".pth")
    assert text[pointer].strip() == str(checkout)
    assert "treeline = treeline.__main__:main" in text["entry_points.txt"]
    assert f"Version: {VERSION}\n" in text["METADATA"]
    required = re.findall(r"^Requires-Dist: (.+)$", text["METADATA"], re.MULTILINE)
    assert "llama-index==0.14.25" in required
    assert "ragas==0.4.3; extra == 'eval'" in [line.replace('"', "'") for line in required]


@pytest.mark.parametrize("command", [("wheel", "--wheel-dir"), ("install", "--target")])
def test_a_wheel_is_refused_in_a_sentence_and_nothing_is_installed(
    checkout: Path, tmp_path: Path, command: tuple[str, str]
) -> None:
    name, where = command
    run = pip(name, where, str(tmp_path / "out"), str(checkout))

    assert run.returncode != 0
    assert "Treeline is not built as a wheel" in run.stderr
    assert "pip install -e . -c constraints.txt" in run.stderr
    assert "Traceback" not in run.stderr
    assert not list((tmp_path / "out").rglob("*.py"))


def test_the_version_stands_in_one_place() -> None:
    settings = tomllib.loads((HOME / "pyproject.toml").read_text())

    assert "version" in settings["project"]["dynamic"]
    assert settings["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "settings.VERSION"}


def test_the_build_uses_the_setuptools_that_the_tests_use() -> None:
    settings = tomllib.loads((HOME / "pyproject.toml").read_text())

    assert set(settings["build-system"]["requires"]) <= set(settings["project"]["optional-dependencies"]["dev"])
