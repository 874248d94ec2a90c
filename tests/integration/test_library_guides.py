"""`docs/library.md` and `docs/llamaindex.md`: their code runs as it stands and prints what they show.

`PYTHONPATH=. RAG_INDEX__DIR=$(mktemp -d) python tests/integration/test_library_guides.py` writes it into them.
"""

import doctest
import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

HOME = Path(__file__).parents[2]
GUIDES = ["library.md", "llamaindex.md"]  # the second asks what the first brought in


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("guides")


@pytest.fixture(autouse=True)
def as_in_the_checkout(folder: Path, model_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read `data/corpus` as the guides do, and keep the checkout's own index out of it."""
    monkeypatch.chdir(HOME)
    monkeypatch.setenv("RAG_INDEX__DIR", str(folder / "index"))
    monkeypatch.setenv("RAG_EMBED__CACHE_DIR", str(model_cache))


@pytest.mark.parametrize("name", GUIDES)
def test_the_code_prints_what_is_shown(name: str) -> None:
    text = (HOME / "docs" / name).read_text()

    # Another CPU's int8 vectors give slightly different scores.
    assert re.sub(r"0\.\d\d", "0.xx", rewritten(text)) == re.sub(r"0\.\d\d", "0.xx", text)


def test_the_llamaindex_example_is_ten_lines_at_most() -> None:
    code = (HOME / "docs" / "llamaindex.md").read_text().split("```python\n")[1].split("```")[0]

    assert len([line for line in code.splitlines() if line.strip()]) <= 10


def test_the_readmes_example_answers_what_it_shows() -> None:
    text = (HOME / "README.md").read_text().replace('open_corpus("default")', 'open_corpus("sample")')
    example = doctest.DocTestParser().get_doctest(text, {}, "README.md", "README.md", 0)

    failed, tried = doctest.DocTestRunner().run(example)

    assert (failed, tried) == (0, 3)


def rewritten(guide: str) -> str:
    """Run a guide's code, and return the guide with what it printed."""
    with redirect_stdout(StringIO()) as out:
        exec(guide.split("```python\n")[1].split("```", maxsplit=1)[0], {})  # the guide's own code
    before, _, rest = guide.partition("```text\n")
    return f"{before}```text\n{out.getvalue().rstrip()}\n```{rest.partition('```')[2]}"


if __name__ == "__main__":
    for each in GUIDES:
        path = HOME / "docs" / each
        path.write_text(rewritten(path.read_text()))
