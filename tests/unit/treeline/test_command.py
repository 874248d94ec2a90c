"""The command `treeline`: each word leads to the program that has it."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from settings import VERSION
from treeline.__main__ import COMMANDS, main

HOME = Path(__file__).parents[3]
LIGHT = "import sys, treeline.__main__; print({'llama_index', 'chromadb', 'numpy', 'fastapi'} & sys.modules.keys())"


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])

    assert ended.value.code == 0
    shown = capsys.readouterr().out
    assert list(COMMANDS) == ["serve", "ask", "ingest", "pipeline", "eval", "mcp", "keys", "models", "bench"]
    assert all(f"    {name} " in shown for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_given_all_that_stands_behind_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[tuple[list[str], str]] = []

    def program(argv: list[str], prog: str) -> int:
        given.append((argv, prog))
        return 7

    monkeypatch.setattr(import_module(COMMANDS[name][0]), "main", program)

    assert main([name, "--corpus", "papers", "--help"]) == 7
    assert given == [(["--corpus", "papers", "--help"], f"treeline {name}")]


@pytest.mark.parametrize("name", COMMANDS)
def test_the_programs_read_their_arguments_from_it_and_name_it_in_their_help(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([name, "--help"])

    assert ended.value.code == 0
    shown = capsys.readouterr().out
    assert f"usage: treeline {name}" in shown
    assert "python -m" not in shown


@pytest.mark.parametrize("words", [[], ["papers"], ["--corpus", "papers"]])
def test_anything_else_is_a_usage_error(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)

    assert ended.value.code == 2
    assert "usage: treeline" in capsys.readouterr().err


def test_the_version_is_the_settings(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--version"])

    assert capsys.readouterr().out.strip() == VERSION


def test_help_waits_for_no_library() -> None:
    run = subprocess.run([sys.executable, "-c", LIGHT], cwd=HOME, capture_output=True, text=True, check=True)

    assert run.stdout.strip() == "set()"
