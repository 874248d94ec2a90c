"""The page's views of pipelines and of evaluation runs in a real browser: every flow, with hostile steps and files.

The steps `waiting`, `broken` and `hostile` are own ones of the service, from a folder: one that runs until a file is
there, one that fails, and one that says a script wherever a step can say something.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import httpx
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.e2e.browser import CHROMIUM, PATIENCE_MS, XSS, violations
from tests.e2e.browser import opened as new_page
from tests.e2e.conftest import MAIN
from tests.e2e.program import Program, run

pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="Debian's chromium is not installed")]

DOCUMENTS = {
    "pump.md": "# Heat pumps\n\nA heat pump is a device that moves heat from a cold place to a warm place. "
    "It works by evaporating a cold fluid outside and condensing it inside. " + "It is quiet and lasts long. " * 12,
    "buy.md": "# Buying\n\nA heat pump costs 12,400 euros.",
    "betz.md": "# Onshore wind\n\nAlbert Betz found out that a wind turbine captures at best 16/27 of the energy.",
    "sea.md": "# Offshore wind\n\nAt sea a wind turbine is larger. Albert never went to sea.",
    "salt.md": "# Salt\n\nSolar salt stores heat.",
}
HOSTILE_DOCUMENT = {"id": "evil", "title": f"Turbine {XSS}", "text": f"A wind turbine. {XSS}"}
STEPS = """
from pathlib import Path

from errors import StepError
from pipelines.parameters import parameter
from pipelines.step import RowStep

XSS = %r
GO = Path(%r)


class Waiting(RowStep):
    id = "waiting"
    name = "Waiting"
    category = "Metadata Analysis"
    description = "Waits."
    cached = False

    class Parameters(RowStep.Parameters):
        output_column: str = parameter("waited", "Output column", "Column that is added.", column="writes")

    def transform_rows(self, rows, state, handler):
        for _ in rows:
            while not GO.exists():
                handler.check()
                handler.stop.wait(0.05)
            yield 1


class Broken(RowStep):
    id = "broken"
    name = "Broken"
    category = "Metadata Analysis"
    description = "Fails."

    class Parameters(RowStep.Parameters):
        output_column: str = parameter("broken", "Output column", "Column that is added.", column="writes")

    def transform(self, state, handler):
        raise StepError(f"It broke. {XSS}", "Mend it.")


class Hostile(RowStep):
    id = "hostile"
    name = f"Hostile {XSS}"
    category = XSS
    description = XSS

    class Parameters(RowStep.Parameters):
        output_column: str = parameter(XSS[:50], XSS, XSS, column="writes", offered=(XSS[:50],))

    def transform(self, state, handler):
        handler.warn(XSS)
        handler.log(XSS)
        named = state.with_column(XSS[:50], [XSS] * state.count, "chip").with_rank([1.0] * state.count, XSS)
        return named.with_aggregated(XSS, XSS, [{"doc_id": "evil", "title": XSS, "start": 0, "end": 5}])
"""
HEADER = {"questions": "questions.jsonl", "questions_sha256": "ab", "target": "in process", "corpus": "default"}
REPORT = """<!doctype html><title>R</title><h1 id=said>no script</h1><script>
said.textContent = "script ran";
try { parent.document.title = "owned" } catch { said.textContent += ", parent out of reach" }
try { localStorage.x = 1 } catch { said.textContent += ", no storage" }
fetch("/corpora").catch(() => { said.textContent += ", no connection" })
</script>"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, model_cache: Path) -> tuple[Path, dict[str, str]]:
    """Return a folder and the settings of a service with a corpus, own steps and runs."""
    folder = tmp_path_factory.mktemp("pipelines")
    sources, steps, runs = folder / "sources", folder / "steps", folder / "runs"
    for one in (sources, steps, runs):
        one.mkdir()
    for name, text in DOCUMENTS.items():
        (sources / name).write_text(text, encoding="utf-8")
    (sources / "evil.jsonl").write_text(json.dumps(HOSTILE_DOCUMENT), encoding="utf-8")
    (steps / "own.py").write_text(STEPS % (XSS, str(folder / "go")), encoding="utf-8")
    write_run(runs, "before", "2026-05-01T10:00:00+00:00", 0.5, report="<!doctype html><title>B</title><h1>Before</h1>")
    write_run(runs, "after", "2026-05-02T10:00:00+00:00", 0.75)
    write_run(runs, "unreported", "2026-05-03T10:00:00+00:00", None)
    write_run(runs, XSS.replace("/", "|"), "2026-05-04T10:00:00+00:00", 0.6)
    (runs / "damaged").mkdir()
    (runs / "damaged" / "run.json").write_text(XSS)
    settings = {
        "RAG_INDEX__DIR": str(folder / "index"),
        "RAG_PIPELINES__DIR": str(folder / "tasks"),
        "RAG_PIPELINES__STEPS_DIR": str(steps),
        "RAG_EMBED__CACHE_DIR": str(model_cache),
        "RAG_SERVE__PORT": "0",
        "RAG_SERVE__RUNS": str(runs),
    }
    done = run(["-m", "ingestion", str(sources)], settings, folder)
    assert done.returncode == 0, done.stderr
    return folder, settings


