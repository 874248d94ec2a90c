"""What can be said of the measurement of the page without a browser: what it measures on, and how it tells."""

import json
import shutil
from pathlib import Path

import httpx
import pytest

from api.views.blocks import blocks_of
from bench.__main__ import main
from bench.speed.page import Measured, require_browser
from bench.speed.page_table import table
from bench.speed.page_workload import FACT, LONG_CHARS, OUTLINE_NODES, long_answer, long_document, outline
from bench.speed.scripted_model import scripted_model

MEASURED = Measured(
    [210.4, 180.0, 260.0], [300.0], 301_499, 299_000, 590, [], [412.0], [95.0, 105.0], 5002, [16.7] * 98 + [51.0, 80.4]
)


def test_the_table_sets_each_figure_beside_what_is_asked() -> None:
    rows = table(MEASURED).splitlines()

    assert rows[2:] == [
        "| first paint, ms | ≤ 300 | 210 (180–260) |",
        "| until a question can be typed, ms | – | 300 |",
        "| page weight, transferred, kB | ≤ 400 | 301 |",
        "| page weight, decoded, kB | ≤ 400 | 299 |",
        "| longest task while 590 words stream, ms | ≤ 100 | < 50 |",
        "| a document of 1,200,000 characters opens at its span, ms | ≤ 500 | 412 |",
        "| the same as a page for itself, ms | ≤ 500 | 100 (95–105) |",
        "| frames over 50 ms while an outline of 5,002 nodes scrolls | 0 | 2 of 100, the longest 80 ms |",
    ]


def test_the_long_document_ends_with_what_is_asked_for() -> None:
    text = long_document()

    assert len(text) == LONG_CHARS
    assert text.endswith(f"{FACT}\n")
    assert text.count(FACT) == 1
    assert len(blocks_of(text, None)) > 50


def test_the_outline_is_a_tree_and_something_matches_in_each_section() -> None:
    document, found = outline()
    nodes = document["nodes"]

    assert OUTLINE_NODES <= len(nodes) < OUTLINE_NODES * 1.1
    for level, start, end, parent in nodes:
        assert (level == 0) == (parent < 0)
        assert parent < 0 or nodes[parent][1] <= start < end <= nodes[parent][2]
    assert len(document["text"]) == nodes[-1][2]
    hits = {leaf["start"] for passage in found["passages"] for leaf in passage["explanation"]["leaves"]}
    assert hits == {start for level, start, _, _ in nodes if level == 0}


def test_the_scripted_model_says_its_words_as_a_stream_and_as_a_whole() -> None:
    text = long_answer(60)
    with scripted_model(text, 1e6) as url, httpx.Client(base_url=url, trust_env=False) as client:
        assert client.get("/models").json()["data"][0]["id"] == "scripted"
        whole = client.post("/chat/completions", json={"stream": False}).json()
        lines = client.post("/chat/completions", json={"stream": True}).text.split("\n\n")

    assert whole["choices"][0]["message"]["content"] == text
    chunks = [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: {")]
    assert "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks) == text
    assert lines[-2] == "data: [DONE]"


def test_without_chromium_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RAG_BENCH__DIR", str(tmp_path))
    monkeypatch.setattr(shutil, "which", lambda _: None)

    assert main(["page"]) == 1
    assert "Run `apt-get install chromium`." in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_without_playwright_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.speed.page.find_spec", lambda _: None)

    with pytest.raises(Exception, match=r"Playwright is not installed\. Run `\.venv/bin/pip install"):
        require_browser()
