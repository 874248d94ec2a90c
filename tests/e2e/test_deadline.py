"""A model server that stalls breaks nothing: the answer comes before the deadline, and the slot comes back."""

import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.e2e.arena import Arena, violations
from tests.e2e.conftest import MAIN, WIND
from tests.e2e.program import Program
from tests.servers.scripted_llm import Script, ScriptedLLM

DEADLINE_S = 8
MODEL_TIMEOUT_S = 10
QUESTION = {"question": "How much of the energy in the stream can a rotor capture?"}


@pytest.fixture(scope="module")
def model() -> Iterator[ScriptedLLM]:
    with ScriptedLLM(Script()) as server:
        yield server


@pytest.fixture(scope="module")
def program(model: ScriptedLLM, model_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    folder = tmp_path_factory.mktemp("stalling")
    (folder / "wind.md").write_text(WIND)
    settings = {
        "RAG_INDEX__DIR": str(folder / "index"),
        "RAG_EMBED__CACHE_DIR": str(model_cache),
        "RAG_SERVE__PORT": "0",
        "RAG_LLM__PROVIDER": "openai",
        "RAG_LLM__MODEL": model.model,
        "RAG_LLM__BASE_URL": model.base_url,
        "RAG_LLM__TIMEOUT_S": str(MODEL_TIMEOUT_S),
        "RAG_ANSWER__DEADLINE_S": str(DEADLINE_S),
        "RAG_SERVE__SLOTS": "1",
    }
    with Program([MAIN, "--ingest", str(folder / "wind.md")], settings, folder) as program:
        yield program


@pytest.mark.promise("A44", "G20")
@pytest.mark.fault("C4")
@pytest.mark.timeout(300)  # the model stalls for ever; the service starts within this time, too
def test_a_stalling_model_is_replaced_by_quotes_before_the_deadline(program: Program, model: ScriptedLLM) -> None:
    model.play(Script(stall_after=0))
    body = httpx.post(f"{program.url}/run", json=QUESTION, timeout=60).content

    assert violations(body) == []
    arena = Arena().read([body])
    assert "59.3 per cent" in (arena.report or "")
    assert any("had not finished when the time for it was over" in step for step in arena.shown_steps())


@pytest.mark.fault("B3")
def test_the_slot_of_a_stalled_model_comes_back_when_its_thread_has_ended(program: Program, model: ScriptedLLM) -> None:
    model.play(Script(stall_after=0), Script())
    with httpx.stream("POST", f"{program.url}/run", json=QUESTION, timeout=60) as reply:
        lines = reply.iter_lines()
        while "writes from these passages" not in next(lines):
            pass

    reply = httpx.post(f"{program.url}/run", json=QUESTION, timeout=60)

    # There is one slot.
    assert violations(reply.content) == []
    until = time.monotonic() + 2 * MODEL_TIMEOUT_S
    while httpx.get(f"{program.url}/ready").json()["questions"] != {"running": 0, "waiting": 0}:
        assert time.monotonic() < until


@pytest.mark.fault("B1", "C4")
def test_an_endless_model_is_stopped_when_its_reader_leaves(program: Program, model: ScriptedLLM) -> None:
    model.play(Script(text="The Betz limit is 59.3 per cent. ", endless=True, token_s=0.02))
    with httpx.stream("POST", f"{program.url}/run", json=QUESTION, timeout=60) as reply:
        lines = reply.iter_lines()
        while '"is_intermediate":false' not in next(lines):
            pass

    assert model.wait_until(lambda server: server.open_streams == 0)