def write_run(runs: Path, name: str, started: str, recall: float | None, report: str = REPORT) -> None:
    folder = runs / name
    folder.mkdir()
    (folder / "run.json").write_text(json.dumps({**HEADER, "started": started}))
    (folder / "cases.jsonl").write_text("{}\n" * 40)
    if recall is None:
        return
    means = {"word_recall": {"mean": recall, "n": 40, "of": 40}, XSS: {"mean": 1 - recall, "n": 39, "of": 40}}
    metrics = {
        "word_recall": {"family": "answer", "better": "higher", "about": "Share of the words."},
        XSS: {"family": XSS, "better": "lower", "about": XSS},
    }
    results = {"metrics": metrics, "main_metrics": list(metrics), "aggregate": {"answerable": means}}
    (folder / "eval_results.json").write_text(json.dumps(results))
    (folder / "report.html").write_text(report)


@pytest.fixture(scope="module")
def service(home: tuple[Path, dict[str, str]]) -> Iterator[Program]:
    folder, settings = home
    with Program([MAIN], settings, folder) as program:
        yield program


def opened(page: Page, service: Program, body: dict[str, Any] | None = None) -> None:
    """Open the view of pipelines, with a pipeline in it."""
    page.goto(f"{service.url}/ui#pipelines")
    expect(page.get_by_role("button", name="Prepare texts")).to_be_visible()
    if body is not None:
        if not page.locator(".shelf").evaluate("(one) => one.open"):
            page.get_by_text("Save, open, import, export").click()
        page.get_by_label("As JSON").fill(json.dumps(body))
        page.get_by_role("button", name="Apply").click()
        expect(page.locator(".shelf")).to_contain_text(re.compile(r"steps?\."))


def cards(page: Page) -> Locator:
    return page.locator(".card")


def ran(page: Page) -> None:
    """Run what stands there, to its end."""
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.locator(".result-line")).to_be_visible()


def steps_of(*steps: dict[str, Any], query: str = "Albert Betz wind turbine") -> dict[str, Any]:
    numbered = {str(number): step for number, step in enumerate(steps, start=1)}
    return {"query": query, **numbered}


SOURCE = {"id": "corpus_datasource"}


def test_an_example_gives_results_in_two_clicks(page: Page, service: Program) -> None:
    page.goto(f"{service.url}/ui#pipelines")
    page.get_by_role("button", name="Mark and summarise").click()
    page.get_by_role("button", name="Run", exact=True).click()

    expect(page.locator(".result-line")).to_contain_text("from the cache")
    expect(page.locator(".aggregated")).to_contain_text("evaporating a cold fluid outside")
    expect(cards(page).nth(1)).to_contain_text("done")
    table = page.locator(".step-table")
    expect(table.locator("td.rank").first).to_have_text("1")
    expect(table.locator(".chip").first).to_contain_text(".md")
    page.locator(".aggregated button.cite").first.click()
    expect(page.locator(".evidence mark.cited")).not_to_be_empty()


