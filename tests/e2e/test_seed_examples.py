"""What clients of the source documents send, exactly as these write it, and what they are promised to get."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from tests.e2e.arena import Arena, violations
from tests.e2e.conftest import BETZ, MAIN, WIND
from tests.e2e.program import REPOSITORY, Program, environment, preset, run
from tests.servers.mosaic import MosaicServer, hit
from tests.servers.scripted_llm import Script, ScriptedLLM
from tests.servers.scripted_models import ScriptedModels

pytestmark = pytest.mark.slow  # four services, one with models to convert


def model_at(server: ScriptedLLM) -> dict[str, str]:
    """Return the settings of a language model that does what a test says, in place of a preset's own."""
    return {"RAG_LLM__PROVIDER": "openai", "RAG_LLM__MODEL": "scripted", "RAG_LLM__BASE_URL": server.base_url}


# RAG_system: a question, up to five web pages, and `query_time`; the recipe is `presets/crag.env`.

BETZ_SAID = "The German physicist Albert Betz published the limit in 1919."
PAGES = [
    {"url": "https://e.org/betz", "html": f"<html><body><h1>Wind</h1><p>{BETZ_SAID} He was born in 1885.</p></html>"},
    *({"url": f"https://e.org/{n}", "html": f"<p>Page {n} is about tides and barrages.</p>"} for n in range(4)),
]


def relevance(question: str, text: str) -> float:
    """Return a score above the threshold for the year of the limit, and the threshold itself for all else."""
    return 8.5 if "limit" in question and "1919" in text else 7.8


class Crag(NamedTuple):
    """A service with the preset, and its language model."""

    service: Program
    llm: ScriptedLLM

    def ask(self, question: str, says: str) -> dict[str, Any]:
        """Ask about the pages; the model will say `says`."""
        self.llm.requests.clear()
        self.llm.play(Script(text=says))
        body = {"question": question, "pages": PAGES, "query_time": "03/13/2024, 09:27:21 PT", "include_context": True}
        reply = httpx.post(f"{self.service.url}/answer", json=body, timeout=60)
        assert reply.status_code == 200, reply.text
        return dict(reply.json())


@pytest.fixture(scope="module")
def crag(folder: Path, model_cache: Path) -> Iterator[Crag]:
    with ScriptedLLM() as llm, ScriptedModels(scores=relevance) as reranker:
        # A cross-encoder would have to be fetched; a server's scores meet the same threshold.
        scores = {"RAG_RERANK__METHOD": "http", "RAG_RERANK__BASE_URL": reranker.base_url}
        places = {"RAG_INDEX__DIR": "index", "RAG_EMBED__CACHE_DIR": str(model_cache), "RAG_SERVE__PORT": "0"}
        with Program([MAIN], {**places, **scores, **model_at(llm)}, preset("crag", folder)) as service:
            yield Crag(service, llm)


@pytest.mark.promise("B01", "B06", "B08", "B10", "B17")
def test_crag_a_question_is_answered_from_the_chunks_above_the_threshold(crag: Crag) -> None:
    reply = crag.ask("When did Betz publish the limit?", "Albert Betz published the limit in 1919 [1].")

    assert reply["answer"] == "Albert Betz published the limit in 1919 [1]."
    assert [citation["url"] for citation in reply["citations"]] == ["https://e.org/betz"]
    assert reply["contexts"] == [BETZ_SAID]
    (request,) = crag.llm.requests
    assert (request["temperature"], request["top_p"]) == (0.1, 0.9)
    system, *_, asked = request["messages"]
    assert (system["role"], asked["role"]) == ("system", "user")
    assert "at most 50 words" in system["content"]
    assert "<DOC rank=1>" in asked["content"]
    assert BETZ_SAID in asked["content"]
    assert "<DOC rank=2>" not in asked["content"]
    assert "(asked on 03/13/2024, 09:27:21 PT)" in asked["content"]


@pytest.mark.promise("B14")
def test_crag_no_answer_has_more_than_fifty_words(crag: Crag) -> None:
    reply = crag.ask("When did Betz publish the limit?", f"Albert Betz {'published ' * 70}the limit in 1919 [1].")

    assert 40 < len(reply["answer"].split()) <= 50


