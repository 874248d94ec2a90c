"""What the guides show over the sample is what comes: the output of their code, the replies to their requests.

`PYTHONPATH=. RAG_INDEX__DIR=$(mktemp -d) python tests/integration/test_library_guides.py` writes the output into them.
"""

import doctest
import json
import re
from contextlib import closing, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from api.app import create_app
from api.jobs.ingester import Ingester
from api.jobs.queue import Jobs
from query_engine.build import Engines
from settings import load_settings

HOME = Path(__file__).parents[2]
ROUTES = ["answers.md", "research.md"]
LIBRARY = HOME / "docs" / "library.md"
SHOWN = re.compile(r"```python\n(.*?)```\n\n```text\n(.*?)```", re.DOTALL)  # code, and what it prints

# A request of a guide, by a command of one or two lines, perhaps for one field, and the indented reply below it.
EXAMPLE = re.compile(
    r"^    \$ curl -s localhost:8000(\S+) -H 'content-type: application/json' (?:\\\n +)?-d '(.+?)'"
    r"(?: \| jq -r \.(\w+))?\n((?:    .*\n|\n(?=    ))+)",
    re.MULTILINE,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("guides")


@pytest.fixture(autouse=True)
def as_in_the_checkout(folder: Path, model_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read `data/corpus` as the guides do, and keep the checkout's own index out of it."""
    monkeypatch.chdir(HOME)
    monkeypatch.setenv("RAG_INDEX__DIR", str(folder / "index"))
    monkeypatch.setenv("RAG_EMBED__CACHE_DIR", str(model_cache))


def test_the_code_prints_what_is_shown() -> None:
    text = LIBRARY.read_text()

    # Another CPU's int8 vectors give slightly different scores.
    assert re.sub(r"0\.\d\d", "0.xx", rewritten(text)) == re.sub(r"0\.\d\d", "0.xx", text)


def test_the_llamaindex_example_is_ten_lines_at_most() -> None:
    code = SHOWN.findall(LIBRARY.read_text().split("## LlamaIndex")[1])[0][0]

    assert len([line for line in code.splitlines() if line.strip()]) <= 10


def test_the_readmes_example_answers_what_it_shows() -> None:
    text = (HOME / "README.md").read_text().replace('open_corpus("default")', 'open_corpus("sample")')
    example = doctest.DocTestParser().get_doctest(text, {}, "README.md", "README.md", 0)

    failed, tried = doctest.DocTestRunner().run(example)

    assert (failed, tried) == (0, 3)


@pytest.mark.promise("C15")
def test_the_replies_to_the_requests_are_as_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_INDEX__CORPUS", "sample")  # brought in by the library's guide
    settings = load_settings()
    shown = [example for name in ROUTES for example in EXAMPLE.findall((HOME / "docs" / name).read_text())]
    assert len(shown) == 4
    with closing(Engines(settings)) as engines, closing(Jobs()) as jobs:
        client = TestClient(create_app(engines, settings, Ingester(engines, settings), jobs), "http://localhost:8000")
        for path, body, field, reply in shown:
            answered = client.post(path, json=json.loads(body))
            text = answered.json()[field] if field else answered.text
            _assert_elided(reply, text.replace("corpus=sample", "corpus=default"))


def _assert_elided(shown: str, whole: str) -> None:
    """Assert that the pieces between the `…` of `shown` stand in `whole`, in order, whatever the spaces."""
    rest = "".join(whole.split())
    for piece in "".join(shown.split()).split("…"):
        assert piece in rest, f"{piece!r} should follow in {rest[:2000]!r}"
        at = rest.index(piece)
        rest = rest[at + len(piece) :]


def rewritten(guide: str) -> str:
    """Run a guide's code in its order, and return the guide with what each part printed."""

    def run(shown: re.Match[str]) -> str:
        with redirect_stdout(StringIO()) as out:
            exec(shown[1], {})  # the guide's own code
        return f"```python\n{shown[1]}```\n\n```text\n{out.getvalue().rstrip()}\n```"

    return SHOWN.sub(run, guide)


if __name__ == "__main__":
    LIBRARY.write_text(rewritten(LIBRARY.read_text()))
