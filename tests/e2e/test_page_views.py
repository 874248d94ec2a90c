"""The views of the page beside the first flows of `test_page.py`: documents' own pages, errors, the tester, the corpus.

One service over a corpus of topics, with a file that cannot be read; in no test may a document's script run.
"""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Literal
from urllib.parse import quote

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.browser import CHROMIUM, XSS, Watched, opened, violations
from tests.e2e.conftest import MAIN
from tests.e2e.program import Program, run

pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="Debian's chromium is not installed")]

FILLING = "\n\n".join(f"Paragraph {n} says nothing in particular. 🔥" for n in range(900))
GUIDE = f"""# Boilers

Some **bold** words.

```python
print("a block of code")

print("with a gap")
```

{FILLING}

| Machine | Price in euros |
|---|---|
| Gas boiler | 4,100 |
| Oil boiler | 5,300 |

{FILLING}
"""
ROW = "| Oil boiler | 5,300 |"
EVIL_ID = "evil/<script>document.title='owned'</script>"
RECORDS = [
    {
        "id": EVIL_ID,
        "title": f"Zebras {XSS}",
        "text": f"# Zebras\n\nZebras are striped. {XSS} [click](javascript:alert(1))",
    },
    {"id": "pumps", "title": "Heat pumps", "topic": "heat", "text": "A heat pump moves heat from cold to warm places."},
    {
        "id": "paper",
        "title": "Lakes in winter",
        "text": "Lakes freeze from the top.",
        "authors": ["Ono, R.", "Lake Board"],
        "year": 2021,
        "journal": "Ice",
        "doi": "doi:10.1000/ice.7",
    },
    {
        "id": "mills",
        "title": "Wind mills",
        "topic": "wind",
        "text": "A wind mill turns moving air into heat and power.",
    },
    *(
        {
            "id": f"note{n}",
            "title": f"Note {n}",
            "topic": "wind",
            "text": f"Note {n} says that wind turns blades. " * 12,
        }
        for n in range(9)
    ),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("views")


@pytest.fixture(scope="module")
def service(folder: Path, model_cache: Path) -> Iterator[Program]:
    sources = folder / "sources"
    sources.mkdir()
    (sources / "guide.md").write_text(GUIDE, encoding="utf-8")
    (sources / "evil.jsonl").write_text("\n".join(map(json.dumps, RECORDS)), encoding="utf-8")
    (sources / "boats.csv").write_text("Boat,Owner\nTern 🚤,Li & Co\nGull,Ann Ode\nSkua,Bo Lee\n", encoding="utf-8")
    (sources / "broken.pdf").write_text("%PDF-1.7 and nothing more", encoding="utf-8")
    presets = folder / "presets.json"
    presets.write_text(
        json.dumps({"default": {"Heat": ["What does a heat pump do?"], "Wind": ["What is a wind mill?"]}})
    )
    settings = {
        "RAG_INDEX__DIR": str(folder / "index"),
        "RAG_EMBED__CACHE_DIR": str(model_cache),
        "RAG_SERVE__PORT": "0",
        "RAG_INGEST__ROOT": str(sources),
        "RAG_SERVE__PRESET_QUESTIONS": str(presets),
    }
    run(["-m", "ingestion", str(sources)], settings, folder)
    with Program([MAIN], settings, folder) as program:
        yield program


@pytest.fixture
def page(browser: Browser, service: Program) -> Iterator[Page]:
    made = opened(browser)
    watched = Watched(made, service.url)
    yield made
    assert "owned" not in made.title().split("<")[0]
    made.context.close()
    # The browser writes each status of failure to the console; nothing else may stand there.
    assert [fault for fault in watched.faults if "status of 4" not in fault] == []


def cited(service: Program, doc_id: str, words: str) -> str:
    """Return the address of a document's page with the first such words cited."""
    path = f"{service.url}/documents/{quote(doc_id)}"
    start = httpx.get(path).json()["text"].index(words)
    return f"{path}?start={start}&end={start + len(words)}#cited"


def test_a_document_s_page_renders_markdown_with_the_cited_row_in_sight(page: Page, service: Program) -> None:
    page.goto(cited(service, "guide.md", ROW))

    expect(page.locator("td mark")).to_have_text(["Oil boiler", "5,300"])
    expect(page.locator("mark").first).to_be_in_viewport()
    assert page.locator("#cited").count() == 1
    page.evaluate("scrollTo(0, 0)")
    expect(page.locator("pre code")).to_contain_text('print("with a gap")')
    expect(page.locator(".block strong")).to_have_text("bold")
    page.get_by_role("link", name="Treeline").click()
    expect(page.locator("#question")).to_be_visible()


def test_a_document_s_page_is_whole_and_marked_without_javascript(browser: Browser, service: Program) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(cited(service, "guide.md", ROW))

    expect(page.locator("#cited")).to_have_text(ROW)
    expect(page.locator("#cited")).to_be_in_viewport()
    assert (
        "".join(page.locator(".block").all_text_contents())
        == httpx.get(f"{service.url}/documents/guide.md").json()["text"]
    )
    context.close()


@pytest.mark.fault("E8")
def test_nothing_of_a_hostile_document_runs_on_its_page_or_an_error_page(page: Page, service: Program) -> None:
    page.goto(cited(service, EVIL_ID, "Zebras are striped."))

    expect(page.locator("mark")).to_have_text("Zebras are striped.")
    expect(page.locator("article")).to_contain_text("onerror")
    expect(page.locator("article img, article script, a[href^='javascript']")).to_have_count(0)
    page.goto(f"{service.url}/documents/{quote(XSS)}?corpus=default")
    expect(page.locator("main")).to_contain_text("holds no such document")
    expect(page.locator("main img, main script")).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1300])