@pytest.mark.promise("B12")
def test_crag_without_a_valid_chunk_the_model_is_told_so_and_the_reply_is_one_sentence(crag: Crag) -> None:
    for says in ("I don't know.", "Betz was born in 1885."):
        reply = crag.ask("When was Betz born?", says)

        assert "No Reference" in crag.llm.requests[-1]["messages"][-1]["content"]
        assert (reply["answer"], reply["message"], reply["nearest"]) == (None, "I don't know.", [])


@pytest.mark.promise("B16")
def test_crag_what_cannot_be_derived_is_declined_in_one_sentence(crag: Crag) -> None:
    reply = crag.ask("Why is there a limit?", "I don't know.")

    assert len(reply["contexts"]) == 1
    assert reply["message"] == "I don't know."


@pytest.mark.promise("B18")
def test_crag_a_question_about_an_average_is_declined_and_the_model_is_not_asked(crag: Crag) -> None:
    reply = crag.ask("What is the average of the years in which Betz published?", "1919 [1].")

    assert (reply["answer"], reply["message"]) == (None, "I don't know.")
    assert crag.llm.requests == []


# MMU-RAG: the text-to-text track; `presets/mmu.env`.

EVALUATE = {"query": "string", "iid": "string"}
RUN_QUESTIONS = ["string", "What are the latest developments in quantum computing?", "Test question", BETZ]


@pytest.fixture(scope="module")
def mmu(folder: Path, model_cache: Path) -> Iterator[Program]:
    home = preset("mmu", folder)
    (home / "wind.md").write_text(WIND, encoding="utf-8")
    with ScriptedLLM(Script(text="Albert Betz published the limit in 1919 [1].")) as llm:
        places = {"RAG_INDEX__DIR": "index", "RAG_EMBED__CACHE_DIR": str(model_cache), "RAG_SERVE__PORT": "0"}
        with Program([MAIN, "--ingest", str(home / "wind.md")], {**places, **model_at(llm)}, home) as service:
            yield service


@pytest.mark.promise("A01", "A02")
def test_mmu_evaluate_returns_the_id_and_an_answer(mmu: Program) -> None:
    reply = httpx.post(f"{mmu.url}/evaluate", json=EVALUATE, timeout=60).json()

    assert reply["query_id"] == "string"
    assert isinstance(reply["generated_response"], str)
    assert reply["generated_response"].strip()


@pytest.mark.promise("A10", "A11", "A13", "A14", "A15")
@pytest.mark.parametrize("question", RUN_QUESTIONS)
def test_mmu_run_streams_thoughts_then_the_answer_then_its_end(mmu: Program, question: str) -> None:
    reply = httpx.post(f"{mmu.url}/run", json={"question": question}, timeout=60)

    assert reply.status_code == 200
    assert reply.headers["content-type"].startswith("text/event-stream")
    assert violations(reply.content) == []
    lines = [line for line in reply.text.splitlines() if line.startswith("data: ")]
    records = [json.loads(line.removeprefix("data: ")) for line in lines]
    core = {"intermediate_steps", "final_report", "is_intermediate", "complete"}
    assert all(core <= record.keys() <= core | {"citations"} for record in records)
    assert (records[0]["is_intermediate"], records[0]["final_report"], records[0]["complete"]) == (True, None, False)
    assert (records[-1]["is_intermediate"], records[-1]["complete"]) == (False, True)
    assert "|||---|||" in records[-1]["intermediate_steps"]
    assert all(url.startswith("http") for url in records[-1]["citations"])


@pytest.mark.promise("A20")
def test_mmu_an_answer_is_written_by_the_model_and_cites_an_address(mmu: Program) -> None:
    arena = Arena().read([httpx.post(f"{mmu.url}/run", json={"question": BETZ}, timeout=60).content])

    assert (arena.complete, arena.failed) == (True, False)
    assert "Albert Betz published the limit in 1919 [1]." in (arena.report or "")
    assert len(arena.citations or []) == 1


@pytest.mark.promise("A40")
def test_mmu_health_is_what_the_organisers_tester_asks_first(mmu: Program) -> None:
    assert httpx.get(f"{mmu.url}/health").status_code == 200


WAIT_S = 120

# mosaicRAG: tasks of steps over a MOSAIC service, their progress, chats over their results.

