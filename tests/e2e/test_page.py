"""The web page in a real browser: every flow of its views, on one small corpus that holds hostile documents too.

Chromium is Debian's; Playwright drives it. In no test may the page run a document's script, load from elsewhere, or
write an error to its console: `Watched` looks at that.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.browser import CHROMIUM, XSS, Watched, opened, violations
from tests.e2e.conftest import MAIN
from tests.e2e.program import Program, run
from tests.servers.scripted_llm import Script, ScriptedLLM

pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="Debian's chromium is not installed")]

HEAT = """# Heat pumps

## How a heat pump works

A heat pump is a device that moves heat from a cold place to a warm place. For one unit of electricity it delivers three
units of heat 🔥 or more.

## Costs

| Machine | Price in euros | Life in years |
|---|---|---|
| Air source heat pump | 12,400 | 18 |
| Ground source heat pump | 24,900 | 22 |
"""
HOSTILE = [
    {
        "id": "evil/<script>document.title='owned'</script>",
        "title": f"Zebra crossing {XSS}",
        "text": f"Zebra crossings are painted with titanium white. {XSS} ![pixel](https://evil.example/pixel.png) "
        "[click](javascript:document.title='owned')",
        "url": "javascript:document.title='owned'",
    }
]
LONG = "\n\n".join(f"Paragraph {n} of the long report speaks of nothing in particular." for n in range(9000))
LONG += "\n\nThe keeper of the Quarnevik lighthouse was called Halvard Brenn.\n"

HEAT_QUESTION = "What is a heat pump?"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory, model_cache: Path) -> tuple[Path, dict[str, str]]:
    """Return a folder and the settings of a service whose corpus is ingested."""
    folder = tmp_path_factory.mktemp("page")
    sources = folder / "sources"
    (sources / "more").mkdir(parents=True)
    (sources / "heat.md").write_text(HEAT, encoding="utf-8")
    (sources / "long.md").write_text(LONG, encoding="utf-8")
    (sources / "evil.jsonl").write_text("\n".join(map(json.dumps, HOSTILE)), encoding="utf-8")
    settings = {
        "RAG_INDEX__DIR": str(folder / "index"),
        "RAG_EMBED__CACHE_DIR": str(model_cache),
        "RAG_SERVE__PORT": "0",
        "RAG_INGEST__ROOT": str(sources),
        "RAG_SERVE__PRESET_QUESTIONS": json.dumps({"default": [HEAT_QUESTION]}),
    }
    done = run(["-m", "ingestion", str(sources)], settings, folder)
    assert done.returncode == 0, done.stderr
    return folder, settings


@pytest.fixture(scope="module")
def service(corpus: tuple[Path, dict[str, str]]) -> Iterator[Program]:
    folder, settings = corpus
    with Program([MAIN], settings, folder) as program:
        yield program


def asked(page: Page, service: Program, question: str) -> None:
    """Ask in a fresh page and wait for the end of the answer."""
    page.goto(f"{service.url}/ui")
    page.fill("#question", question)
    page.keyboard.press("Enter")
    page.wait_for_selector(".exchange .by")


def test_a_browser_at_the_service_s_address_gets_the_page_and_a_program_the_ping(page: Page, service: Program) -> None:
    page.goto(service.url)

    expect(page.get_by_role("button", name=HEAT_QUESTION)).to_be_visible()
    expect(page.locator(".under").get_by_text("Answers are quotes")).to_be_visible()
    assert httpx.get(service.url).json() == {"ping": "pong!"}


@pytest.mark.promise("C14")
def test_a_preset_question_is_answered_with_sources_that_open_marked_in_their_document(
    page: Page, service: Program
) -> None:
    page.goto(service.url)
    page.get_by_role("button", name=HEAT_QUESTION).click()
    page.get_by_role("button", name="Source 1: Heat pumps").first.click()

    mark = page.locator(".evidence mark.cited")
    expect(mark).to_contain_text("moves heat from a cold place to a warm place")
    expect(mark).to_be_in_viewport()
    expect(page.locator(".evidence .crumbs")).to_contain_text("How a heat pump works")
    page.get_by_role("button", name=re.compile("^Leaf")).click()
    expect(page.locator(".evidence mark.around").first).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".evidence")).to_have_count(0)


def test_what_makes_an_answer_doubtful_stands_above_it(page: Page, service: Program) -> None:
    asked(page, service, "How much does the ground source heat pump QT-77 cost in euros?")

    note = page.locator(".exchange .note", has_text="QT-77")
    expect(note).to_be_visible(timeout=10_000)
    expect(page.locator(".exchange .note ~ .prose")).to_be_visible()


def test_a_cited_table_row_is_marked_in_the_table_and_keys_walk_the_sources(page: Page, service: Program) -> None:
    asked(page, service, "How much does a ground source heat pump cost in euros?")
    page.locator("body").click(position={"x": 5, "y": 400})
    page.keyboard.press("j")

    expect(page.locator(".evidence td mark.cited").filter(has_text="24,900")).to_be_visible()
    page.keyboard.press("/")
    expect(page.locator("#question")).to_be_focused()


def test_a_place_at_the_end_of_a_long_document_is_in_view(page: Page, service: Program) -> None:
    asked(page, service, "What was the keeper of the Quarnevik lighthouse called?")
    page.locator("button.cite").first.click()

    expect(page.locator(".evidence mark.cited")).to_contain_text("Halvard Brenn")
    expect(page.locator(".evidence mark.cited")).to_be_in_viewport()
    assert len(page.locator(".evidence .document").inner_text()) < 40_000
    page.locator(".evidence").evaluate("pane => pane.scrollTo(0, 0)")
    expect(page.locator(".evidence .document > div").nth(1)).to_be_attached()
    expect(page.locator(".evidence mark.cited")).to_contain_text("Halvard Brenn")


def test_what_the_documents_do_not_answer_shows_the_closest_passages(page: Page, service: Program) -> None:
    asked(page, service, "Which heat pump did Queen Victoria buy in 1888?")

    expect(page.get_by_role("heading", name="Closest passages")).to_be_visible()
    page.locator(".places .place").first.click()
    expect(page.locator(".evidence mark.cited").first).to_be_visible()


def test_a_follow_up_is_read_with_the_question_before_and_a_new_conversation_forgets_it(
    page: Page, service: Program
) -> None:
    asked(page, service, "How many years does an air source heat pump last?")
    page.fill("#question", "And a ground source one?")
    page.keyboard.press("Enter")
    page.wait_for_selector(".exchange:nth-of-type(2) .by")

    page.locator(".exchange:nth-of-type(2) .steps summary").first.click()
    expect(page.locator(".exchange:nth-of-type(2) .steps")).to_contain_text("the 2 messages before it")
    page.reload()
    expect(page.locator(".exchange")).to_have_count(2)
    page.get_by_role("button", name="New conversation").click()
    expect(page.locator(".exchange")).to_have_count(0)


def test_conversations_are_listed_renamed_and_deleted(page: Page, service: Program) -> None:
    talks = page.locator(".talks li")
    asked(page, service, HEAT_QUESTION)
    page.get_by_role("button", name="New conversation").click()
    page.fill("#question", "What does a ground source heat pump cost?")
    page.keyboard.press("Enter")
    page.wait_for_selector(".exchange .by")
    expect(talks).to_have_count(2)

    talks.get_by_role("button", name=HEAT_QUESTION, exact=True).click()
    expect(page.locator(".asked")).to_have_text(HEAT_QUESTION)
    page.get_by_role("button", name=f"Rename: {HEAT_QUESTION}").click()
    page.get_by_role("dialog").get_by_role("textbox").fill("Pumps")
    page.keyboard.press("Enter")
    page.reload()
    page.get_by_role("button", name="Pumps", exact=True).click()
    expect(page.locator(".asked")).to_have_text(HEAT_QUESTION)

    page.get_by_role("button", name="Delete: Pumps").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    expect(talks).to_have_count(2)
    page.get_by_role("button", name="Delete: Pumps").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(talks).to_have_count(1)
    expect(page.locator(".exchange")).to_have_count(0)
    page.get_by_role("button", name="Forget everything").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.locator(".talks")).to_have_count(0)
    assert page.evaluate("Object.keys(localStorage)") == []


@pytest.mark.parametrize("width", [320, 390, 800])
def test_a_document_covers_a_narrow_page_until_it_is_closed(browser: Browser, service: Program, width: int) -> None:
    page = opened(browser, width)
    asked(page, service, "What was the keeper of the Quarnevik lighthouse called?")
    for close in (page.get_by_role("button", name="Close"), None):
        page.locator("button.cite").first.click()
        expect(page.locator("mark.cited")).to_be_in_viewport()
        if close:
            expect(close).to_be_in_viewport()
            close.click()
        else:
            page.go_back()
        expect(page.locator(".evidence")).to_have_count(0)
        expect(page.locator(".exchange")).to_have_count(1)
    page.goto(f"{service.url}/ui#documents")
    buttons = page.get_by_role("button", name=re.compile("^Delete: "))
    expect(buttons).not_to_have_count(0)
    for button in buttons.all():
        box = button.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= width
    page.context.close()


@pytest.mark.fault("E8")
def test_hostile_documents_stay_text_in_every_view(page: Page, service: Program) -> None:
    asked(page, service, "What are zebra crossings painted with?")
    page.locator("button.cite").first.click()
    expect(page.locator(".evidence")).to_contain_text("titanium white")
    expect(page.locator(".evidence a[href^='javascript']")).to_have_count(0)
    page.goto(f"{service.url}/ui#retrieve?q=zebra+crossing")
    levels = page.locator(".levels-of-document:has(.box.hit)").first.element_handle()
    page.get_by_role("button", name="Passages").click()
    expect(page.locator(".passages")).to_contain_text("onerror")
    levels.evaluate("element => element.dispatchEvent(new Event('scroll'))")  # is told when the tree has gone
    page.goto(f"{service.url}/ui#documents")
    expect(page.locator("table.list")).to_contain_text("<script>")
    assert page.locator("#app img:not([src='ui/static/icon.svg']), #app script").count() == 0


@pytest.mark.promise("G23")
def test_the_tree_shows_which_leaves_matched_and_what_is_read(page: Page, service: Program) -> None:
    page.goto(f"{service.url}/ui#retrieve?q=How+does+a+heat+pump+work")
    page.locator(".outline", has_text="Heat pumps").locator(".box.hit").first.click()

    expect(page.locator(".evidence mark.cited").first).to_be_visible()
    expect(page.locator(".outline", has_text="Heat pumps").locator(".level.read .box").first).to_have_text("1")


def test_options_of_a_search_reach_the_service(page: Page, service: Program) -> None:
    page.goto(f"{service.url}/ui#retrieve?q=heat+pump&view=list")
    page.get_by_label("Passages at most").fill("1")
    page.get_by_label("Mode").select_option("lexical")
    with page.expect_request("**/retrieve") as sent:
        page.get_by_role("button", name="Search", exact=True).click()

    body = json.loads(sent.value.post_data or "")
    assert (body["top_k"], body["mode"], body["explain"]) == (1, "lexical", True)
    expect(page.locator(".counted")).to_contain_text("1 passage in")


@pytest.mark.promise("A37")
def test_verdicts_on_an_answer_a_step_and_a_passage_reach_the_service(page: Page, service: Program) -> None:
    asked(page, service, HEAT_QUESTION)
    page.locator(".actions").get_by_role("button", name="Good").click()
    page.locator(".steps summary").first.click()
    page.locator(".steps li").first.get_by_role("button", name="Bad").click()
    expect(page.locator(".steps li").first.get_by_role("button", name="Bad")).to_have_attribute("aria-pressed", "true")
    page.goto(f"{service.url}/ui#retrieve?q=heat+pump&view=list")
    page.locator(".passages").get_by_role("button", name="Relevant", exact=True).first.click()
    expect(page.get_by_role("button", name="Relevant", exact=True).first).to_have_attribute("aria-pressed", "true")

    lines = [json.loads(line) for line in httpx.get(f"{service.url}/feedback").text.splitlines()]
    verdicts = [verdict["verdict"] for line in lines for verdict in line["feedback"]]
    assert sorted(verdicts) == ["bad", "good", "relevant"]


def test_who_asks_for_several_searches_is_told_what_they_take(page: Page, service: Program) -> None:
    page.goto(f"{service.url}/ui")
    page.get_by_text("Options").click()
    page.get_by_label("Mode").select_option("agent")
    page.fill("#question", "What does an air source heat pump cost, and how long does a ground source one last?")
    page.keyboard.press("Enter")
    page.wait_for_selector(".exchange .by")

    expect(page.locator(".exchange")).to_contain_text("language model; without one")


@pytest.mark.promise("G23")
def test_two_settings_are_compared_blind_and_the_votes_are_counted(page: Page, service: Program) -> None:
    page.goto(f"{service.url}/ui#compare")
    page.get_by_role("group", name="B").get_by_label("Passages to read").fill("1")
    page.fill("#both", HEAT_QUESTION)
    page.keyboard.press("Enter")
    expect(page.get_by_text("Which is better?")).to_be_visible()
    expect(page.get_by_text("A: default")).to_have_count(0)
    page.get_by_role("button", name="Equal").click()

    expect(page.get_by_text("So far A 0, B 0, equal 1, both bad 0.")).to_be_visible()
    expect(page.get_by_text("A: default, at most 4 passages")).to_be_visible()
    expect(page.get_by_text("B: default, at most 1 passage")).to_be_visible()


def test_documents_are_found_by_title_or_file_brought_in_and_deleted(
    page: Page, service: Program, corpus: tuple[Path, dict[str, str]]
) -> None:
    note = corpus[0] / "sources" / "more" / "tides.md"
    note.write_text("# Tides of Fundy\n\nThe tides in the Bay of Fundy rise by 16 metres.\n", encoding="utf-8")
    page.goto(f"{service.url}/ui#documents")
    page.get_by_text("Ingest files from the server").click()
    page.get_by_label("File or folder on the server").fill("more")
    page.get_by_role("button", name="Start").click()
    expect(page.locator(".job")).to_contain_text("1 new")
    expect(page.locator("table.list tbody tr").first).to_contain_text("Tides of Fundy")
    for wording in ("fundy", "TIDES.md"):
        page.get_by_label("Find by title").fill(wording)
        expect(page.locator("table.list tbody tr")).to_have_count(1)
    page.get_by_role("button", name="Tides of Fundy", exact=True).click()
    expect(page.locator(".evidence")).to_contain_text("16 metres")
    page.get_by_role("button", name="Delete: Tides of Fundy").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()

    expect(page.get_by_text("Nothing was found.")).to_be_visible()
    assert "Fundy" not in httpx.get(f"{service.url}/documents").text


def dropped(page: Page, *files_and_texts: str) -> None:
    """Drop files onto the frame for uploads: a name, its text, and so on."""
    script = """(files) => { const d = new DataTransfer();
        for (let i = 0; i < files.length; i += 2) d.items.add(new File([files[i + 1]], files[i]));
        return d; }"""
    files = page.evaluate_handle(script, list(files_and_texts))
    page.dispatch_event(".drop", "drop", {"dataTransfer": files})


def test_files_are_uploaded_by_button_and_by_drop_with_the_reasons_of_failures(
    page: Page, service: Program, corpus: tuple[Path, dict[str, str]]
) -> None:
    kept, named = corpus[0] / "index" / ".uploads" / "default", "isère <img src=x>.md"
    (corpus[0] / named).write_text("# Isère\n\nThe Isère is 286 km long.\n", encoding="utf-8")
    (corpus[0] / "broken.pdf").write_text("%PDF-1.7 and nothing more", encoding="utf-8")
    frame, job = page.locator(".drop"), page.locator(".job")
    page.goto(f"{service.url}/ui#documents")
    page.wait_for_selector("table.list")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Upload files").press("Enter")
    chooser.value.set_files([corpus[0] / named, corpus[0] / "broken.pdf"])

    expect(job).to_contain_text("1 new, 0 changed, 0 unchanged, 1 failed")
    expect(job.locator(".failed")).to_contain_text("uploads/broken.pdf")
    assert [path.name for path in kept.iterdir()] == [named]

    dropped(page, "film.mp4", "x", "garonne.md", "# Garonne\n\nThe Garonne is 529 km long.\n", "nothing.md", "")
    expect(frame.locator(".refused li")).to_have_count(2)
    expect(frame.locator(".refused")).to_contain_text("nothing.md")
    expect(frame.locator(".coverage")).to_contain_text("1 of 3 files read; 1 has a type that is not read: .mp4 (1).")
    expect(job).to_contain_text("1 new, 0 changed, 0 unchanged, 0 failed")
    page.get_by_label("Find by title").fill("garonne")
    page.get_by_role("button", name="Delete: Garonne").click()
    expect(page.get_by_role("dialog")).to_contain_text("and its uploaded file")
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_text("Nothing was found.")).to_be_visible()
    assert [path.name for path in kept.iterdir()] == [named]

    dropped(page, "a.exe", "x")
    expect(frame.locator(".refused")).to_contain_text("a.exe")
    expect(job).to_have_count(0)


def test_the_bar_of_a_job_moves_within_one_large_file(page: Page, service: Program) -> None:
    progress = {"source": "uploads/large.md", "files": 0, "documents": 0, "bytes": 0, "bytes_total": 1000}
    job = {"job": "j", "state": "running", "request": {}, "result": None, "error": None, "progress": progress}
    page.route("**/documents?corpus=default", lambda route: route.fulfill(status=202, json=job))
    page.route("**/ingest/j", lambda route: route.fulfill(json=job))
    page.goto(f"{service.url}/ui#documents")
    page.wait_for_selector("table.list")
    dropped(page, "large.md", "x")
    bar = page.locator(".job progress")

    expect(bar).to_have_js_property("position", -1)  # it is being read
    progress["bytes"] = 240
    expect(bar).to_have_js_property("position", 0.24)
    expect(page.locator(".job")).to_contain_text("24 %")


def test_german_words_and_a_chosen_theme_stay(page: Page, service: Program) -> None:
    page.goto(f"{service.url}/ui")
    page.get_by_role("button", name="Deutsch").click()
    page.get_by_role("button", name="Hell oder dunkel").click()
    page.reload()

    expect(page.get_by_role("link", name="Dokumente")).to_be_visible()
    assert page.locator("html").get_attribute("lang") == "de"
    assert page.locator("html").get_attribute("data-theme") == "dark"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1300])
def test_axe_finds_nothing(browser: Browser, service: Program, scheme: Literal["light", "dark"], width: int) -> None:
    page = opened(browser, width, scheme)
    found = []
    asked(page, service, HEAT_QUESTION)
    found += violations(page)
    page.locator("button.cite").first.click()
    page.wait_for_selector("mark.cited")
    found += violations(page)
    for address, ready in (
        ("retrieve?q=heat+pump", ".box.hit"),
        ("compare", "#both"),
        ("documents", "table.list"),
    ):
        page.goto(f"{service.url}/ui#{address}")
        page.wait_for_selector(ready)
        found += violations(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.context.close()

    assert found == []


def test_a_model_s_answer_streams_is_stopped_and_stays_text(
    browser: Browser, corpus: tuple[Path, dict[str, str]]
) -> None:
    folder, settings = corpus
    own = {**settings, "RAG_INDEX__CORPUS": "page-model"}
    assert run(["-m", "ingestion", str(folder / "sources" / "heat.md")], own, folder).returncode == 0
    invented = ["--max-open", "8443", "https://made.up/guide"]
    spoken = f"A heat pump moves heat from a cold place to a warm place [1]. 🔥 {', '.join(invented)} {XSS}"
    with ScriptedLLM(Script(text=spoken)) as model:
        model_settings = {
            "RAG_LLM__PROVIDER": "openai",
            "RAG_LLM__MODEL": "scripted",
            "RAG_LLM__BASE_URL": model.base_url,
        }
        with Program([MAIN], {**own, **model_settings}, folder) as program:
            context = browser.new_context(locale="en-GB", reduced_motion="reduce")
            page = context.new_page()
            watched = Watched(page, program.url)
            asked(page, program, HEAT_QUESTION)
            expect(page.locator(".answer")).to_contain_text("moves heat from a cold place")
            marked = page.locator(".answer mark.unsupported")
            expect(marked.first).to_have_attribute("title", "Not in the sources")
            assert marked.all_inner_texts()[:3] == invented
            expect(page.locator(".answer a")).to_have_attribute("href", invented[-1])
            expect(page.get_by_text(f"Not in the sources: {', '.join(invented)}")).to_be_visible()
            assert page.locator(".answer img, .answer script").count() == 0

            model.play(Script(text="It moves heat. " * 50, stall_after=20))
            page.fill("#question", "How does it work?")
            page.keyboard.press("Enter")
            page.get_by_role("button", name="Stop").click()
            expect(page.get_by_text("Stopped.")).to_be_visible()
            assert page.title() == "Treeline"
            context.close()
    assert watched.faults == []


def test_a_service_with_keys_asks_the_browser_for_one_and_an_empty_one_for_documents(
    browser: Browser, corpus: tuple[Path, dict[str, str]]
) -> None:
    folder, settings = corpus
    presets = json.dumps({"page-keys": [HEAT_QUESTION]})
    own = {**settings, "RAG_INDEX__DIR": str(folder / "keys"), "RAG_INDEX__CORPUS": "page-keys"}
    own |= {"RAG_SERVE__KEYS": "open-sesame-0123456789", "RAG_SERVE__PRESET_QUESTIONS": presets}
    with Program([MAIN], own, folder) as program:
        assert httpx.get(f"{program.url}/ui", headers={"Accept": "text/html"}).status_code == 401
        context = browser.new_context(locale="en-GB")
        page = context.new_page()
        page.goto(program.url)
        page.get_by_label("Your key").fill("open-sesame-9999999999")
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert")).to_contain_text("does not know this key")
        page.get_by_label("Your key").fill("open-sesame-0123456789")
        page.keyboard.press("Enter")
        expect(page.get_by_role("button", name="Upload files")).to_be_visible()
        expect(page.get_by_role("button", name=HEAT_QUESTION)).to_have_count(0)
        page.get_by_role("link", name="Documents").click()
        expect(page.get_by_role("alert")).to_have_count(0)
        page.get_by_label("Collection").select_option(label="New collection …")
        page.get_by_role("dialog").get_by_role("textbox").fill("notes")
        page.keyboard.press("Enter")
        dropped(page, "heat.md", HEAT)
        page.get_by_role("button", name="Ask about them").click()
        page.fill("#question", HEAT_QUESTION)
        page.keyboard.press("Enter")

        expect(page.locator(".answer")).to_contain_text("moves heat from a cold place")
        assert "notes" in page.get_by_label("Collection").locator("option").all_inner_texts()
        context.close()