def test_axe_finds_nothing(browser: Browser, service: Program, scheme: Literal["light", "dark"], width: int) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 850}, color_scheme=scheme, locale="en-GB", bypass_csp=True
    )
    page = context.new_page()
    found = []
    for address, ready in (
        (cited(service, "guide.md", ROW), "td mark"),
        (f"{service.url}/documents/none", "main"),
        (f"{service.url}/documents/x?start=z", "code"),
        (f"{service.url}/ui", ".choices"),
        (f"{service.url}/ui#retrieve?q=wind&view=list", ".passages"),
        (f"{service.url}/ui#documents", ".unread"),
    ):
        page.goto("about:blank")
        page.goto(address)
        page.wait_for_selector(ready)
        page.evaluate("document.querySelectorAll('main details').forEach((one) => { one.open = true; })")
        found += violations(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    context.close()

    assert found == []


def test_the_theme_that_was_chosen_holds_on_a_document_s_page(page: Page, service: Program) -> None:
    page.goto(f"{service.url}/ui")
    page.get_by_role("button", name="Light or dark").click()
    page.get_by_role("button", name="Deutsch").click()
    page.goto(cited(service, "guide.md", ROW))

    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page.get_by_role("link", name="Zur zitierten Stelle")).to_be_visible()


@pytest.mark.promise("C14")
def test_preset_questions_stand_by_topic_and_options_limit_the_question(page: Page, service: Program) -> None:
    page.goto(f"{service.url}/ui")
    expect(page.locator(".choices h2")).to_have_text(["Heat", "Wind"])
    page.locator(".filters summary").click()
    page.get_by_label("Topic").select_option("heat")
    page.get_by_label("Passages to read").fill("2")
    with page.expect_request("**/query/stream") as sent:
        page.get_by_role("button", name="What does a heat pump do?").click()

    body = json.loads(sent.value.post_data or "")
    assert (body["filters"], body["top_k"]) == ({"filters": [{"key": "topic", "value": "heat"}]}, 2)
    expect(page.locator(".answer")).to_contain_text("moves heat")


def test_rows_of_a_csv_are_a_table_in_the_answer_and_in_its_source(page: Page, service: Program) -> None:
    page.goto(f"{service.url}/ui")
    page.locator("#question").fill("Who owns the Gull?")
    page.keyboard.press("Enter")
    expect(page.locator(".answer td strong")).to_have_text(["Gull", "Ann Ode"])
    page.get_by_role("button", name="Source 1: boats").first.click()

    table = page.locator(".evidence .document table")
    expect(table.locator("th")).to_have_text(["Boat", "Owner"])
    expect(table.locator("td")).to_have_text(["Tern 🚤", "Li & Co", "Gull", "Ann Ode", "Skua", "Bo Lee"])
    expect(table.locator("td mark.cited").first).to_be_visible()


