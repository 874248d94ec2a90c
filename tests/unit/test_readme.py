"""The README is short, and its commands exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
MOST_LINES = 100


def test_it_stays_short() -> None:
    assert len(README.splitlines()) <= MOST_LINES


@pytest.mark.parametrize("target", ["run", "test", "ask"])
def test_make_targets_that_it_names_exist(target: str) -> None:
    assert f"make {target}" in README
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
