"""One small corpus and one service for all tests here: the real programs, started once."""

import json
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.e2e.browser import CHROMIUM, Watched, opened
from tests.e2e.program import REPOSITORY, Program, run

# A test run in the background ignores Ctrl-C, and the programs it starts would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

FOLDER = Path(__file__).parent
MAIN = str(REPOSITORY / "main.py")

BETZ = "Who published the Betz limit, and how much of the energy in the stream can a rotor capture?"
WIND = """# Wind power

The power in moving air grows with the cube of its speed.

## The Betz limit

The German physicist Albert Betz published the limit in 1919: at best 59.3 per cent of the energy in the stream can be
captured by a rotor.
"""
TIDES = (
    "Tidal barrages\u2028use the tide. data: The barrage of La Rance in France opened in 1966 and yields 240 megawatts."
)
RECORDS = [
    {
        "id": "solar/cells",
        "title": "Solar |||---||| cells <b>",
        "text": "A perovskite tandem cell absorbs blue light in its upper layer and red light in its silicon layer.",
        "url": "https://example.org/solar?cells=1",
    },
    {
        "id": "odd//name #1",
        "title": "Pumped storage",
        "text": "Pumped storage returns 80 per cent of the energy it takes.",
    },
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if FOLDER in item.path.parents:
            item.add_marker(pytest.mark.e2e)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder in which the programs run."""
    return tmp_path_factory.mktemp("e2e")


@pytest.fixture(scope="session")
def variables(folder: Path, model_cache: Path) -> dict[str, str]:
    """Return the settings of a service with one corpus, `default`, and an empty folder beside it."""
    sources = folder / "sources"
    sources.mkdir()
    (sources / "wind.md").write_text(WIND, encoding="utf-8")
    (sources / "tides & more.txt").write_text(TIDES, encoding="utf-8")
    (sources / "records.jsonl").write_text("\n".join(json.dumps(record) for record in RECORDS), encoding="utf-8")
    chosen = {"RAG_INDEX__DIR": str(folder / "index"), "RAG_EMBED__CACHE_DIR": str(model_cache), "RAG_SERVE__PORT": "0"}
    ingestion = run(["-m", "ingestion", str(sources)], chosen, folder)
    assert ingestion.returncode == 0, ingestion.stderr
    assert json.loads(ingestion.stdout)["new"] == 4
    return chosen


def copied_index(folder: Path, own: Path) -> dict[str, str]:
    """Copy the shared corpus into a folder, and return the setting that names the copy."""
    kept = shutil.ignore_patterns("lock", "readers", "feedback*")
    return {"RAG_INDEX__DIR": str(shutil.copytree(folder / "index", own / "index", ignore=kept))}


@pytest.fixture
def copied(variables: dict[str, str], folder: Path, tmp_path: Path) -> dict[str, str]:
    """Return the settings of a service with a copy of the corpus: the shared service holds the one that is shared."""
    return {**variables, **copied_index(folder, tmp_path)}


@pytest.fixture(scope="session")
def service(variables: dict[str, str], folder: Path) -> Iterator[Program]:
    """Return the running service."""
    with Program([MAIN], variables, folder) as program:
        yield program


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Return Debian's Chromium."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: Browser, service: Program) -> Iterator[Page]:
    """Return an empty page; at the end of the test nothing forbidden has happened in it."""
    made = opened(browser)
    watched = Watched(made, service.url)
    yield made
    title = made.title()
    made.context.close()
    assert watched.faults == []
    assert title == "Treeline"
