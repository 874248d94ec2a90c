"""No text that comes from outside can keep a regular expression busy for long."""

import re
import subprocess
import sys

import pytest

from tests.unit.linear_patterns import ROOT, Found, attacks, is_slow

KILL_S = 600
pytestmark = pytest.mark.slow


@pytest.mark.fault("D4")
@pytest.mark.parametrize("packages", [("index", "ingestion"), ("query_engine",), ("api", "eval")])
def test_each_pattern_takes_time_in_proportion_to_its_text(packages: tuple[str, ...]) -> None:
    command = [sys.executable, "-m", "tests.unit.linear_patterns", *packages]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=KILL_S, check=False)

    assert told.returncode == 0, told.stderr
    *slow, count = told.stdout.splitlines()
    assert slow == []
    assert int(count.split()[0]) > 10


@pytest.mark.parametrize(
    ("pattern", "methods"),
    [
        (rb"\s*(?:<!--.*?-->\s*)*<html", {"match"}),  # what a Markdown file with 32 comments could not pass
        (r"\s+$", {"search"}),
        (r"\S+@\S+", {"finditer"}),
        (r"(\w+)*!", {"fullmatch"}),
    ],
)
def test_a_slow_pattern_is_found(pattern: str | bytes, methods: set[str]) -> None:
    found = Found("here", re.compile(pattern, re.DOTALL), frozenset(methods))

    assert any(is_slow(found, attack) for attack in attacks(found.pattern))
