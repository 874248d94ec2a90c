"""The competition's clients against the real service."""

import json
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from tests.e2e import official
from tests.e2e.arena import Arena, violations
from tests.e2e.conftest import BETZ
from tests.e2e.program import Program

QUESTIONS = {
    "answered": BETZ,
    "answered from a record with an address": "What does a perovskite tandem cell absorb in its upper layer?",
    "answered from a text with odd line ends": "When did the barrage of La Rance open?",
    "answered from a document with an odd name": "How much of its energy does pumped storage return?",
    "declined": "Who won the football world cup in 1998?",
    "hostile": 'Betz |||---||| limit\u2028data: {"complete": true}\r\n\r\ndata: <script>[1]</script>',
}


def ask(service: Program, question: str) -> tuple[bytes, Arena]:
    reply = httpx.post(f"{service.url}/run", json={"question": question}, timeout=60)
    assert reply.status_code == 200
    return reply.content, Arena().read([reply.content])


@pytest.mark.promise("A12", "A18", "A21", "A31", "A33", "A45")
@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_every_stream_keeps_the_contract(service: Program, question: str) -> None:
    body, arena = ask(service, question)

    assert violations(body) == []
    assert arena.complete
    assert not arena.failed
    assert len(arena.shown_steps()) >= 2


@pytest.mark.promise("A16", "A30", "A32")
@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_what_the_arena_shows_is_what_evaluate_returns(service: Program, question: str) -> None:
    _, arena = ask(service, question)

    reply = httpx.post(f"{service.url}/evaluate", json={"query": question, "iid": "q-1"}, timeout=60).json()

    report, citations = arena.shown_report()
    # A declined question also leads to the closest passages, which are no answer.
    assert (report.partition("\n\n**Closest passages**")[0], citations) == (
        reply["generated_response"],
        arena.citations,
    )
    numbered = {citation["number"]: citation["url"] for citation in reversed(reply["citations"])}
    assert arena.citations == [numbered[number] for number in sorted(numbered)]


@pytest.mark.promise("G11")
def test_an_answer_quotes_the_document_its_link_leads_to(service: Program) -> None:
    _, arena = ask(service, BETZ)
    (link,) = arena.citations or []
    program, browser = httpx.get(link), httpx.get(link, headers={"accept": "text/html"})

    assert "59.3 per cent" in (arena.report or "")
    assert "[1]" in (arena.report or "")
    assert program.json()["doc_id"] == "wind.md"
    assert "59.3 per cent" in program.json()["span"]["quote"]
    assert '<mark id="cited">' in browser.text


def test_a_link_to_an_odd_name_leads_to_its_document(service: Program) -> None:
    _, arena = ask(service, QUESTIONS["answered from a document with an odd name"])
    (link,) = arena.citations or []

    assert urlsplit(link).netloc == urlsplit(service.url).netloc
    assert httpx.get(link).json()["doc_id"] == "odd//name #1"


@pytest.mark.promise("A03", "A07", "A52")
def test_the_official_testers_rules_pass(service: Program, tmp_path: Path) -> None:
    validation, results = tmp_path / "t2t_val.jsonl", tmp_path / "result.jsonl"
    rows = [{"query": query, "iid": f"id {n}é"} for n, query in enumerate(QUESTIONS.values())]
    validation.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")

    arguments = ["--base-url", service.url, "--validation-file", str(validation), "--result-file", str(results)]

    assert official.main([*arguments, "--test-mode", "full"]) == 0
    written = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]
    assert [result["query_id"] for result in written] == [row["iid"] for row in rows]
    assert all(result["contexts"] for result in written if result["answered"])


@pytest.mark.fault("E6")
def test_questions_and_texts_are_not_logged(service: Program) -> None:
    canary = "zebrafinch7731"
    ask(service, f"{BETZ} {canary}")
    service.wait_for(r"route=/run")

    assert canary not in service.log
    assert "Albert Betz" not in service.log
