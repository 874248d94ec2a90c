"""What the documents of client programs send, exactly as written there, against the real program."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.conftest import MAIN
from tests.e2e.program import REPOSITORY, Program, environment, run

TIMEOUT_S = 60
SCRIPTS = REPOSITORY / "scripts"

# bedrock-rag-eval and ASK-xDD: one service, whose working directory holds the folders that their documents name.

GUIDES = {
    "overview.md": "# Amazon Bedrock\n\nAmazon Bedrock is a managed service that offers foundation models of several "
    "companies through one interface. It bills by the number of tokens that a model reads and writes.\n",
    "knowledge/bases.txt": "Knowledge Bases\n\nAmazon Bedrock Knowledge Bases connect foundation models to the "
    "documents of a company. Documents are split into chunks, and each chunk is stored as a vector.\n",
    "agents.html": "<html><head><title>Agents</title></head><body><h1>Agents</h1><p>Agents of Amazon Bedrock call the "
    "interfaces of other systems in several steps, until the task of the user is done.</p></body></html>",
}
QUESTIONS: list[dict[str, Any]] = [
    {
        "question": "What is Amazon Bedrock?",
        "ground_truth_answer": "A managed service that offers foundation models through one interface.",
        "ground_truth_context": GUIDES["overview.md"],
        "category": "factual",
    },
    {
        "question": "How do I get a red wine stain out of a tablecloth?",
        "ground_truth_answer": None,
        "ground_truth_context": None,
        "category": "no_answer",
    },
]
MODEL_PAPER, TRIAL_PAPER = "5e7b1f2a98f3bd0a7c4d1e01", "5e7b1f2a98f3bd0a7c4d1e02"
MODEL = "The SIDARTHE model of the epidemic has eight stages of infection. " + " ".join(
    f"In week {week} the number of patients in hospital {number} was compared with what the model had predicted for it."
    for number, week in enumerate(range(1, 41), 100)
)
TRIAL = "Two doses of the vaccine protected most people against a severe course of the disease in this trial."


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the working directory of the service."""
    desk = tmp_path_factory.mktemp("desk")
    texts = {
        **{f"data/corpus_raw/{name}": text for name, text in GUIDES.items()},
        "data/eval/eval_dataset.jsonl": "".join(json.dumps(question) + "\n" for question in QUESTIONS),
        f"papers/{MODEL_PAPER}.txt": MODEL,
        f"data/debug_data/paragraph_test/{TRIAL_PAPER}.txt": TRIAL,
    }
    for name, text in texts.items():
        (desk / name).parent.mkdir(parents=True, exist_ok=True)
        (desk / name).write_text(text, encoding="utf-8")
    return desk


@pytest.fixture(scope="module")
def settings(model_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    index = tmp_path_factory.mktemp("index")
    return {"RAG_INDEX__DIR": str(index), "RAG_EMBED__CACHE_DIR": str(model_cache), "RAG_SERVE__PORT": "0"}


@pytest.fixture(scope="module")
def at_desk(desk: Path, settings: dict[str, str]) -> Iterator[httpx.Client]:
    """Return a client of the service; its papers came by ASK-xDD's command."""
    script = str(SCRIPTS / "ingest_docs.py")
    for folder, topic in (("data/debug_data/paragraph_test", "covid-19"), ("papers", "covid")):
        named = ["--input-dir", folder, "--topic", topic, "--doc-type", "paragraph"]
        named += ["--weaviate-url", "url_to_weaviate"]
        done = run([script, *named], settings, desk)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["new"] == 1
        assert "--weaviate-url is not used" in done.stderr
    with (
        Program([MAIN, "--ingest", "data/corpus_raw"], settings, desk) as program,
        httpx.Client(base_url=program.url, timeout=TIMEOUT_S) as client,
    ):
        yield client


def answered(client: httpx.Client, path: str, body: str) -> Any:
    """Send a body as it is written, and return the reply's."""
    reply = client.post(
        path, content=body, headers={"Content-Type": "application/json", "Api-Key": "insert_api_key_here"}
    )
    assert reply.status_code == 200, reply.text
    return reply.json()


# bedrock-rag-eval


def test_bedrock_ingest(at_desk: httpx.Client) -> None:
    found = answered(at_desk, "/ingest", '{"path":"data/corpus_raw"}')

    assert (found["docs_total"], found["docs_ok"], found["docs_failed"], found["errors"]) == (3, 3, 0, [])
    assert found["chunks_total"] > found["chunks_indexed"] == 0  # the start brought the same files in
    assert found["duration_sec"] >= 0


def test_bedrock_query(at_desk: httpx.Client) -> None:
    found = answered(at_desk, "/query", '{"question":"What is Amazon Bedrock?","top_k":4,"include_context":true}')

    assert "managed service" in found["answer"]
    assert {"doc_id": "overview.md", "chunk_id": "overview.md#00000"}.items() <= found["citations"][0].items()
    for passage in found["retrieved"]:
        assert passage["chunk_id"] == f"{passage['doc_id']}#{passage['chunk_index']:05d}"
        assert passage["source_path"] == passage["doc_id"]
        assert {"score", "text", "metadata"} < passage.keys()
    kinds = {passage["doc_id"]: passage["content_type"] for passage in found["retrieved"]}
    assert kinds["overview.md"] == "markdown"


def test_bedrock_no_answer(at_desk: httpx.Client) -> None:
    found = answered(at_desk, "/query", json.dumps({"question": QUESTIONS[1]["question"]}))

    assert {"answer": None, "citations": []}.items() <= found.items()


def test_bedrock_agent_research(at_desk: httpx.Client) -> None:
    body = """{
  "topic": "Amazon Bedrock Knowledge Bases",
  "max_subquestions": 5,
  "include_context": true
}"""
    found = answered(at_desk, "/agent/research", body)

    assert found["topic"] == "Amazon Bedrock Knowledge Bases"
    assert len(found["subquestions"]) == len(found["findings"]) <= 5
    named = "subquestion answer citations status contexts attempts retried_subquestion retry_resolved confidence"
    assert all({*named.split(), "citation_count", "unique_docs"} <= finding.keys() for finding in found["findings"])
    assert found["stats"].keys() == {"answered_count", "answered_after_retry_count", "gap_count", "avg_confidence"}
    assert {"gaps", "final_summary", "possible_conflicts"} < found.keys()
    contexts = [passage for finding in found["findings"] for passage in finding["contexts"]]
    assert contexts
    assert all({"source_path", "content_type", "chunk_index"} < passage.keys() for passage in contexts)


def test_bedrock_further_routes(at_desk: httpx.Client) -> None:
    body = '{"question":"What is Amazon Bedrock?","top_k":4,"include_context":true}'
    stream = at_desk.post("/query/stream", content=body, headers={"Content-Type": "application/json"})

    assert stream.text.rstrip().rpartition("event: ")[2].startswith("done")
    assert at_desk.get("/health").json()["status"] == "ok"
    assert at_desk.get("/stats").json()["total_chunks"] >= 3
    assert at_desk.post("/cache/clear").json()["cleared"] >= 0
    assert at_desk.get("/ui").status_code == 200


@pytest.mark.parametrize("name", ["smoke_ingest.sh", "smoke_query.sh", "smoke_agent_research.sh"])
def test_bedrock_smoke_scripts(at_desk: httpx.Client, desk: Path, name: str) -> None:
    given = {"smoke_ingest.sh": "data/corpus_raw"}.get(name, "Amazon Bedrock")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"

    def smoke(url: str) -> subprocess.CompletedProcess[str]:
        variables = environment(BASE_URL=url, PATH=path)
        command = [str(SCRIPTS / name), given]
        return subprocess.run(
            command, env=variables, cwd=desk, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
        )

    done = smoke(str(at_desk.base_url).rstrip("/"))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)
    assert smoke("http://127.0.0.1:9").returncode != 0


