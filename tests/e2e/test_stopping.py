"""Signals, and clients that leave, in the middle of an answer."""

import json
import signal
from pathlib import Path

import httpx
import pytest

from tests.e2e.arena import Arena, violations
from tests.e2e.conftest import MAIN
from tests.e2e.program import Program

SCRIPTED = str(Path(__file__).parent / "scripted_service.py")
QUESTION = {"question": "What?"}


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


def test_an_answer_stops_when_its_client_leaves(tmp_path: Path) -> None:
    with Program([SCRIPTED, "--seconds", "60"], {}, tmp_path) as program:
        with httpx.stream("POST", f"{program.url}/run", json=QUESTION, timeout=60) as reply:
            next(reply.iter_raw())
        closed = program.wait_for(r"stream closed after (\d+) of 1200 words")

        assert int(closed[1]) < 200
        assert httpx.get(f"{program.url}/health").status_code == 200


def test_an_evaluation_stops_when_its_client_leaves(tmp_path: Path) -> None:
    with Program([SCRIPTED, "--seconds", "60"], {}, tmp_path) as program:
        with pytest.raises(httpx.ReadTimeout):
            httpx.post(f"{program.url}/evaluate", json={"query": "What?", "iid": "1"}, timeout=1)

        assert int(program.wait_for(r"stream closed after (\d+) of 1200 words")[1]) < 200


def test_the_first_record_comes_while_the_engine_is_still_working(tmp_path: Path) -> None:
    with (
        Program([SCRIPTED, "--seconds", "60"], {}, tmp_path) as program,
        httpx.stream("POST", f"{program.url}/run", json=QUESTION, timeout=60) as reply,
    ):
        # Kept, because httpx hangs up when the iterator is thrown away.
        lines = reply.iter_lines()
        first = next(lines)
        assert json.loads(first.removeprefix("data:"))["final_report"] is None
        assert "stream closed" not in program.log


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_the_service_stops_with_the_signals_exit_code(
    variables: dict[str, str], folder: Path, number: signal.Signals, code: int
) -> None:
    # Its own corpus name: the one that all tests share is held by the shared service.
    with Program([MAIN], {**variables, "RAG_INDEX__CORPUS": "none-yet"}, folder) as program:
        program.signal(number)

        assert program.exit_code() == code
        assert "Traceback" not in program.log
