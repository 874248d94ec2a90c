"""Topics, papers and reports through the real service, with its small corpus and without a language model."""

import json
import re
from typing import Any

import httpx
import pytest

from tests.e2e.arena import violations
from tests.e2e.program import Program


def posted(service: Program, path: str, **body: Any) -> httpx.Response:
    reply = httpx.post(f"{service.url}{path}", json=body, timeout=60)
    assert reply.status_code == 200, reply.text
    return reply


def test_a_topic_is_researched_with_citations_that_lead_to_their_quotes(service: Program) -> None:
    found = posted(service, "/agent/research", topic="the Betz limit", max_subquestions=3).json()

    assert found["stats"]["gap_count"] < 3
    assert "59.3 per cent" in found["final_summary"]
    for citation in found["citations"]:
        document = httpx.get(citation["url"]).json()
        assert document["text"][citation["start"] : citation["end"]] == citation["quote"]
    numbers = {citation["number"] for citation in found["citations"]}
    assert {int(number) for number in re.findall(r"\[(\d+)\]", found["final_summary"])} <= numbers


@pytest.mark.promise("C02")
def test_react_streams_thoughts_documents_and_the_answer(service: Program) -> None:
    lines = posted(service, "/react_streaming", question="Who published the Betz limit?").text.splitlines()
    records = [json.loads(line) for line in lines]

    assert "Albert Betz" in records[-1]["answer"]
    assert any("Albert Betz" in document["text"] for document in records[-2]["used_docs"])
    assert any(record.get("thoughts") for record in records)


def test_a_report_keeps_the_contract_of_run(service: Program) -> None:
    body = posted(service, "/run", question="What do we know about the Betz limit?", form="report").content

    assert violations(body) == []
    assert b"## References" in body