def test_bedrock_evaluation(at_desk: httpx.Client, desk: Path, settings: dict[str, str]) -> None:
    url = str(at_desk.base_url).rstrip("/")
    command = ["-m", "eval", "run", "--dataset", "data/eval/eval_dataset.jsonl", "--api-url", url]

    done = run([*command, "--top-k", "4", "--reports", "reports"], settings, desk)
    assert done.returncode == 0, done.stderr
    results = json.loads((desk / "reports" / "eval_results.json").read_text())
    assert results
    assert "What is Amazon Bedrock?" in (desk / "reports" / "per_question_results.csv").read_text()
    assert (desk / "reports" / "eval_report.md").read_text().startswith("#")

    refused = run([*command, "--require-llm"], settings, desk)  # this service has none
    assert refused.returncode == 1
    assert "no language model is set" in refused.stderr


# ASK-xDD

EXAMPLE = """{
    "topic": "covid",
    "question": "What is SIDARTHE model?",
    "top_k": 3
}"""
DEFAULTS = {
    "question": "What is SIDARTHE model?",
    "top_k": 5,
    "distance": None,
    "topic": None,
    "doc_type": None,
    "preprocessor_id": None,
    "article_terms": None,
    "paragraph_terms": None,
    "paper_ids": None,
    "move_to": None,
    "move_to_weight": 0,
    "move_away_from": None,
    "move_away_from_weight": 0,
    "screening_top_k": 100,
}
DOCUMENT = {"paper_id", "doc_type", "text", "distance", "cosmos_object_id", "article_terms", "paragraph_terms"}


@pytest.mark.parametrize("path", ["/vector", "/hybrid"])
def test_xdd_example(at_desk: httpx.Client, path: str) -> None:
    found = answered(at_desk, path, EXAMPLE)

    assert len(found) == 3
    assert {document["paper_id"] for document in found} == {MODEL_PAPER}
    assert all(document.keys() > DOCUMENT for document in found)
    assert "SIDARTHE" in found[0]["paragraph_terms"]
    assert all(100 <= len(document["text"].split()) <= 250 for document in found)
    stamp = found[0]["metadata"]["preprocessor_id"]
    stamped = answered(at_desk, path, json.dumps(json.loads(EXAMPLE) | {"preprocessor_id": stamp}))
    assert [document["text"] for document in stamped] == [document["text"] for document in found]


@pytest.mark.parametrize("path", ["/vector", "/hybrid"])
def test_xdd_documented_defaults(at_desk: httpx.Client, path: str) -> None:
    assert len(answered(at_desk, path, json.dumps(DEFAULTS))) == 5
    other = DEFAULTS | {"question": "How many doses of the vaccine?", "topic": "covid-19", "doc_type": "paragraph"}
    assert [document["paper_id"] for document in answered(at_desk, path, json.dumps(other))] == [TRIAL_PAPER]


def test_xdd_react_example(at_desk: httpx.Client) -> None:
    found = answered(at_desk, "/react", EXAMPLE)

    assert "eight stages" in found["answer"]
    assert all(document.keys() > DOCUMENT for document in found["used_docs"])


def test_xdd_react_documented_defaults(at_desk: httpx.Client) -> None:
    found = answered(at_desk, "/react", json.dumps(DEFAULTS | {"model_name": "gpt-4"}))

    assert "eight stages" in found["answer"]
    assert any("gpt-4" in warning for warning in found["warnings"])