STORM = (
    "The wind turbine turns in the storm. Strong wind turns its blades quickly and yields much energy. "
    "Engineers were afraid of the terrible storm. The rotor stops when the wind is too strong."
)
SEA = (
    "At sea the wind is steady all year. A turbine at sea yields more energy than one on land. "
    "Ships carry its parts to the place. Repairs are expensive when the waves are high."
)
SALT = "Salt stores energy as heat. Hot salt drives a turbine at night. The tank is large. It stands beside the tower."
QUERY = "wind energy"
TEXT = {"input_column": "full-text"}
LANGUAGE = {"language_column": "language"}
GEMMA = {"model": "gemma2"}
RERANKED = "_reranking_rank_1_"


@pytest.fixture(scope="module")
def mosaic() -> Iterator[MosaicServer]:
    with MosaicServer({"simplewiki": [hit("1", STORM), hit("2", SEA), hit("3", SALT)]}) as running:
        yield running


@pytest.fixture(scope="module")
def mosaic_client(
    mosaic: MosaicServer, tmp_path_factory: pytest.TempPathFactory, model_cache: Path
) -> Iterator[httpx.Client]:
    folder = tmp_path_factory.mktemp("mosaic")
    settings = {
        "RAG_INDEX__DIR": str(folder / "index"),
        "RAG_PIPELINES__DIR": str(folder / "tasks"),
        "RAG_EMBED__CACHE_DIR": str(model_cache),
        "RAG_SERVE__PORT": "0",
        "RAG_SOURCES__MOSAIC_URL": mosaic.url,
        "APP_TITLE": "My mosaic",
    }
    with Program([MAIN], settings, folder) as program, httpx.Client(base_url=program.url, timeout=WAIT_S) as client:
        yield client


def source(mosaic: MosaicServer, **more: str) -> dict[str, Any]:
    """Return the data source, with its parameters as the documentation names them."""
    parameters = {"output_column": "full-text", "url": mosaic.url, "limit": "10", "search_index": "simplewiki"}
    return {"id": "mosaic_datasource", "parameters": parameters | more}


def pipeline(*steps: dict[str, Any], **beside: Any) -> dict[str, Any]:
    return {"query": QUERY, **beside, **{str(number): step for number, step in enumerate(steps, start=1)}}


def step(step_id: str, **parameters: str) -> dict[str, Any]:
    return {"id": step_id, "parameters": parameters}