@pytest.mark.promise("C14")
def test_a_paper_says_how_it_is_cited(page: Page, service: Program) -> None:
    page.goto(f"{service.url}/ui")
    page.locator("#question").fill("Where do lakes freeze from?")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Source 1: Lakes in winter").first.click()

    cited = "Ono, R., & Lake Board (2021). Lakes in winter. Ice. https://doi.org/10.1000/ice.7"
    expect(page.locator(".evidence").get_by_text(cited)).to_be_visible()


def test_the_copy_is_markdown_with_links(page: Page, service: Program) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(f"{service.url}/ui")
    page.get_by_role("button", name="What does a heat pump do?").click()
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()

    copied = page.evaluate("navigator.clipboard.readText()")
    assert f"[[1]]({service.url}/documents/pumps?" in copied
    assert "1. [Heat pumps](" in copied


def test_the_tester_sends_every_option_and_shows_ranks_and_what_was_not_read(page: Page, service: Program) -> None:
    page.goto(f"{service.url}/ui#retrieve?q=wind+turns+blades&view=list")
    page.locator(".filters summary").click()
    page.get_by_label("Characters to read").fill("500")
    page.get_by_label("Merging").uncheck()
    page.get_by_label("Per document at most").fill("1")
    page.get_by_label("Type").select_option("jsonl")
    with page.expect_request("**/retrieve") as sent:
        page.get_by_role("button", name="Search", exact=True).click()

    body = json.loads(sent.value.post_data or "")
    assert (body["budget_chars"], body["merge"], body["max_per_document"]) == (500, False, 1)
    assert body["filters"] == {"filters": [{"key": "content_type", "value": "jsonl"}]}
    page.locator(".passages .why summary").first.click()
    expect(page.locator(".passages .why li").first).to_contain_text("dense 1, lexical")
    page.locator(".left-out summary").click()
    page.locator(".left-out .place").first.click()
    expect(page.locator(".evidence mark.cited").first).to_be_visible()


def test_a_passage_marked_as_relevant_becomes_an_evaluation_row(page: Page, service: Program, folder: Path) -> None:
    page.goto(f"{service.url}/ui#retrieve?q=heat+pump&view=list")
    page.locator(".passages").get_by_role("button", name="Relevant", exact=True).first.click()
    expect(page.get_by_role("button", name="Relevant", exact=True).first).to_have_attribute("aria-pressed", "true")

    feedback = folder / "feedback.jsonl"
    feedback.write_text(httpx.get(f"{service.url}/feedback").text, encoding="utf-8")
    rows = folder / "questions.jsonl"
    done = run(["-m", "eval", "cases", "--from-feedback", str(feedback), "--out", str(rows)], {}, folder)
    assert done.returncode == 0, done.stderr
    assert json.loads(rows.read_text().splitlines()[0])["question"] == "heat pump"


def test_the_corpus_tells_which_files_could_not_be_read_and_reads_them_again(
    page: Page, service: Program, folder: Path
) -> None:
    page.goto(f"{service.url}/ui#documents")
    expect(page.locator(".health")).to_contain_text("jsonl")
    page.locator(".unread summary").click()
    expect(page.locator(".unread li")).to_contain_text("broken.pdf")
    page.get_by_role("button", name="Try them again").click()
    expect(page.locator(".job")).to_contain_text("1 failed")
    (folder / "sources" / "broken.pdf").unlink()
    shutil.copy(
        Path(__file__).parents[2] / "data" / "corpus" / "storage" / "batteries.pdf", folder / "sources" / "broken.pdf"
    )
    page.get_by_role("button", name="Try them again").click()

    expect(page.locator(".job")).to_contain_text("0 failed")
    expect(page.locator(".unread")).to_have_count(0)


def test_a_folder_of_the_server_is_read_file_by_file_with_reasons(page: Page, service: Program, folder: Path) -> None:
    more = folder / "sources" / "more"
    more.mkdir()
    (more / "sea.md").write_text("# The sea\n\nThe sea is salt.\n", encoding="utf-8")
    (more / "odd.xyz").write_text("?", encoding="utf-8")
    page.goto(f"{service.url}/ui#documents")
    page.get_by_text("Ingest files from the server").click()
    page.get_by_label("File or folder on the server").fill("more")
    page.get_by_role("button", name="Start").click()

    expect(page.locator(".job")).to_contain_text("1 new")
    page.locator(".job summary", has_text="Skipped").click()
    expect(page.locator(".job .skipped")).to_contain_text("odd.xyz")
