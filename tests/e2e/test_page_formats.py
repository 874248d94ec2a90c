"""Documents of many formats in a real browser: each opens at the cited place, with the cited words marked."""

import json
from collections.abc import Iterator
from email.message import EmailMessage
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.browser import CHROMIUM
from tests.e2e.conftest import MAIN
from tests.e2e.program import Program, run
from tests.zoo.archives import make_zip
from tests.zoo.office import make_pptx, make_xlsx, shape, sheet_data

pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="Debian's chromium is not installed")]

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
def service(tmp_path_factory: pytest.TempPathFactory, model_cache: Path) -> Iterator[Program]:
    folder = tmp_path_factory.mktemp("formats")
    (folder / "sources").mkdir()
    for name, data in FILES.items():
        (folder / "sources" / name).write_bytes(data)
    settings = {
        "RAG_INDEX__DIR": str(folder / "index"),
        "RAG_EMBED__CACHE_DIR": str(model_cache),
        "RAG_SERVE__PORT": "0",
    }
    done = run(["-m", "ingestion", str(folder / "sources")], settings, folder)
    assert done.returncode == 0, done.stderr
    with Program([MAIN], settings, folder) as program:
        yield program


@pytest.mark.parametrize(("question", "words"), PLACES)
def test_each_format_opens_at_the_cited_place(page: Page, service: Program, question: str, words: str) -> None:
    page.goto(f"{service.url}/ui")
    page.fill("#question", question)
    page.keyboard.press("Enter")
    page.wait_for_selector(".exchange .by")
    page.locator("button.cite").first.click()

    mark = page.locator(".evidence mark.cited").filter(has_text=words)
    expect(mark.first).to_be_in_viewport()
