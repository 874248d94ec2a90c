"""Places of the page: the first screen, collections, the workbench, a question asked in other words."""

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pypdfium2 as pdfium
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.browser import CHROMIUM, opened, violations
from tests.e2e.conftest import MAIN
from tests.e2e.program import Program, run

pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="Debian's chromium is not installed")]

LIDO = "# The lido\n\n## Opening hours\n\nThe lido opens at 6:20.\n\n## Lost property\n\nIt is kept a month.\n"


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory, model_cache: Path) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("places")
    return {
        "RAG_INDEX__DIR": str(folder / "index"),
        "RAG_EMBED__CACHE_DIR": str(model_cache),
        "RAG_SERVE__PORT": "0",
    }


@pytest.fixture(scope="module")
def service(settings: dict[str, str]) -> Iterator[Program]:
    folder = Path(settings["RAG_INDEX__DIR"]).parent
    (folder / "sources").mkdir()
    (folder / "sources" / "lido.md").write_text(LIDO, encoding="utf-8")
    assert run(["-m", "ingestion", str(folder / "sources")], settings, folder).returncode == 0
    with Program([MAIN], settings, folder) as program:
        yield program


@pytest.fixture(params=[(1440, 900), (390, 844)], ids=["desktop", "phone"])
def sized(request: pytest.FixtureRequest, browser: Browser) -> Iterator[Page]:
    page = opened(browser, width=request.param[0])
    page.set_viewport_size({"width": request.param[0], "height": request.param[1]})
    yield page
    page.context.close()


def test_the_first_screen_says_what_is_there_and_offers_headings_to_ask_about(sized: Page, service: Program) -> None:
    sized.goto(f"{service.url}/ui")
    expect(sized.get_by_text("1 document: The lido")).to_be_visible()
    assert violations(sized) == []
    sized.get_by_role("button", name="Opening hours").click()

    expect(sized.locator(".answer")).to_contain_text("6:20")


def test_views_for_those_who_tune_are_behind_the_workbench(sized: Page, service: Program) -> None:
    sized.goto(f"{service.url}/ui")
    links = sized.get_by_role("navigation").get_by_role("link")
    expect(links).to_have_text(["Ask", "Documents", "Workbench"])
    links.last.click()
    expect(links).to_have_text(["Ask", "Documents", "Workbench", "Search", "Compare", "Pipelines"])  # it has no runs
    sized.get_by_role("link", name="Compare").click()
    sized.get_by_role("link", name="Ask").click()
    sized.get_by_role("link", name="Workbench").click()

    expect(sized.get_by_role("link", name="Compare")).to_have_attribute("aria-current", "page")


def test_a_collection_is_named_as_people_write_filled_with_the_sample_and_deleted(
    sized: Page, service: Program
) -> None:
    sized.goto(f"{service.url}/ui#documents")
    sized.get_by_label("Collection", exact=True).select_option(label="New collection …")
    sized.get_by_role("dialog").get_by_role("textbox").fill("Möwen & Boote")
    expect(sized.get_by_role("dialog")).to_contain_text("mowen-boote")
    sized.keyboard.press("Enter")
    sized.get_by_role("button", name="Load the sample").click()
    sized.get_by_role("button", name="Ask about them").click()
    expect(sized.get_by_text("documents:")).to_be_visible()
    sized.get_by_role("link", name="Documents").click()
    sized.get_by_role("button", name="Delete the collection").click()
    sized.get_by_role("dialog").get_by_role("button", name="Delete").click()

    expect(sized.get_by_label("Collection", exact=True)).to_have_value("default")
    names = [one["name"] for one in httpx.get(f"{service.url}/corpora").json()["corpora"]]
    assert names == ["default"]


def test_a_question_is_edited_its_quote_shown_beside_the_number_and_the_conversation_saved(
    page: Page, service: Program
) -> None:
    page.goto(f"{service.url}/ui")
    page.fill("#question", "When does the lido open?")
    page.keyboard.press("Enter")
    page.locator("button.cite").first.focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    shown = page.evaluate("getComputedStyle(document.activeElement, '::after').content")
    assert "6:20" in shown
    page.get_by_role("button", name="Edit").click()
    expect(page.locator("#question")).to_have_value("When does the lido open?")
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as a file: When does the lido open?").click()

    text = download.value.path().read_text(encoding="utf-8")
    assert "## When does the lido open?" in text
    assert f"[The lido]({service.url}/documents/lido.md?" in text


