"""Documents beside an answer, in a real browser: pages of PDF files, other formats, long texts, large outlines.

The files are ingested; what is large comes from replies that the test puts in the service's place, since the page
draws them in the same way. No test measures time.
"""

import json
import re
from collections.abc import Iterator
from email.message import EmailMessage
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.e2e.browser import CHROMIUM, opened, violations
from tests.e2e.conftest import MAIN
from tests.e2e.program import Program
from tests.fakes.pdfs import make_pdf
from tests.zoo.archives import make_zip
from tests.zoo.office import make_pptx, make_xlsx, shape, sheet_data

pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="Debian's chromium is not installed")]

FILLING = "\n".join(f"This is line {n} of an introduction that says nothing." for n in range(40))
TOWER = make_pdf(
    f"The tower of Brakstad\n{FILLING}",
    f"{FILLING}\nThe tower of Brakstad was built by Solveig Aune in 1887.",
    "Nothing stands on the last page.",
    title="The tower of Brakstad",
)
BRIDGE = make_pdf("The bridge of Fossheim\nThe bridge of Fossheim carries two tracks and a footpath.", title="A bridge")
TOWER_QUESTION = "Who built the tower of Brakstad?"
BRIDGE_QUESTION = "What does the bridge of Fossheim carry?"

ROWS = [f"| Machine {n} | {7 * n} |" for n in range(60_000)]
TABLE = "# Machines\n\n## All of them\n\n| Machine | Price |\n|---|---|\n" + "\n".join(ROWS)
ROW = ROWS[30_000]

TIDES = """Tides of Brakstad
=================

Spring tides
------------

Spring tides of Brakstad come after the full moon and the new moon.
"""
NOTEBOOK = {
    "cells": [
        {
            "cell_type": "markdown",
            "source": ["# Yield of Fossheim\n", "\n", "Irradiance predicts the yield of Fossheim."],
        },
        {"cell_type": "code", "source": ["print(1)"], "outputs": []},
    ],
    "metadata": {},
    "nbformat": 4,
}


def a_mail() -> bytes:
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "Ada <ada@example.org>", "Bo <bo@example.org>", "Boiler of Skarvik"
    mail.set_content("Hello Bo,\n\nThe boiler of Skarvik was delivered by the ferry on Friday.\n")
    report = b"# Warranty\n\nThe warranty of the Skarvik boiler lasts seven years.\n"
    mail.add_attachment(report, maintype="text", subtype="markdown", filename="warranty.md")
    return mail.as_bytes()


