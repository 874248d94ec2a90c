"""A Python without the project's packages is told how to get them, in one line."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAMS = [
    ["main.py"],
    *(
        ["-m", name]
        for name in (
            "ingestion",
            "index.keeper",
            "query_engine",
            "eval",
            "bench",
            "pipelines",
            "training.embedder",
            "training.gate",
            "training.lora",
            "training.fusion_weights",
            "treeline",
        )
    ),
]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a program by this Python without any installed package."""
    return subprocess.run(
        [sys.executable, "-S", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize("program", PROGRAMS, ids=" ".join)
def test_every_program_says_what_is_missing_and_how_to_get_it(program: list[str]) -> None:
    ended = run(*program, "--help")

    assert ended.returncode == 1
    assert ended.stdout == ""
    (line,) = ended.stderr.splitlines()
    assert line.startswith("error[not_installed]: The package '")
    assert "make install" in line
    assert str(ROOT / ".venv/bin/python") in line


def test_the_library_leaves_the_error_to_the_program_that_uses_it() -> None:
    assert "Traceback" in run("-c", "import treeline").stderr


def test_a_bug_keeps_its_traceback() -> None:
    for bug in ("import errors.nowhere", "1 / 0"):
        ended = run("-c", f"import missing_packages; {bug}")

        assert ended.returncode == 1
        assert "Traceback" in ended.stderr


def test_no_program_is_left_out() -> None:
    entries = {
        path for path in ROOT.glob("[!.]*/**/__main__.py") if path.relative_to(ROOT).parts[0] not in ("tests", "var")
    }

    folders = [ROOT / program[1].replace(".", "/") for program in PROGRAMS if program[0] == "-m"]
    tested = {folder / "__main__.py" for folder in folders if folder.is_dir()}

    assert entries == tested
