"""Who writes, chosen on the page in a real browser: a list of names, kept by the browser."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.browser import CHROMIUM, violations
from tests.e2e.conftest import MAIN
from tests.e2e.program import Program, run
from tests.servers.scripted_llm import Script, ScriptedLLM

pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="Debian's chromium is not installed")]

QUESTION = "Who published the Betz limit?"
MODEL_SAYS = "A model says that Betz did [1].\n\n```py\nnames[0], years[1]\n```\n\nor `names[1]`"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, model_cache: Path) -> Iterator[Program]:
    folder = tmp_path_factory.mktemp("writers")
    (folder / "wind.md").write_text("# Wind\n\nThe Betz limit was published by Albert Betz in 1919.\n")
    settings = {
        "RAG_INDEX__DIR": str(folder / "index"),
        "RAG_EMBED__CACHE_DIR": str(model_cache),
        "RAG_SERVE__PORT": "0",
    }
    assert run(["-m", "ingestion", str(folder / "wind.md")], settings, folder).returncode == 0
    with ScriptedLLM(Script(text=MODEL_SAYS)) as server:
        settings["RAG_LLM__WRITERS"] = f"big=openai:large@{server.base_url}"
        with Program([MAIN], settings, folder) as program:
            yield program


@pytest.fixture
def page(page: Page, service: Program) -> Page:
    page.goto(f"{service.url}/ui")
    return page


def ask(page: Page) -> None:
    page.fill("#question", QUESTION)
    page.keyboard.press("Enter")


def test_the_chosen_writer_answers_and_is_remembered(page: Page) -> None:
    choice = page.get_by_label("Written by")
    expect(choice.locator("option")).to_have_count(2)
    expect(choice).to_have_value("quotes")
    assert violations(page) == []
    ask(page)
    expect(page.locator(".exchange .by")).to_contain_text("no language model")

    choice.select_option("big")
    page.reload()

    expect(choice).to_have_value("big")
    ask(page)
    answer = page.locator(".exchange").nth(1)
    expect(answer).to_contain_text("A model says that Betz did")
    expect(answer.locator("button.cite")).to_have_count(1)
    expect(answer.locator("pre")).to_have_text("names[0], years[1]")
    expect(answer.locator(".prose p code")).to_have_text("names[1]")
    page.get_by_role("button", name="Deutsch").click()
    expect(page.get_by_label("Geschrieben von")).to_have_value("big")