FILES = {
    "papers.zip": make_zip({"notes/tides.rst": TIDES}),
    "yield.ipynb": json.dumps(NOTEBOOK).encode(),
    "boiler.eml": a_mail(),
    "boats.xlsx": make_xlsx({"Fleet": sheet_data([["Boat", "Seats"], ["Gannet", 14], ["Tern", 6]], bold_rows=[0])}),
    "talk.pptx": make_pptx([shape("The lighthouse of Utvaer was lit by whale oil.")]),
}
PLACES = [
    ("When do spring tides of Brakstad come?", "after the full moon"),
    ("What predicts the yield of Fossheim?", "Irradiance predicts"),
    ("Who delivered the boiler of Skarvik?", "by the ferry"),
    ("How long does the warranty of the Skarvik boiler last?", "seven"),
    ("How many seats does the boat Gannet have?", "14"),
    ("What was the lighthouse of Utvaer lit by?", "whale oil"),
]


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the ingested files."""
    folder = tmp_path_factory.mktemp("documents") / "sources"
    folder.mkdir()
    (folder / "tower.pdf").write_bytes(TOWER)
    (folder / "bridge.pdf").write_bytes(BRIDGE)
    for name, data in FILES.items():
        (folder / name).write_bytes(data)
    return folder


@pytest.fixture(scope="module")
def service(sources: Path, model_cache: Path) -> Iterator[Program]:
    folder = sources.parent
    settings = {
        "RAG_INDEX__DIR": str(folder / "index"),
        "RAG_EMBED__CACHE_DIR": str(model_cache),
        "RAG_SERVE__PORT": "0",
        "RAG_SERVE__ORIGINALS": "true",
    }
    with Program([MAIN, "--ingest", str(sources)], settings, folder) as program:
        yield program


def cited(page: Page, service: Program, question: str) -> None:
    """Ask, and open the first source of the answer."""
    page.goto(f"{service.url}/ui")
    page.fill("#question", question)
    page.keyboard.press("Enter")
    page.wait_for_selector(".exchange .by")
    page.locator("button.cite").first.click()


@pytest.mark.parametrize(("question", "words"), PLACES)
def test_each_format_opens_at_the_cited_place(page: Page, service: Program, question: str, words: str) -> None:
    cited(page, service, question)

    mark = page.locator(".evidence mark.cited").filter(has_text=words)
    expect(mark.first).to_be_in_viewport()


def test_a_cited_pdf_opens_at_its_page_with_the_words_marked(page: Page, service: Program) -> None:
    cited(page, service, TOWER_QUESTION)

    spot = page.locator(".evidence .spot.said")
    expect(spot).to_have_count(1)
    expect(spot).to_be_in_viewport()
    expect(page.locator(".turner")).to_contain_text("Page 2 of 3")
    sheet, box = page.locator(".sheet img").bounding_box(), spot.bounding_box()
    assert sheet is not None
    assert box is not None
    # The line stands 40 lines of 16 points below the first, which is drawn 62 points below the upper edge of the page.
    assert 0.81 < (box["y"] - sheet["y"]) / sheet["height"] < 0.85
    expect(page.locator(".sheet .hidden mark")).to_have_text("The tower of Brakstad was built by Solveig Aune in 1887.")
    expect(page.locator(".sheet img")).to_have_js_property("complete", value=True)
    assert page.locator(".sheet img").evaluate("(image) => image.naturalWidth") >= 800


def test_pages_are_turned_and_the_cited_one_is_found_again(page: Page, service: Program) -> None:
    cited(page, service, TOWER_QUESTION)
    page.get_by_role("button", name="Next page").click()

    expect(page.locator(".turner")).to_contain_text("Page 3 of 3")
    expect(page.locator(".sheet .hidden")).to_contain_text("Nothing stands on the last page.")
    expect(page.get_by_role("button", name="Next page")).to_be_disabled()
    expect(page.locator(".spot")).to_have_count(0)
    page.get_by_role("button", name="Cited page").click()
    expect(page.locator(".spot.said")).to_be_in_viewport()
    narrow = page.locator(".sheet").bounding_box()
    page.get_by_label("Size").select_option("2")
    wide = page.locator(".sheet").bounding_box()
    assert narrow is not None
    assert wide is not None
    assert wide["width"] > 1.9 * narrow["width"]
    page.get_by_role("button", name=re.compile("^Leaf")).click()
    expect(page.locator(".spot.around").first).to_be_attached()


def test_the_text_of_a_pdf_is_a_button_away(page: Page, service: Program) -> None:
    cited(page, service, TOWER_QUESTION)
    page.get_by_role("button", name="Text", exact=True).click()

    expect(page.locator(".evidence mark.cited")).to_contain_text("Solveig Aune")
    expect(page.locator(".evidence mark.cited")).to_be_in_viewport()
    page.get_by_role("button", name="Pages", exact=True).click()
    expect(page.locator(".spot.said")).to_be_in_viewport()


@pytest.mark.parametrize(("theme", "width"), [("light", 390), ("dark", 1300)])
def test_no_page_breaks_an_accessibility_rule(
    width: int, theme: Literal["light", "dark"], browser: Browser, service: Program
) -> None:
    page = opened(browser, width, theme)
    cited(page, service, TOWER_QUESTION)
    expect(page.locator(".spot.said")).to_be_in_viewport()

    found = violations(page)
    overflow = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    page.context.close()

    assert found == []
    assert overflow <= 0


def test_the_file_that_was_read_is_a_link_away(page: Page, service: Program) -> None:
    cited(page, service, TOWER_QUESTION)

    address = page.get_by_role("link", name="Original file").evaluate("link => link.href")
    reply = page.request.get(address)

    assert reply.body() == TOWER
    assert reply.headers["content-disposition"].startswith("attachment;")


def test_pages_that_ocr_read_are_marked(browser: Browser, service: Program) -> None:
    page = opened(browser)

    def scanned(route: Route) -> None:
        found = route.fetch().json() | {"metadata": {"ocr_pages": "2"}, "ocr": {"pages": [2], "confidence": 0.912}}
        route.fulfill(json=found)

    page.route("**/documents/tower.pdf?*", scanned)
    cited(page, service, TOWER_QUESTION)

    expect(page.locator(".evidence .note")).to_contain_text(": 2 (91 %)")
    expect(page.locator(".sheet .read")).to_have_text("OCR")
    page.get_by_role("button", name="Previous page").click()
    expect(page.locator(".sheet .read")).to_have_count(0)
    page.context.close()


def test_a_pdf_that_changed_since_it_was_read_opens_as_text_and_says_why(
    browser: Browser, service: Program, sources: Path
) -> None:
    (sources / "bridge.pdf").write_bytes(make_pdf("Another bridge"))
    page = opened(browser)
    cited(page, service, BRIDGE_QUESTION)

    expect(page.locator(".evidence .note")).to_contain_text("The file has changed since it was read.")
    expect(page.locator(".evidence mark.cited")).to_contain_text("carries two tracks")
    expect(page.get_by_role("button", name="Pages", exact=True)).to_be_disabled()
    page.context.close()


def a_passage(start: int, end: int, rank: int) -> dict[str, Any]:
    """Return what `/retrieve` says of a passage that is one leaf."""
    leaf = {"start": start, "end": end, "score": 1 / rank}
    return {
        "node_id": f"0a.{rank}", "chunk_id": f"big.md#{rank}", "doc_id": "big.md", "title": "Machines", "level": "leaf",
        "start": start, "end": end, "score": 1 / rank, "scores": {}, "text": TABLE[start:end], "url": None, "pages": [],
        "explanation": {"leaves": [leaf], "merged": None},
    }  # fmt: skip


def searched(page: Page, service: Program, nodes: list[list[int]], passages: list[dict[str, Any]]) -> None:
    """Search, where the service finds these passages of one document with these nodes."""
    document: dict[str, Any] = {
        "corpus": "default", "doc_id": "big.md", "title": "Machines", "url": None, "pages": [], "metadata": {},
        "span": None, "notice": None, "text": TABLE, "content_type": "markdown", "nodes": nodes,
    }  # fmt: skip
    found = {"passages": passages, "left_out": [], "timings_ms": {"retrieve": 1}, "warnings": [], "retrieval_id": None}
    page.route("**/retrieve", lambda route: route.fulfill(json=found))
    page.route("**/documents/big.md?*", lambda route: route.fulfill(json=document))
    page.goto(f"{service.url}/ui#retrieve?q=machine")
    page.wait_for_selector(".outline .box.hit")


def test_a_place_in_the_middle_of_a_table_of_a_million_characters_opens_in_that_table(
    page: Page, service: Program
) -> None:
    assert len(TABLE) > 1_200_000
    start = TABLE.index(ROW)
    leaf = [start, start + len(ROW)]
    searched(
        page, service, [[0, 0, len(TABLE), -1], [1, 0, len(TABLE), 0], [2, *leaf, 1]], [a_passage(leaf[0], leaf[1], 1)]
    )
    page.locator(".box.hit").click()

    mark = page.locator(".evidence td mark.cited").first
    expect(mark).to_have_text("Machine 30000")
    expect(mark).to_be_in_viewport()
    expect(page.locator(".evidence thead").first).to_contain_text("Price")
    expect(page.locator(".evidence .crumbs")).to_contain_text("All of them")
    assert page.locator(".evidence td").count() < 6_000
    expect(page.locator(".evidence .document")).not_to_contain_text("| Machine")

    pane = page.locator(".evidence")
    before = page.locator(".evidence td").count()
    pane.evaluate("pane => pane.scrollTo(0, pane.scrollHeight)")
    expect(page.locator(".evidence td").nth(before)).to_be_attached()
    before = page.locator(".evidence td").count()
    pane.evaluate("pane => pane.scrollTo(0, 300)")
    expect(page.locator(".evidence td").nth(before)).to_be_attached()
    # What was in view stays there while more is drawn above it.
    assert pane.evaluate("pane => pane.scrollTop") > 3_000
    expect(page.locator(".evidence .document")).not_to_contain_text("| Machine")


def test_an_outline_of_5000_nodes_scrolls_and_draws_what_is_in_view(page: Page, service: Program) -> None:
    step = len(TABLE) // 4_000
    nodes = [[0, n * 40 * step, (n + 1) * 40 * step, -1] for n in range(100)]
    nodes += [[1, n * 4 * step, (n + 1) * 4 * step, n // 10] for n in range(1_000)]
    nodes += [[2, n * step, (n + 1) * step, 100 + n // 4] for n in range(4_000)]
    assert len(nodes) > 5_000
    passages = [a_passage(n * step, (n + 1) * step, rank) for rank, n in enumerate([3_900, *range(5, 4_000, 40)], 1)]
    searched(page, service, nodes, passages)

    # The best one is in view first; far ones are not drawn.
    expect(page.get_by_role("button", name=re.compile("^Read 1, "))).to_be_in_viewport()
    assert page.locator(".box").count() < 1_000
    expect(page.get_by_role("button", name=re.compile("^Read 2, "))).to_have_count(0)
    page.locator(".levels-of-document").evaluate("outline => outline.scrollTo(0, 0)")
    expect(page.get_by_role("button", name=re.compile("^Read 2, "))).to_be_in_viewport()
    assert page.locator(".box").count() < 1_000
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