def test_a_command_has_the_running_service_drop_a_corpus(
    service: Program, settings: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "kiosk.md").write_text("# Kiosk\n\nIt sells ice.\n", encoding="utf-8")
    with (tmp_path / "kiosk.md").open("rb") as file:
        uploaded = httpx.post(f"{service.url}/documents?corpus=kiosk&wait=true", files={"file": file}, timeout=120)
    assert uploaded.status_code < 300
    dropped = run(["-m", "ingestion", "corpora", "drop", "kiosk"], settings, tmp_path)

    assert (dropped.returncode, dropped.stdout) == (0, "dropped corpus 'kiosk'\n"), dropped.stderr
    assert [one["name"] for one in httpx.get(f"{service.url}/corpora").json()["corpora"]] == ["default"]


def test_errors_of_the_service_are_told_in_the_page_s_language(browser: Browser, service: Program) -> None:
    page = opened(browser)  # not `page`, in which no request may fail
    error = {"error": {"code": "too_many_questions", "detail": "Too many questions are being answered."}}
    page.route("**/query/stream", lambda route: route.fulfill(status=429, json=error))
    page.goto(f"{service.url}/ui")
    page.get_by_role("button", name="Deutsch").click()
    page.fill("#question", "Wann öffnet das Bad?")
    page.keyboard.press("Enter")

    expect(page.get_by_role("alert")).to_contain_text("andere Fragen")
    page.context.close()


def test_conversations_stand_in_a_bar_or_a_drawer_and_are_found_by_what_was_said(sized: Page, service: Program) -> None:
    sized.goto(f"{service.url}/ui")
    for question in ("When does the lido open?", "How long is lost property kept?"):
        sized.fill("#question", question)
        sized.keyboard.press("Enter")
        expect(sized.locator(".exchange .by")).to_be_visible()
        sized.get_by_role("button", name="New conversation").click()
    search = sized.get_by_label("Find a conversation")
    if not search.is_visible():
        sized.locator(".talks summary").click()
    search.fill("a MONTH")
    expect(sized.locator(".talks li")).to_have_count(1)
    assert violations(sized) == []
    sized.get_by_role("button", name="How long is lost property kept?", exact=True).click()

    expect(sized.locator(".asked")).to_have_text("How long is lost property kept?")
    expect(sized.locator(".asked")).to_be_in_viewport()


def test_ticked_documents_are_asked_alone(sized: Page, service: Program, tmp_path: Path) -> None:
    (tmp_path / "gate.md").write_text("# The gate\n\nThe gate closes at 21:40.\n", encoding="utf-8")
    sized.goto(f"{service.url}/ui#documents")
    sized.locator("input[type=file]").set_input_files(tmp_path / "gate.md")
    sized.get_by_label("Ask this one: The gate").check()
    sized.get_by_role("button", name="Ask only these (1)").click()
    sized.fill("#question", "When does the lido open?")
    sized.keyboard.press("Enter")
    expect(sized.locator(".exchange .by")).to_be_visible()
    expect(sized.locator(".exchange")).not_to_contain_text("6:20")
    expect(sized.locator(".exchange")).to_contain_text("Only asked: The gate.")
    sized.get_by_role("button", name="Ask all").click()
    sized.get_by_role("button", name="Ask again").click()

    expect(sized.locator(".answer").last).to_contain_text("6:20")