def completed(client: httpx.Client, body: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    reply = client.post("/task/run", json=body)
    assert reply.status_code == 200, reply.text
    shown: dict[str, Any] = reply.json()
    assert shown["has_finished"] is True
    assert shown["progress"]["pipeline_error"] == ""
    return shown, json.loads(shown["result"]["data"])


@pytest.mark.promise("D03", "D07", "D08", "D26")
@pytest.mark.parametrize("wrapped", [False, True])
def test_a_task_runs_with_query_parameters_and_numbered_steps(
    mosaic_client: httpx.Client, mosaic: MosaicServer, wrapped: bool
) -> None:
    body = pipeline(source(mosaic), step("word_counter", **TEXT, output_column="words"), parameters={"limit": "10"})

    shown, rows = completed(mosaic_client, {"pipeline": body} if wrapped else body)

    assert [row["words"] for row in rows] == [len(text.split()) for text in (STORM, SEA, SALT)]
    assert shown["result"]["result_description"].startswith("Retrieved 3 documents in ")
    assert {"id": "words", "rank": False, "text": False, "chip": True} in json.loads(shown["result"]["metadata"])
    assert json.loads(shown["result"]["aggregated_data"]) == []


@pytest.mark.promise("D04", "D05", "D06")
def test_a_task_is_enqueued_watched_and_cancelled(mosaic_client: httpx.Client, mosaic: MosaicServer) -> None:
    enqueued = mosaic_client.post("/task/enqueue", json=pipeline(source(mosaic)))
    end_s = time.monotonic() + WAIT_S
    while not (shown := mosaic_client.get(f"/task/progress/{enqueued.text}").json())["has_finished"]:
        assert time.monotonic() < end_s

    assert enqueued.headers["content-type"].startswith("text/plain")
    progress = shown["progress"]
    assert (progress["current_step"], progress["current_step_index"]) == ("MosaicDataSource", "1")
    assert (progress["pipeline_progress"], progress["pipeline_percentage"]) == ("1/1", 1.0)
    assert all(isinstance(line, str) for line in progress["log"])
    assert isinstance(progress["step_output"], dict)
    assert list(progress["step_progress"]) == ["mosaic_datasource"]
    assert all(isinstance(value, str) for value in shown["result"].values())
    cancelled = mosaic_client.get(f"/task/cancel/{enqueued.text}")
    assert (cancelled.text, cancelled.headers["content-type"]) == ("Success", "text/plain; charset=utf-8")


@pytest.mark.promise("D16", "D17", "D20")
def test_every_documented_step_runs_with_its_documented_parameters(
    mosaic_client: httpx.Client, mosaic: MosaicServer
) -> None:
    steps = [
        source(mosaic),
        step("content_extractor", **TEXT, output_column="extracted"),
        step("stopword_removal", **TEXT, output_column="no-stopwords", **LANGUAGE),
        step("punctuation_removal", **TEXT, output_column="no-punctuation", process_query="Yes"),
        step("text_stemmer", **TEXT, output_column="stems", **LANGUAGE),
        step("text_lemmatization", **TEXT, output_column="lemmas", **LANGUAGE),
        step("word_counter", **TEXT, output_column="words"),
        step("basic_sentiment_analysis", **TEXT, output_column="emotion"),
        step("embedding_reranker", **TEXT, query="", model="Snowflake/snowflake-arctic-embed-s"),
        step("tf_idf_reranker", **TEXT, query="salt", similarity_metric="BM25"),
        step("reduction_step", ranking_column=RERANKED, k="2", reset_index="Yes"),
        step("llm_summarizer", **GEMMA, **TEXT, output_column="summary", summarize_prompt="Summarise in one sentence."),
        step("all_results_summarizer", **GEMMA, **TEXT, output_column="Summary"),
    ]

    shown, rows = completed(mosaic_client, pipeline(*steps))

    assert len(rows) == 2
    for name in ("extracted", "no-stopwords", "no-punctuation", "stems", "lemmas", "words", "emotion", "summary"):
        assert rows[0][name] not in {None, ""}
    assert sorted(row[RERANKED] for row in rows) == [1, 2]
    (said,) = json.loads(shown["result"]["aggregated_data"])
    assert (said["title"], said["data"] != "") == ("Summary", True)
    # Neither model is served here: each step says so, and what it did instead.
    told = [warning for warning in shown["progress"]["warnings"] if "is not served" in warning]
    assert [warning.split(":")[0] for warning in told] == [
        "Step 9 (embedding_reranker)",
        "Step 12 (llm_summarizer)",
        "Step 13 (all_results_summarizer)",
    ]


@pytest.mark.promise("D19")
@pytest.mark.parametrize("metric", ["cosine-similarity", "euclidean distance", "manhattan distance", "BM25"])
def test_every_documented_measure_ranks(mosaic_client: httpx.Client, mosaic: MosaicServer, metric: str) -> None:
    ranking = step("tf_idf_reranker", **TEXT, query="salt heat tank", similarity_metric=metric)

    _, rows = completed(mosaic_client, pipeline(source(mosaic), ranking))

    assert rows[0]["full-text"] == SALT


@pytest.mark.promise("D09")
def test_a_chat_is_begun_over_a_column_and_goes_on(mosaic_client: httpx.Client, mosaic: MosaicServer) -> None:
    task_id = mosaic_client.post("/task/enqueue", json=pipeline(source(mosaic))).text
    end_s = time.monotonic() + WAIT_S
    while not mosaic_client.get(f"/task/progress/{task_id}").json()["has_finished"]:
        assert time.monotonic() < end_s

    new = mosaic_client.get("/task/chat/new", params={"model": "gemma2", "column": "full-text", "task_id": task_id})
    said = mosaic_client.get(f"/task/chat/{new.text}", params={"message": "What does hot salt drive?"})

    assert (new.status_code, said.status_code) == (200, 200)
    assert said.headers["content-type"].startswith("text/plain")
    assert "drives a turbine at night" in said.text
    assert "'gemma2' is not served" in said.headers["Warning"]


@pytest.mark.promise("D05", "D06", "D09")
def test_what_is_unknown_has_the_documented_status(mosaic_client: httpx.Client) -> None:
    begun = {"model": "gemma2", "column": "full-text", "task_id": "none"}

    assert mosaic_client.get("/task/progress/none").status_code == 404
    cancelled = mosaic_client.get("/task/cancel/none")
    assert (cancelled.status_code, "Task id not found" in cancelled.text) == (404, True)
    assert mosaic_client.get("/task/chat/new", params=begun).status_code == 404
    unknown = mosaic_client.get("/task/chat/none", params={"message": "Is there anybody?"})
    assert (unknown.status_code, unknown.json()["error"]["code"]) == (500, "unknown_chat")


@pytest.mark.promise("D11")
def test_the_steps_declare_themselves_as_documented(mosaic_client: httpx.Client) -> None:
    info = mosaic_client.get("/pipeline/info").json()

    assert {"mosaic_datasource", "llm_summarizer", "all_results_summarizer", "tf_idf_reranker"} <= set(info)
    for declared in info.values():
        assert {"name", "category", "description", "parameters"} <= set(declared)
        for one in declared["parameters"].values():
            assert isinstance(one["enforce-limit"], bool)
            assert isinstance(one["required"], bool)
            assert all(isinstance(value, str) for value in one["supported-values"])
            assert all(isinstance(one[name], str) for name in ("title", "description", "type"))
            assert "default" in one


@pytest.mark.promise("D01")
def test_the_page_and_its_files_are_served_at_the_root(mosaic_client: httpx.Client) -> None:
    page = mosaic_client.get("/", headers={"Accept": "text/html"}, follow_redirects=True)

    assert "<!doctype html>" in page.text
    assert mosaic_client.get("/index.html").text == page.text
    assert mosaic_client.get("/app.js").headers["content-type"].startswith("text/javascript")
    assert mosaic_client.get("/app_config").json()["title"] == "My mosaic"


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


@pytest.mark.promise("E04", "E05")
def test_bedrock_ingest(at_desk: httpx.Client) -> None:
    found = answered(at_desk, "/ingest", '{"path":"data/corpus_raw"}')

    assert (found["docs_total"], found["docs_ok"], found["docs_failed"], found["errors"]) == (3, 3, 0, [])
    assert found["chunks_total"] > found["chunks_indexed"] == 0  # the start brought the same files in
    assert found["duration_sec"] >= 0


@pytest.mark.promise("E07", "E08", "E11", "E12")
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


@pytest.mark.promise("E13")
def test_bedrock_no_answer(at_desk: httpx.Client) -> None:
    found = answered(at_desk, "/query", json.dumps({"question": QUESTIONS[1]["question"]}))

    assert {"answer": None, "citations": []}.items() <= found.items()


@pytest.mark.promise("E08", "E20")
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


@pytest.mark.promise("E02", "E03")
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


@pytest.mark.promise("E21", "E24")
def test_bedrock_evaluation(at_desk: httpx.Client, desk: Path, settings: dict[str, str]) -> None:
    url = str(at_desk.base_url).rstrip("/")
    script = str(REPOSITORY / "scripts" / "run_eval.py")
    command = [script, "--dataset", "data/eval/eval_dataset.jsonl", "--api-url", url]

    done = run([*command, "--top-k", "4"], settings, desk)
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


@pytest.mark.promise("C01", "C07", "C10")
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


@pytest.mark.promise("C03")
@pytest.mark.parametrize("path", ["/vector", "/hybrid"])
def test_xdd_documented_defaults(at_desk: httpx.Client, path: str) -> None:
    assert len(answered(at_desk, path, json.dumps(DEFAULTS))) == 5
    other = DEFAULTS | {"question": "How many doses of the vaccine?", "topic": "covid-19", "doc_type": "paragraph"}
    assert [document["paper_id"] for document in answered(at_desk, path, json.dumps(other))] == [TRIAL_PAPER]


@pytest.mark.promise("C01", "C06")
def test_xdd_react_example(at_desk: httpx.Client) -> None:
    found = answered(at_desk, "/react", EXAMPLE)

    assert "eight stages" in found["answer"]
    assert all(document.keys() > DOCUMENT for document in found["used_docs"])


@pytest.mark.promise("C06")
def test_xdd_react_documented_defaults(at_desk: httpx.Client) -> None:
    found = answered(at_desk, "/react", json.dumps(DEFAULTS | {"model_name": "gpt-4"}))

    assert "eight stages" in found["answer"]
    assert any("gpt-4" in warning for warning in found["warnings"])
