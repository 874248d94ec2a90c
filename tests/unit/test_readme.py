"""The README says what is so: length, routes, commands."""

import re
from pathlib import Path

import pytest

from api.app import create_app
from api.jobs.queue import Jobs
from settings import Settings
from tests.fakes.engines import FakeEngines
from tests.fakes.ingesting import FakeIngester
from tests.fakes.sources import FakePageAnswers

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
MOST_LINES = 250


def test_it_stays_short() -> None:
    assert len(README.splitlines()) <= MOST_LINES


def test_every_route_is_in_the_table_and_the_other_way_round() -> None:
    stated = set(re.findall(r"`((?:GET|POST|DELETE) /[^`]*)`", README.split("## Routes")[1].split("\n## ")[0]))
    paths = create_app(FakeEngines({}), Settings(), FakeIngester(), Jobs(), given=FakePageAnswers()).openapi()["paths"]
    served = {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}

    assert stated == served


@pytest.mark.parametrize("target", ["run", "test", "ask"])
def test_make_targets_that_it_names_exist(target: str) -> None:
    assert f"make {target}" in README
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
