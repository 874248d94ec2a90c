"""What is chosen on the page, in a real browser: several corpora at once, and who writes."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.e2e.browser import CHROMIUM, violations
from tests.e2e.conftest import MAIN
from tests.e2e.program import Program
from tests.servers.scripted_llm import Script, ScriptedLLM

pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="Debian's chromium is not installed")]

TEXTS = {
    "garden": "# Yearly report\n\nThe garden of Sandvik was laid out in 1977 by Nora Vik.\n",
    "harbour": "# Yearly report\n\nThe harbour of Quarnevik was dredged in 1931 by Halvard Brenn.\n",
    "orchard": "# Yearly report\n\nThe orchard of Lindesholm was planted in 1904 by Sigrid Aune.\n",
}
ORCHARD_QUESTION = "Who planted the orchard of Lindesholm?"
HARBOUR_QUESTION = "Who dredged the harbour of Quarnevik?"
MODEL_SAYS = "A model says that Brenn did [1].\n\n```py\nnames[0], years[1]\n```\n\nor `names[1]`"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, model_cache: Path) -> Iterator[Program]:
    folder = tmp_path_factory.mktemp("several")
    settings = {
        "RAG_INDEX__DIR": str(folder / "index"),
        "RAG_INDEX__CORPUS": "harbour",
        "RAG_EMBED__CACHE_DIR": str(model_cache),
        "RAG_SERVE__PORT": "0",
        "RAG_INGEST__ROOT": str(folder),
    }
    with ScriptedLLM(Script(text=MODEL_SAYS)) as server:
        settings["RAG_LLM__WRITERS"] = f"big=openai:large@{server.base_url}"
        with Program([MAIN], settings, folder) as program:
            for name, text in TEXTS.items():
                (folder / name).mkdir()
                (folder / name / "report.md").write_text(text, encoding="utf-8")
                body = {"path": name, "corpus": name, "wait": True}
                httpx.post(f"{program.url}/ingest", json=body, timeout=60).raise_for_status()
            yield program


@pytest.fixture
def page(page: Page, service: Program) -> Page:
    page.goto(f"{service.url}/ui")
    return page


def ask(page: Page, question: str) -> None:
    page.fill("#question", question)
    page.keyboard.press("Enter")
    page.wait_for_selector(".exchange .by")


def test_ticked_corpora_are_asked_together_and_a_source_opens_in_its_own(page: Page) -> None:
    page.get_by_label("Collection", exact=True).select_option(label="Several …")
    page.get_by_role("checkbox", name="orchard").check()
    assert violations(page) == []
    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_label("Collection", exact=True).locator("option:checked")).to_have_text("harbour, orchard")

    ask(page, ORCHARD_QUESTION)
    page.get_by_text("Sources (").click()
    expect(page.locator("details.places .place small").first).to_have_text("orchard")
    page.locator("button.cite").first.click()

    expect(page.locator(".evidence mark.cited")).to_contain_text("Sigrid Aune")
    page.reload()
    expect(page.get_by_label("Collection", exact=True).locator("option:checked")).to_have_text("harbour, orchard")
    expect(page.locator(".exchange")).to_contain_text("Sigrid Aune")


def test_a_search_of_all_draws_equally_named_documents_apart(page: Page, service: Program) -> None:
    page.get_by_label("Collection", exact=True).select_option(label="All")
    page.goto(f"{service.url}/ui#retrieve?q=What happened by 1977?")

    expect(page.locator(".outline h2 small")).to_have_count(3)
    page.get_by_role("button", name="Passages", exact=True).click()
    garden = page.locator(".passages .place").filter(has_text="Nora Vik")
    expect(garden).to_contain_text("garden")
    garden.click()

    expect(page.locator(".evidence mark.cited").last).to_contain_text("Nora Vik")


def test_a_view_of_one_corpus_asks_for_one(page: Page) -> None:
    page.get_by_label("Collection", exact=True).select_option(label="All")
    page.get_by_role("link", name="Documents").click()
    page.get_by_role("button", name="orchard").click()

    expect(page.get_by_label("Collection", exact=True)).to_have_value("orchard")
    expect(page.get_by_role("button", name="Yearly report", exact=True)).to_be_visible()


def test_the_chosen_writer_answers_and_is_remembered(page: Page) -> None:
    choice = page.get_by_label("Written by")
    expect(choice.locator("option")).to_have_count(2)
    expect(choice).to_have_value("quotes")
    assert violations(page) == []
    ask(page, HARBOUR_QUESTION)
    expect(page.locator(".exchange .by")).to_contain_text("no language model")

    choice.select_option("big")
    page.reload()

    expect(choice).to_have_value("big")
    ask(page, HARBOUR_QUESTION)
    answer = page.locator(".exchange").nth(1)
    expect(answer).to_contain_text("A model says that Brenn did")
    expect(answer.locator("button.cite")).to_have_count(1)
    expect(answer.locator("pre code")).to_have_text("names[0], years[1]")
    expect(answer.locator(".prose p code")).to_have_text("names[1]")
    page.get_by_role("button", name="Deutsch").click()
    expect(page.get_by_label("Geschrieben von")).to_have_value("big")
