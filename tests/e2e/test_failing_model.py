"""A language model that is not there: the answer comes all the same, and nobody is left in the dark about it."""

import socket
from pathlib import Path

import httpx
import pytest

from tests.e2e.arena import Arena, violations
from tests.e2e.conftest import BETZ, MAIN
from tests.e2e.program import Program

CONVERSATION = {
    "model": "default",
    "messages": [
        {"role": "user", "content": "What is the Betz limit?"},
        {"role": "assistant", "content": "It bounds what a rotor captures. [1]"},
        {"role": "user", "content": "Who published it?"},
    ],
}


@pytest.mark.fault("C4")
@pytest.mark.slow
def test_a_dead_model_server_leaves_a_marked_answer_of_quotes(copied: dict[str, str], tmp_path: Path) -> None:
    with socket.socket() as deaf:  # bound, but not listening: connections are refused
        deaf.bind(("127.0.0.1", 0))
        model = {
            "RAG_LLM__PROVIDER": "openai",
            "RAG_LLM__MODEL": "absent",
            "RAG_LLM__BASE_URL": f"http://127.0.0.1:{deaf.getsockname()[1]}/v1",
        }
        with Program([MAIN], copied | model, tmp_path) as program:
            body = httpx.post(f"{program.url}/run", json={"question": BETZ}, timeout=120).content
            reply = httpx.post(f"{program.url}/evaluate", json={"query": BETZ, "iid": "1"}, timeout=120).json()
            chat = httpx.post(f"{program.url}/v1/chat/completions", json=CONVERSATION, timeout=120).json()
            assert httpx.post(f"{program.url}/cache/clear").json() == {"cleared": 0}
            health = httpx.get(f"{program.url}/health")

    arena = Arena().read([body])
    assert violations(body) == []
    assert "59.3 per cent" in (arena.report or "")
    assert any("failed" in step for step in arena.shown_steps())
    assert reply["generated_response"] == arena.report
    assert reply["synthesizer"] == "extractive"
    assert any(warning.startswith("llm_unreachable: ") for warning in reply["warnings"])
    assert {warning.partition(":")[0] for warning in chat["treeline"]["warnings"]} >= {"conversation"}
    assert "Who published it (Betz limit)?" in chat["choices"][0]["message"]["reasoning_content"]
    assert "Albert Betz" in chat["choices"][0]["message"]["content"]
    assert (health.status_code, health.json()["llm_ready"], health.json()["status"]) == (200, False, "degraded")
    assert "Traceback" not in str(arena.records)