@pytest.mark.promise("D11")
def test_every_step_s_form_is_the_one_it_declares(page: Page, service: Program) -> None:
    info = httpx.get(f"{service.url}/pipeline/info").json()
    opened(page, service)
    for step_id, declared in info.items():
        page.get_by_label("Step to add").select_option(step_id)
        page.get_by_role("button", name="Add step").click()
        card = cards(page).last
        expect(card.locator("h3")).to_contain_text(declared["name"])
        expect(card).to_be_focused()
        if not card.locator("details").evaluate("(one) => one.open"):
            card.locator("summary").click()
        expect(card.locator(".field")).to_have_count(len(declared["parameters"]) + 1)
        for field, one in zip(card.locator(".field").all(), declared["parameters"].values(), strict=False):
            expect(field.locator("label")).to_contain_text(one["title"])
            expect(field.locator("small")).to_contain_text(one["description"])
            control = field.locator("select" if one["enforce-limit"] else "input")
            assert (control.get_attribute("required") is not None) == one["required"]
            assert control.get_attribute("min") == (str(one["minimum"]) if "minimum" in one else None)
            assert control.get_attribute("max") == (str(one["maximum"]) if "maximum" in one else None)
            options = field.locator("option").evaluate_all("(all) => all.map((one) => one.value)")
            assert set(map(str, one["supported-values"])) <= set(options)


def test_fields_reach_the_service_and_defaults_are_left_out(page: Page, service: Program) -> None:
    opened(page, service, steps_of(SOURCE))
    cards(page).locator("summary").click()
    page.get_by_label("Limit").fill("2")
    page.get_by_label("Search").select_option("lexical")
    page.get_by_label("Unit").select_option("leaves")
    page.get_by_label("Unit").select_option("passages")
    with page.expect_request("**/task/enqueue") as sent:
        ran(page)

    body = json.loads(sent.value.post_data or "")
    assert body["1"] == {"id": "corpus_datasource", "parameters": {"limit": 2, "mode": "lexical"}}
    expect(page.locator(".result-line")).to_contain_text("2 documents in")


def test_steps_are_moved_and_removed_by_keyboard(page: Page, service: Program) -> None:
    opened(page, service, steps_of(SOURCE, {"id": "word_counter"}, {"id": "tf_idf_reranker"}))
    cards(page).last.focus()
    page.keyboard.press("Alt+ArrowUp")
    expect(cards(page).nth(1).locator("h3")).to_contain_text("TF-IDF")
    expect(cards(page).nth(1)).to_be_focused()
    page.get_by_role("button", name="Move down: step 2, TF-IDF-Reranker").press("Enter")
    expect(cards(page).nth(2).locator("h3")).to_contain_text("TF-IDF")
    page.get_by_role("button", name="Remove: step 2, Word Counter").press("Enter")

    expect(cards(page)).to_have_count(2)
    expect(cards(page).last).to_be_focused()
    page.reload()
    expect(cards(page).last.locator("h3")).to_contain_text("TF-IDF")


def test_a_running_task_is_watched_over_a_reload_and_cancelled_at_once(page: Page, service: Program) -> None:
    opened(page, service, steps_of(SOURCE, {"id": "waiting"}, {"id": "word_counter"}))
    page.get_by_role("button", name="Run", exact=True).click()

    expect(page.locator(".running")).to_contain_text("Step 2 of 3: Waiting")
    expect(cards(page).nth(1)).to_contain_text("running, 0 of")
    expect(cards(page).nth(2)).to_contain_text("waiting")
    expect(page.locator(".step-table tbody tr").first).to_be_visible()
    page.reload()
    expect(page.locator(".running")).to_contain_text("Step 2 of 3: Waiting")
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("Cancelled.", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Run", exact=True)).to_be_enabled()


def test_a_task_that_was_let_go_ends_with_its_tables(
    page: Page, service: Program, home: tuple[Path, dict[str, str]]
) -> None:
    opened(page, service, steps_of(SOURCE, {"id": "waiting"}))
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.locator(".running")).to_contain_text("Waiting")
    go = home[0] / "go"
    go.touch()

    expect(page.locator(".result-line")).to_be_visible()
    expect(page.locator("th[data-new='true']")).to_contain_text("waited")
    page.get_by_text("Log", exact=True).click()
    expect(page.locator(".log pre")).to_contain_text("Finished the task.")
    go.unlink()


