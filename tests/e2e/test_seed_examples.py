"""What clients of the source documents send, exactly as these write it, and what they are promised to get."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from tests.e2e.arena import Arena, violations
from tests.e2e.conftest import BETZ, MAIN, WIND
from tests.e2e.program import Program, preset
from tests.servers.scripted_llm import Script, ScriptedLLM
from tests.servers.scripted_models import ScriptedModels


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


def test_crag_no_answer_has_more_than_fifty_words(crag: Crag) -> None:
    reply = crag.ask("When did Betz publish the limit?", f"Albert Betz {'published ' * 70}the limit in 1919 [1].")

    assert 40 < len(reply["answer"].split()) <= 50


def test_crag_without_a_valid_chunk_the_model_is_told_so_and_the_reply_is_one_sentence(crag: Crag) -> None:
    for says in ("I don't know.", "Betz was born in 1885."):
        reply = crag.ask("When was Betz born?", says)

        assert "No Reference" in crag.llm.requests[-1]["messages"][-1]["content"]
        assert (reply["answer"], reply["message"], reply["nearest"]) == (None, "I don't know.", [])


def test_crag_what_cannot_be_derived_is_declined_in_one_sentence(crag: Crag) -> None:
    reply = crag.ask("Why is there a limit?", "I don't know.")

    assert len(reply["contexts"]) == 1
    assert reply["message"] == "I don't know."


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


def test_mmu_evaluate_returns_the_id_and_an_answer(mmu: Program) -> None:
    reply = httpx.post(f"{mmu.url}/evaluate", json=EVALUATE, timeout=60).json()

    assert reply["query_id"] == "string"
    assert isinstance(reply["generated_response"], str)
    assert reply["generated_response"].strip()


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


def test_mmu_an_answer_is_written_by_the_model_and_cites_an_address(mmu: Program) -> None:
    arena = Arena().read([httpx.post(f"{mmu.url}/run", json={"question": BETZ}, timeout=60).content])

    assert (arena.complete, arena.failed) == (True, False)
    assert "Albert Betz published the limit in 1919 [1]." in (arena.report or "")
    assert len(arena.citations or []) == 1


def test_mmu_health_is_what_the_organisers_tester_asks_first(mmu: Program) -> None:
    assert httpx.get(f"{mmu.url}/health").status_code == 200
