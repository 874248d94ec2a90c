"""Signals, and clients that leave, in the middle of an answer."""

import json
import signal
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from tests.e2e.arena import Arena, violations
from tests.e2e.conftest import MAIN, WIND
from tests.e2e.program import Program
from tests.servers.proxy import reverse_proxy
from tests.servers.scripted_llm import Script, ScriptedLLM

SCRIPTED = str(Path(__file__).parent / "scripted_service.py")
QUESTION = {"question": "What?"}
CAPTURE = "How much of the energy in the stream can a rotor capture?"
CHAT = {"model": "default", "messages": [{"role": "user", "content": CAPTURE}]}
ASKED: dict[str, tuple[str, dict[str, Any]]] = {
    "run": ("/run", {"question": CAPTURE}),
    "evaluate": ("/evaluate", {"query": CAPTURE, "iid": "1"}),
    "query": ("/query", {"question": CAPTURE}),
    "query stream": ("/query/stream", {"question": CAPTURE}),
    "chat": ("/v1/chat/completions", CHAT),
    "chat stream": ("/v1/chat/completions", {**CHAT, "stream": True}),
    "waiting": ("/run", {"question": CAPTURE}),
}


@pytest.mark.fault("B9")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_running_answers_finish_after_a_signal(tmp_path: Path, number: signal.Signals, code: int) -> None:
    with Program([SCRIPTED, "--seconds", "3"], {}, tmp_path) as program:
        body = b""
        with httpx.stream("POST", f"{program.url}/run", json=QUESTION, timeout=60) as reply:
            for chunk in reply.iter_raw():
                if b'"is_intermediate":false' in chunk and b'"is_intermediate":false' not in body:
                    program.signal(number)
                body += chunk

        assert violations(body) == []
        assert Arena().read([body]).report == ("word " * 60).strip()
        assert program.exit_code() == code


@pytest.mark.promise("A22", "G21")
@pytest.mark.fault("B1")
def test_the_first_record_comes_while_the_engine_works_and_it_stops_when_its_client_leaves(tmp_path: Path) -> None:
    with Program([SCRIPTED, "--seconds", "60"], {}, tmp_path) as program:
        with httpx.stream("POST", f"{program.url}/run", json=QUESTION, timeout=60) as reply:
            lines = reply.iter_lines()  # kept: httpx hangs up when it is thrown away
            first = next(lines)
            assert json.loads(first.removeprefix("data:"))["final_report"] is None
            assert "stream closed" not in program.log
        closed = program.wait_for(r"stream closed after (\d+) of 1200 words")

        assert int(closed[1]) < 200
        assert httpx.get(f"{program.url}/health").status_code == 200


@pytest.mark.fault("B1")
def test_an_evaluation_stops_when_its_client_leaves(tmp_path: Path) -> None:
    with Program([SCRIPTED, "--seconds", "60"], {}, tmp_path) as program:
        with pytest.raises(httpx.ReadTimeout):
            httpx.post(f"{program.url}/evaluate", json={"query": "What?", "iid": "1"}, timeout=1)

        assert int(program.wait_for(r"stream closed after (\d+) of 1200 words")[1]) < 200


def test_the_service_stops_with_ctrl_c(variables: dict[str, str], folder: Path) -> None:
    # Its own corpus name: the one that all tests share is held by the shared service.
    with Program([MAIN], {**variables, "RAG_INDEX__CORPUS": "none-yet"}, folder) as program:
        program.signal(signal.SIGINT)

        assert program.exit_code() == 130
        assert "Traceback" not in program.log


@pytest.mark.fault("B9")
@pytest.mark.slow
def test_while_a_model_stalls_every_answer_ends_with_quotes_after_a_signal(model_cache: Path, tmp_path: Path) -> None:
    (tmp_path / "wind.md").write_text(WIND)
    with ScriptedLLM(Script(stall_after=0)) as model, ThreadPoolExecutor(len(ASKED)) as clients:
        settings = {
            "RAG_INDEX__DIR": str(tmp_path / "index"),
            "RAG_EMBED__CACHE_DIR": str(model_cache),
            "RAG_SERVE__PORT": "0",
            "RAG_SERVE__SLOTS": str(len(ASKED) - 1),
            "RAG_LLM__PROVIDER": "openai",
            "RAG_LLM__MODEL": model.model,
            "RAG_LLM__BASE_URL": model.base_url,
        }
        with Program([MAIN, "--ingest", str(tmp_path / "wind.md")], settings, tmp_path) as program:

            def ask(path: str, body: dict[str, Any]) -> httpx.Response:
                return httpx.post(f"{program.url}{path}", json=body, timeout=120)

            *running, last = ASKED
            asked = {name: clients.submit(ask, *ASKED[name]) for name in running}
            assert model.wait_until(lambda server: server.open_streams == len(running), 60)
            asked[last] = clients.submit(ask, *ASKED[last])
            while httpx.get(f"{program.url}/ready").json()["questions"]["waiting"] != 1:
                assert not asked[last].done()
            program.signal(signal.SIGTERM)
            replies = {name: reply.result() for name, reply in asked.items()}
            assert program.exit_code() == 143
            log = program.log

    assert {name: reply.status_code for name, reply in replies.items()} == dict.fromkeys(ASKED, 200)
    for name in ("run", "waiting"):
        assert violations(replies[name].content) == []
        assert "**Stopping**" in replies[name].text
    quoted = {
        "run": Arena().read([replies["run"].content]).report,
        "evaluate": replies["evaluate"].json()["generated_response"],
        "query": replies["query"].json()["answer"],
        "query stream": _last_data(replies["query stream"])["answer"],
        "chat": replies["chat"].json()["choices"][0]["message"]["content"],
    }
    assert {name: "59.3 per cent" in (text or "") for name, text in quoted.items()} == dict.fromkeys(quoted, True)
    for warnings in (replies["evaluate"].json()["warnings"], replies["query"].json()["warnings"]):
        assert [warning.partition(":")[0] for warning in warnings][-2:] == ["out_of_time", "stopping"]
    assert "event: done" in replies["query stream"].text
    assert "59.3" in replies["chat stream"].text
    assert '"finish_reason":"stop"' in replies["chat stream"].text
    assert replies["chat stream"].text.rstrip().endswith("data: [DONE]")
    assert "Traceback" not in log


def _last_data(reply: httpx.Response) -> dict[str, Any]:
    lines = [line for line in reply.text.splitlines() if line.startswith("data:")]
    found: dict[str, Any] = json.loads(lines[-1].removeprefix("data:"))
    return found


@pytest.mark.fault("B9")
def test_stalled_uploads_do_not_hold_up_the_end(tmp_path: Path) -> None:
    head = b"POST /query HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"
    with Program([SCRIPTED], {}, tmp_path) as program, ExitStack() as uploads:
        address = urlsplit(uploads.enter_context(reverse_proxy(tmp_path, [urlsplit(program.url).port or 0])))
        for _ in range(20):
            upload = socket.create_connection((address.hostname or "", address.port or 0), timeout=30)
            uploads.enter_context(upload).sendall(head)
        assert httpx.get(f"{program.url}/health").status_code == 200
        program.signal(signal.SIGTERM)
        began_s = time.monotonic()

        assert program.exit_code() == 143
        assert time.monotonic() - began_s < 20, "without a proxy uvicorn waits for 30 seconds"
