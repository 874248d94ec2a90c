"""The README says what is so: settings, routes, commands, files."""

import re
from pathlib import Path

import pytest

from api.app import create_app
from api.jobs.queue import Jobs
from settings import Settings, variables
from tests.fakes.engines import FakeEngines
from tests.fakes.ingesting import FakeIngester

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def test_the_settings_table_is_the_settings() -> None:
    """Written by `PYTHONPATH=. python tests/unit/test_readme.py`."""
    assert rendered() in README


def test_every_route_is_in_the_table_and_the_other_way_round() -> None:
    stated = set(re.findall(r"`((?:GET|POST|DELETE) /[^`]*)`", README.split("## Routes")[1].split("## Settings")[0]))
    paths = create_app(FakeEngines({}), Settings(), FakeIngester(), Jobs()).openapi()["paths"]
    served = {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}

    assert stated == served


def test_files_that_it_links_to_exist() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", README)

    assert links
    assert [link for link in links if not link.startswith("http") and not (ROOT / link).exists()] == []


@pytest.mark.parametrize("target", ["run", "test", "ask"])
def test_make_targets_that_it_names_exist(target: str) -> None:
    assert f"make {target}" in README
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)


def rendered() -> str:
    """Return the settings table as it should stand."""
    lines = ["| variable | default | meaning |", "|---|---|---|"]
    for name, (_, default, description) in variables().items():
        value = str(default).lower() if isinstance(default, bool) else str(default)
        shown = f"`{value}`" if default not in (None, "") else "–"
        lines.append(f"| `{name}` | {shown} | {description} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(rendered(), end="")  # noqa: T201  # this is its purpose