def test_an_error_stands_at_the_step_that_failed(page: Page, service: Program) -> None:
    opened(page, service, steps_of(SOURCE, {"id": "broken"}))
    page.get_by_role("button", name="Run", exact=True).click()

    expect(cards(page).nth(1).get_by_role("alert")).to_contain_text("It broke.")
    expect(cards(page).first).to_contain_text("done")
    expect(page.locator(".step-table tbody tr").first).to_be_visible()


def test_a_refusal_stands_at_the_step_that_cannot_run(browser: Browser, service: Program) -> None:
    context = browser.new_context(locale="en-GB", reduced_motion="reduce")  # its console notes the status 422
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    opened(page, service, steps_of(SOURCE, {"id": "word_counter", "parameters": {"input_column": "nothing"}}))
    page.get_by_role("button", name="Run", exact=True).click()

    expect(cards(page).nth(1).get_by_role("alert")).to_contain_text("reads column 'nothing'")
    expect(cards(page).nth(1)).to_be_focused()
    opened(page, service, steps_of(SOURCE, {"id": "no_such_step"}))
    expect(cards(page).nth(1)).to_contain_text("no step of this name")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(cards(page).nth(1).get_by_role("alert")).to_contain_text("there is no step 'no_such_step'")
    context.close()


def test_rankings_stand_side_by_side(page: Page, service: Program) -> None:
    opened(page, service, steps_of(SOURCE, {"id": "tf_idf_reranker", "parameters": {"query": "Solar salt"}}))
    ran(page)
    page.get_by_role("button", name="Rankings", exact=True).click()

    pair = page.locator(".pair")
    expect(pair).to_contain_text("Source → 2 TF-IDF-Reranker")
    expect(pair).to_contain_text("Kendall's tau")
    expect(pair).to_contain_text("Same in the first 5")
    expect(pair.locator(".moves li").first).to_contain_text("▲")
    expect(page.get_by_role("img", name="documents, a line each")).to_be_visible()
    expect(page.locator(".step-table tbody tr").first).to_contain_text("Salt")


def test_long_cells_fold_and_titles_open_their_place(page: Page, service: Program) -> None:
    opened(page, service, steps_of(SOURCE, query="How does a heat pump work?"))
    ran(page)
    row = page.locator(".step-table tbody tr", has_text="Heat pumps")
    row.get_by_role("button", name="Show more").click()
    expect(row.get_by_role("button", name="Show less")).to_have_attribute("aria-expanded", "true")
    row.get_by_role("button", name="Heat pumps").click()

    expect(page.locator(".evidence")).to_contain_text("evaporating a cold fluid")
    page.keyboard.press("Escape")
    page.get_by_label("All columns").check()
    expect(page.locator(".step-table thead")).to_contain_text("doc_id")


def test_pipelines_are_saved_opened_imported_and_exported(page: Page, service: Program, tmp_path: Path) -> None:
    body = {
        "query": "salt",
        "1": {**SOURCE, "parameters": {"limit": 3}},
        "2": {"id": "word_counter", "on_error": "continue"},
    }
    opened(page, service, body)
    page.get_by_label("Name", exact=True).fill("mine")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".shelf")).to_contain_text("Saved with the id")
    kept = httpx.get(f"{service.url}/pipeline/list").json()["pipelines"][0]
    assert kept["name"] == "mine"
    with page.expect_download() as download:
        page.get_by_role("button", name="Export a file").click()
    assert json.loads(Path(download.value.path()).read_text()) == body
    assert download.value.suggested_filename == "mine.json"

    page.get_by_role("button", name="Clear").click()
    expect(cards(page)).to_have_count(0)
    page.get_by_role("button", name="mine", exact=True).first.click()
    expect(cards(page)).to_have_count(2)
    page.get_by_role("button", name="Clear").click()
    page.get_by_label("Id of a pipeline").fill(kept["id"])
    page.get_by_role("button", name="Open", exact=True).click()
    expect(cards(page)).to_have_count(2)
    page.get_by_role("button", name="Delete: mine").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_role("button", name="mine", exact=True)).to_have_count(0)
    assert httpx.get(f"{service.url}/pipeline/restore/{kept['id']}").status_code == 404

    wrapped = {"pipeline": {"query": "x", "parameters": {"limit": 7}, "1": SOURCE}}
    (tmp_path / "own.json").write_text(json.dumps(wrapped))
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Import a file").click()
    chooser.value.set_files(tmp_path / "own.json")
    expect(cards(page)).to_have_count(1)
    expect(cards(page)).to_contain_text("Limit: 7")
    for wrong, told in (("{", "not valid JSON"), ("[1]", "not a pipeline"), ('{"1": {"id": 5}}', "not a pipeline")):
        page.get_by_label("As JSON").fill(wrong)
        page.get_by_role("button", name="Apply").click()
        expect(page.locator(".shelf").get_by_role("alert")).to_contain_text(told)
    expect(cards(page)).to_have_count(1)


