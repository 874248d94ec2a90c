from typing import Any

import pytest

from tests.fakes.answers import KnowingEngine, quoted
from tests.fakes.corpora import stored
from tests.fakes.http import client_of

ROUTE = "/agent/research"
ANSWERS = {
    "wind": quoted(("wind.md", "A permit is required for a turbine.")),
    "Wind: How wind works": quoted(("sun.md", "A permit is optional for a turbine.")),
}


def researched(engine: KnowingEngine | None = None, **body: Any) -> dict[str, Any]:
    reply = client_of(engine or KnowingEngine(ANSWERS)).post(ROUTE, json={"topic": "wind", **body})
    assert reply.status_code == 200, reply.text
    found: dict[str, Any] = reply.json()
    return found


@pytest.mark.promise("E20")
def test_the_reply_has_every_field_that_clients_of_bedrock_rag_eval_read() -> None:
    found = researched(max_subquestions=3)

    fields = ("topic", "subquestions", "findings", "gaps", "final_summary", "stats", "possible_conflicts")
    assert set(fields) <= found.keys()
    assert found["topic"] == "wind"
    assert found["subquestions"] == [
        "wind",
        "How wind works",
        "Advantages of wind",
    ]
    first, second, third = found["findings"]
    assert first["citations"][0]["url"].startswith("http://testserver/documents/wind.md?corpus=default")
    del first["citations"]
    assert first == {
        "subquestion": "wind",
        "status": "answered",
        "attempts": 1,
        "answer": "A permit is required for a turbine. [1]",
        "contexts": [],
        "confidence": 0.4,
        "citation_count": 1,
        "unique_docs": 1,
        "retried_subquestion": None,
        "retry_resolved": False,
    }
    assert (second["status"], second["attempts"], second["retried_subquestion"], second["retry_resolved"]) == (
        "answered_after_retry",
        2,
        "Wind: How wind works",
        True,
    )
    assert (third["status"], third["answer"], third["citations"], third["retry_resolved"]) == ("gap", None, [], False)
    assert found["gaps"] == [{"subquestion": third["subquestion"], "reason": "The passages found do not answer this."}]
    assert found["stats"] == {
        "answered_count": 1,
        "answered_after_retry_count": 1,
        "gap_count": 1,
        "avg_confidence": 0.2667,
    }


def test_the_numbers_of_the_summary_are_those_of_the_findings() -> None:
    found = researched(max_subquestions=3)

    assert found["final_summary"].startswith(
        "A permit is required for a turbine. [1] A permit is optional for a turbine. [2] Not answered"
    )
    assert [one["number"] for one in found["citations"]] == [1, 2]


def test_statements_that_may_contradict_each_other_come_with_their_citations() -> None:
    (conflict,) = researched(max_subquestions=3)["possible_conflicts"]

    assert conflict["opposition"] == ["required", "optional"]
    assert [one["citations"][0]["doc_id"] for one in conflict["statements"]] == ["wind.md", "sun.md"]
    assert conflict["statements"][0]["sentence"] == "A permit is required for a turbine."


def test_contexts_come_only_when_they_are_wanted() -> None:
    with_contexts = researched(include_context=True)["findings"][0]["contexts"]

    assert [one["text"] for one in with_contexts] == ["A permit is required for a turbine."]
    assert {"doc_id", "chunk_id", "score", "text"} < with_contexts[0].keys()


@pytest.mark.promise("E31")
def test_five_sub_questions_are_asked_by_default_and_eight_at_most() -> None:
    assert len(researched()["subquestions"]) == 5
    assert len(researched(max_subquestions=8)["subquestions"]) == 8


def test_an_unknown_corpus_is_the_clients_mistake_and_a_missing_default_one_is_told() -> None:
    client = client_of(KnowingEngine(ANSWERS))
    assert client.post(ROUTE, json={"topic": "wind", "corpus": "other"}).status_code == 404

    found = client_of().post(ROUTE, json={"topic": "wind"}).json()
    assert found["findings"] == []
    assert "no documents yet" in found["final_summary"]


def test_the_headings_of_the_documents_are_the_sub_questions() -> None:
    engine = KnowingEngine({}, stored("dam.md", "# Dams\n\nA dam is a wall.\n\n## Costs\n\nMillions.", title="Dams"))

    assert researched(engine, topic="dams")["subquestions"][:2] == ["dams", "Dams: Costs"]
