"""Nothing is lost on the page: views that are left, reloads, two tabs, failed uploads, browsers without clipboard."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import FilePayload, Page, Route, expect

from tests.e2e.browser import CHROMIUM
from tests.e2e.conftest import MAIN
from tests.e2e.program import Program, run
from tests.fakes.pdfs import make_pdf

pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="Debian's chromium is not installed")]

FERRY = (
    "# The ferry\n\nThe ferry to Skarvik leaves at 7:40.\n\n# The hut\n\nThe hut of Fossheim sleeps twelve guests.\n"
)
FERRY_QUESTION, HUT_QUESTION = (
    "When does the ferry to Skarvik leave?",
    "How many guests does the hut of Fossheim sleep?",
)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, model_cache: Path) -> Iterator[Program]:
    folder = tmp_path_factory.mktemp("kept")
    (folder / "sources").mkdir()
    (folder / "sources" / "ferry.md").write_text(FERRY, encoding="utf-8")
    settings = {
        "RAG_INDEX__DIR": str(folder / "index"),
        "RAG_EMBED__CACHE_DIR": str(model_cache),
        "RAG_SERVE__PORT": "0",
        "RAG_INGEST__ROOT": str(folder / "sources"),
    }
    assert run(["-m", "ingestion", str(folder / "sources")], settings, folder).returncode == 0
    with Program([MAIN], settings, folder) as program:
        yield program


def ask(page: Page, question: str) -> None:
    before = page.locator(".exchange .by").count()
    page.fill("#question", question)
    page.keyboard.press("Enter")
    expect(page.locator(".exchange .by")).to_have_count(before + 1)


def go(page: Page, view: str) -> None:
    page.get_by_role("navigation").get_by_role("link", name=view).click()


@pytest.mark.fault("C11")
def test_an_answer_and_a_draft_go_on_while_another_view_is_shown(page: Page, service: Program) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/query/stream", hold)
    page.goto(f"{service.url}/ui")
    page.fill("#question", FERRY_QUESTION)
    with page.expect_request("**/query/stream"):
        page.keyboard.press("Enter")
    page.fill("#question", "A draft of the next question")
    for view in ("Workbench", "Documents", "Workbench"):
        go(page, view)
    expect(page.locator(".exchange")).not_to_be_visible()
    page.keyboard.press("Escape")  # closes what is open here; what goes on elsewhere is not stopped
    held[0].continue_()
    go(page, "Ask")

    expect(page.locator(".exchange .answer")).to_contain_text("7:40")
    expect(page.locator("#question")).to_have_value("A draft of the next question")


@pytest.mark.fault("C11")
def test_the_open_source_and_a_vote_survive_a_reload_and_back_moves_the_source(page: Page, service: Program) -> None:
    page.goto(f"{service.url}/ui")
    ask(page, FERRY_QUESTION)
    ask(page, HUT_QUESTION)
    page.get_by_role("button", name="Good").last.click()
    page.locator("button.cite").first.click()
    pane = page.locator(".evidence mark.cited")
    expect(pane).to_contain_text("7:40")
    page.locator("button.cite").last.click()
    expect(pane).to_contain_text("twelve")
    page.reload()

    expect(pane).to_contain_text("twelve")
    expect(page.get_by_role("heading", name=HUT_QUESTION)).to_be_in_viewport()
    expect(page.get_by_role("button", name="Good").last).to_have_attribute("aria-pressed", "true")
    page.go_back()
    expect(pane).to_contain_text("7:40")
    page.go_back()
    expect(page.locator(".evidence")).to_have_count(0)
    page.go_forward()
    expect(pane).to_contain_text("7:40")
    expect(page.locator(".exchange")).to_have_count(2)


@pytest.mark.fault("C11")
def test_two_tabs_of_one_conversation_keep_the_exchanges_of_both(page: Page, service: Program) -> None:
    page.goto(f"{service.url}/ui")
    ask(page, FERRY_QUESTION)
    other = page.context.new_page()
    other.goto(f"{service.url}/ui")
    expect(other.locator(".exchange")).to_have_count(1)
    ask(page, HUT_QUESTION)
    expect(other.locator(".exchange")).to_have_count(2)
    ask(other, "What is Skarvik?")
    expect(page.locator(".exchange")).to_have_count(3)

    for tab in (page, other):
        tab.reload()
        asked = tab.locator(".exchange .asked")
        expect(asked).to_have_text([FERRY_QUESTION, HUT_QUESTION, "What is Skarvik?"])
    other.close()


@pytest.mark.fault("C11")
def test_a_failed_upload_stays_with_its_reason_and_can_be_tried_again(page: Page, service: Program) -> None:
    page.goto(f"{service.url}/ui#documents")
    expect(page.locator(".health")).to_be_visible()
    files: list[FilePayload] = [
        {"name": "hut.md", "mimeType": "text/markdown", "buffer": b"# Hut\n\nThe hut has a stove.\n"},
        {"name": "scan.pdf", "mimeType": "application/pdf", "buffer": make_pdf("")},
    ]
    page.set_input_files("input[type=file]", files)
    failed = page.locator(".failed li", has_text="scan.pdf")
    expect(failed).to_be_visible()
    expect(page.get_by_role("button", name="hut", exact=True).or_(page.get_by_text("uploads/hut.md"))).to_be_visible()
    go(page, "Ask")
    go(page, "Documents")
    expect(failed).to_be_visible()
    with page.expect_request(lambda request: request.method == "POST" and "/documents" in request.url):
        page.get_by_role("button", name="Try them again").click()
    expect(failed).to_be_visible()
    page.reload()

    expect(failed).to_be_visible()


@pytest.mark.fault("C11")
def test_a_running_job_is_shown_after_a_reload(page: Page, service: Program) -> None:
    job = {
        "job": "j1",
        "state": "running",
        "cancelling": False,
        "request": {"path": "x", "corpus": "default"},
        "progress": {"source": "seven-hundred.md", "bytes": 30, "bytes_total": 100, "documents": 7},
        "error": None,
        "result": None,
    }
    page.route("**/ingest", lambda route: route.fulfill(json={"jobs": [job]}))
    page.route("**/ingest/j1", lambda route: route.fulfill(json=job))
    page.goto(f"{service.url}/ui#documents")

    expect(page.locator(".job")).to_contain_text("seven-hundred.md")


def test_an_answer_is_copied_where_the_browser_gives_no_clipboard(page: Page, service: Program) -> None:
    page.add_init_script("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    page.goto(f"{service.url}/ui")
    ask(page, FERRY_QUESTION)
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name="Copied")).to_be_focused()
    page.focus("#question")
    page.keyboard.press("Control+V")

    copied = page.input_value("#question")
    assert "7:40" in copied
    assert f"]({service.url}/" in copied, json.dumps(copied)


def test_what_the_browser_did_not_copy_is_not_called_copied(page: Page, service: Program) -> None:
    page.add_init_script("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    page.add_init_script("document.execCommand = () => false")
    page.goto(f"{service.url}/ui")
    ask(page, FERRY_QUESTION)
    page.get_by_role("button", name="Copy").click()

    expect(page.get_by_role("button", name="Not copied")).to_be_visible()


def test_questions_and_answers_run_in_their_own_direction_and_citations_are_large_enough_to_touch(
    page: Page, service: Program
) -> None:
    page.goto(f"{service.url}/ui")
    ask(page, FERRY_QUESTION)
    ask(page, "\u05de\u05ea\u05d9 Skarvik?")
    directions = page.locator(".asked").evaluate_all("all => all.map((one) => getComputedStyle(one).direction)")
    size = page.locator("button.cite").first.bounding_box()

    assert directions == ["ltr", "rtl"]
    for drawn in ("#question", ".answer", ".place"):
        assert page.locator(drawn).first.get_attribute("dir") == "auto", drawn
    assert size is not None
    assert min(size["width"], size["height"]) >= 24