def test_what_steps_and_documents_say_stays_text(page: Page, service: Program) -> None:
    opened(page, service, steps_of(SOURCE, {"id": "hostile"}))
    ran(page)
    expect(page.locator(".aggregated")).to_contain_text("<script>")
    expect(page.locator(".step-table")).to_contain_text("onerror")
    expect(cards(page).nth(1)).to_contain_text("onerror")
    page.get_by_text("Log", exact=True).click()
    page.get_by_role("button", name="1 Corpus").click()
    expect(page.locator(".step-table")).to_contain_text("Turbine <img")
    opened(page, service, steps_of(SOURCE, {"id": "broken"}, {"id": "hostile"}))
    page.get_by_role("button", name="Run", exact=True).click()
    expect(cards(page).nth(1).get_by_role("alert")).to_contain_text("<script>")
    assert page.locator("#app img:not([src='ui/static/icon.svg']), #app script").count() == 0


def test_runs_are_listed_with_figures_history_and_report(page: Page, service: Program) -> None:
    page.goto(f"{service.url}/ui#evaluate")
    row = page.locator(".runs tbody tr")
    expect(row).to_have_count(5)
    expect(row.filter(has_text="after").first).to_contain_text("0.750")
    expect(row.filter(has_text="after").first).to_contain_text("questions.jsonl40")
    expect(row.filter(has_text="unreported")).to_contain_text("python -m eval report FOLDER/unreported")
    expect(row.filter(has_text="damaged")).to_contain_text("run.json is not what an evaluation writes")

    page.locator(".history select").select_option("word_recall")
    expect(page.get_by_role("img", name="word_recall in 3 runs, from 0.500 to 0.600")).to_be_visible()
    changes = page.locator(".history tbody tr")
    expect(changes.nth(1)).to_contain_text("+0.250")
    page.locator(".history select").select_option(XSS)
    expect(changes.nth(1)).to_contain_text("39/40")

    page.get_by_role("link", name="Open the report of before").press("Enter")
    expect(page.get_by_role("heading", name="Report of before")).to_be_focused()
    expect(page.frame_locator("iframe").locator("h1")).to_have_text("Before")
    expect(page.locator("iframe")).to_have_attribute("sandbox", "allow-scripts")
    page.get_by_role("link", name="Close").click()
    expect(page.locator("iframe")).to_have_count(0)
    assert page.locator("#app img:not([src='ui/static/icon.svg']), #app script").count() == 0


def test_a_report_s_scripts_run_out_of_reach_of_the_service(browser: Browser, service: Program) -> None:
    context = browser.new_context(locale="en-GB", reduced_motion="reduce")  # its console notes what is refused
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    page.goto(f"{service.url}/ui#evaluate?run=after")
    said = "script ran, parent out of reach, no storage, no connection"
    expect(page.frame_locator("iframe").locator("h1")).to_have_text(said)
    assert page.title() == "Treeline"
    page.goto(f"{service.url}/runs/after/report")
    expect(page.locator("h1")).to_contain_text("no storage, no connection")
    context.close()