def test_a_collection_keeps_its_documents_files_and_conversations_under_another_name(
    browser: Browser, service: Program, tmp_path: Path
) -> None:
    page = opened(browser)  # not `page`, in which no request may fail
    file = tmp_path / "boats.md"
    file.write_text("# Boats\n\nThe ferry holds 48 people.\n", encoding="utf-8")
    page.goto(f"{service.url}/ui#documents")
    page.get_by_label("Collection", exact=True).select_option(label="New collection …")
    page.get_by_role("dialog").get_by_role("textbox").fill("boats")
    page.keyboard.press("Enter")
    page.get_by_role("region", name="Upload files").locator("input").set_input_files(file)
    expect(page.get_by_role("button", name="Ask about them")).to_be_visible()
    page.get_by_role("link", name="Ask", exact=True).click()
    page.fill("#question", "How many people does the ferry hold?")
    page.keyboard.press("Enter")
    expect(page.locator(".answer")).to_contain_text("48")
    page.get_by_role("link", name="Documents").click()
    page.get_by_role("button", name="Rename the collection").click()
    page.get_by_role("dialog").get_by_role("textbox").fill("default")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog").get_by_role("alert")).to_be_visible()
    page.get_by_role("dialog").get_by_role("textbox").fill("Our boats")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Collection", exact=True)).to_have_value("our-boats")
    page.get_by_role("link", name="Ask", exact=True).click()
    expect(page.locator(".answer")).to_contain_text("48")
    page.locator("button.cite").first.click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Original file").click()

    assert download.value.path().read_bytes() == file.read_bytes()
    assert httpx.delete(f"{service.url}/corpora/our-boats").status_code == 200
    page.context.close()


def test_a_source_covers_a_phone_s_page_which_cannot_be_reached_behind_it(browser: Browser, service: Program) -> None:
    page = opened(browser, width=390)
    page.goto(f"{service.url}/ui")
    page.fill("#question", "When does the lido open?")
    page.keyboard.press("Enter")
    page.locator("button.cite").first.click()
    expect(page.locator(".evidence")).to_be_focused()
    reached = set()
    for _ in range(12):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.closest('.evidence, main, header.bar')?.className ?? 'body'"))
    page.get_by_role("button", name="Close").click()

    assert reached <= {"evidence", "body"}
    expect(page.locator("button.cite").first).to_be_focused()
    assert page.evaluate("getComputedStyle(document.activeElement, '::after').content") == "none"
    page.context.close()


def test_a_phone_s_screen_belongs_to_the_answer(browser: Browser, service: Program) -> None:
    page = opened(browser, width=390)
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{service.url}/ui")
    expect(page.locator("#question")).to_be_visible()
    taken = sum((page.locator(part).bounding_box() or {"height": 844})["height"] for part in (".bar", ".composer"))

    assert taken <= 844 / 5
    page.context.close()


def test_what_is_printed_has_the_answer_with_its_sources_and_no_buttons(page: Page, service: Program) -> None:
    page.goto(f"{service.url}/ui")
    page.fill("#question", "When does the lido open?")
    page.keyboard.press("Enter")
    expect(page.locator(".exchange .by")).to_be_visible()
    with pdfium.PdfDocument(page.pdf()) as printed:
        text = "".join(one.get_textpage().get_text_range() for one in printed)

    assert "When does the lido open?" in text
    assert text.count("6:20") == 2  # the answer, and its source
    assert "Ask again" not in text


def test_the_page_is_there_after_few_requests(browser: Browser, service: Program) -> None:
    page = opened(browser)
    sizes = list[int]()
    page.on("response", lambda reply: sizes.append(int(reply.headers.get("content-length", 0))))
    page.goto(f"{service.url}/ui")
    expect(page.locator(".choices")).to_be_visible()

    assert len(sizes) <= 20
    assert sum(sizes) <= 140_000
    page.context.close()


def test_code_in_an_answer_is_copied_by_its_button(page: Page, service: Program) -> None:
    done = {
        "answered": True,
        "answer": "Run it.",
        "message": "Run it:\n\n```sh\nmake run\n```\n",
        "citations": [],
        "nearest": [],
        "warnings": [],
        "unsupported": [],
        "timings_ms": {"total": 3},
        "synthesizer": "openai",
    }
    body = f"event: done\ndata: {json.dumps(done)}\n\n"
    page.route("**/query/stream", lambda route: route.fulfill(content_type="text/event-stream", body=body))
    page.goto(f"{service.url}/ui")
    page.fill("#question", "How does it start?")
    page.keyboard.press("Enter")
    code = page.locator(".answer pre")
    code.get_by_role("button", name="Copy").click()
    expect(code.get_by_role("button", name="Copied")).to_be_visible()
    page.locator("#question").press("Control+v")

    expect(page.locator("#question")).to_have_value("make run\n")