def test_a_real_report_works_in_its_frame(page: Page, service: Program, home: tuple[Path, dict[str, str]]) -> None:
    folder = home[0] / "runs" / "real"
    (home[0] / "two.jsonl").write_text(
        json.dumps({"id": "a", "question": "What is a heat pump?", "answer": "A device that moves heat"}) + "\n"
    )
    variables = {**home[1], "RAG_SERVE__RUNS": ""}
    asked = run(
        ["-m", "eval", "run", str(home[0] / "two.jsonl"), "--url", service.url, "--out", str(folder)],
        variables,
        home[0],
    )
    assert asked.returncode == 0, asked.stderr
    assert run(["-m", "eval", "report", str(folder)], variables, home[0]).returncode == 0
    page.goto(f"{service.url}/ui#evaluate?run=real")

    frame = page.frame_locator("iframe")
    expect(frame.locator("h1")).to_have_text("real")
    frame.get_by_role("link", name="Questions", exact=True).click()
    expect(page.locator(".runs tr", has_text="real")).to_contain_text("two.jsonl1")


def test_a_service_without_runs_names_the_setting_and_one_with_a_title_and_a_pipeline_shows_them(
    browser: Browser, home: tuple[Path, dict[str, str]]
) -> None:
    folder, settings = home
    own = {name: value for name, value in settings.items() if name != "RAG_SERVE__RUNS"}
    own |= {"APP_TITLE": "My library", "APP_DEFAULT_PIPELINE": json.dumps({"1": SOURCE, "2": {"id": "word_counter"}})}
    own |= {"APP_SUBTITLE": "Of wind", "COLOR_THEME": "dark", "APP_ABOUT_LINK_URL": "https://library.example/"}
    with Program(
        [MAIN], {**own, "RAG_INDEX__DIR": str(folder / "other"), "RAG_PIPELINES__DIR": str(folder / "others")}, folder
    ) as program:
        context = browser.new_context(locale="en-GB")
        page = context.new_page()
        page.goto(f"{program.url}/ui#evaluate")
        expect(page.get_by_text("RAG_SERVE__RUNS")).to_be_visible()
        expect(page).to_have_title("My library")
        expect(page.get_by_role("link", name="My library Of wind")).to_be_visible()
        expect(page.get_by_role("link", name="About")).to_have_attribute("href", "https://library.example/")
        assert page.evaluate("document.documentElement.dataset.theme") == "dark"
        page.goto(f"{program.url}/ui#pipelines")
        expect(cards(page)).to_have_count(2)
        page.get_by_role("button", name="Clear").click()
        expect(cards(page)).to_have_count(0)
        page.reload()
        expect(page.get_by_text("No steps yet.")).to_be_visible()
        context.close()


def test_both_views_speak_german(page: Page, service: Program) -> None:
    page.goto(f"{service.url}/ui#pipelines")
    page.get_by_role("button", name="Deutsch").click()

    expect(page.get_by_role("button", name="Markieren und zusammenfassen")).to_be_visible()
    expect(page.get_by_role("button", name="Schritt hinzufügen")).to_be_visible()
    page.get_by_role("link", name="Auswerten").click()
    expect(page.get_by_role("heading", name="Eine Metrik über die Läufe")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1300, 2000])
def test_axe_finds_nothing(browser: Browser, service: Program, scheme: Literal["light", "dark"], width: int) -> None:
    page = new_page(browser, width, scheme)
    found = []

    def check() -> None:
        found.extend(violations(page))
        assert page.evaluate("document.documentElement.scrollWidth") <= width

    opened(page, service)
    check()
    page.get_by_role("button", name="Rank twice").click()
    expect(page.locator(".facts", has_text="2 TF-IDF-Reranker")).to_be_visible()
    ran(page)
    for summary in page.locator(".card summary, .shelf > summary, .log summary").all():
        summary.click()
    expect(page.locator(".step-table")).to_be_visible()
    check()
    page.get_by_role("button", name="Rankings", exact=True).click()
    page.wait_for_selector(".slopes")
    check()
    opened(page, service, steps_of(SOURCE, {"id": "broken"}))
    page.get_by_role("button", name="Run", exact=True).click()
    expect(cards(page).nth(1).get_by_role("alert")).to_be_visible()
    check()
    page.goto(f"{service.url}/ui#evaluate?run=before")
    expect(page.locator(".chart")).to_be_visible()
    check()
    page.context.close()

    assert found == []
