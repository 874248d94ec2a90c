"""What the command line refuses before it opens anything."""

import io
import json
import threading
from collections.abc import AsyncGenerator, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

import query_engine.__main__
from index.layout.lock import CorpusLock
from query_engine.__main__ import main, print_answer
from query_engine.schema.answer_warning import AnswerWarning
from query_engine.schema.events import Event, Restarted, Step, Token, Unsupported
from tests.fakes.engines import a_done, a_nearest


def test_a_filter_without_meaning_is_told_before_models_are_loaded(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["What?", "--filter", '{"filters": [{"key": "year", "operator": "~", "value": 3}]}']) == 1
    said = capsys.readouterr().err
    assert said.startswith("error[bad_filter]: ")
    assert "operator" in said


def test_a_filter_that_is_no_json_is_a_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["What?", "--filter", "year > 3"])
    assert "this is not JSON" in capsys.readouterr().err


def test_an_unknown_writer_is_told_before_models_are_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RAG_INDEX__DIR", str(tmp_path))
    monkeypatch.setattr("query_engine.build.Engines", lambda *_: pytest.fail("models are loaded"))

    assert main(["What?", "--writer", "small"]) == 1
    assert capsys.readouterr().err.startswith("error[unknown_writer]: ")


class Service(BaseHTTPRequestHandler):
    """Answers every question alike."""

    bodies: ClassVar[list[dict[str, Any]]] = []

    def do_POST(self) -> None:
        self.bodies.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        record = {"final_report": "Water is wet. [1]", "citations": ["http://127.0.0.1/doc"], "complete": True}
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        self.wfile.write(f"data: {json.dumps(record)}\n\n".encode())

    def log_message(self, *_: object) -> None:
        """Keep the test's output clean."""


@pytest.fixture
def service() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), Service) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_service_that_holds_the_corpus_is_asked_at_once_and_without_a_proxy(
    service: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # nothing listens there
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("RAG_INDEX__DIR", str(tmp_path))
    (tmp_path / "default").mkdir()
    loaded: list[object] = []
    monkeypatch.setattr(query_engine.__main__, "_ask_here", lambda *given: loaded.append(given))
    lock = CorpusLock(tmp_path / "default", service)

    assert main(["Is water wet?", "--writer", "big"]) == 0

    lock.release()
    assert Service.bodies[-1]["writer"] == "big"
    printed = capsys.readouterr()
    assert printed.out == "Water is wet. [1]\n  [1] http://127.0.0.1/doc\n"
    assert f"asking the service at {service}" in printed.err
    assert not loaded


async def script(*events: Event) -> AsyncGenerator[Event, None]:
    for event in events:
        yield event


async def test_an_answer_is_printed_as_it_grows_and_what_no_source_holds_is_named_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    done = replace(a_done("Port 8443 [1]"), unsupported=(Unsupported(5, 9, "8443"), Unsupported(5, 9, "8443")))
    searching, writing = Step("search", "**Searching**"), Step("write", "**Writing**")
    named = Step("warning", "**Not in the sources**: 8443")

    await print_answer(
        script(
            searching, Token("Half"), Restarted("It broke."), Token("Port 8443"), writing, Token(" [1]"), named, done
        )
    )

    printed = capsys.readouterr()
    assert printed.out.startswith("Half\n[withdrawn: It broke.]\n\nPort 8443 [1]\n  [1] Wind")
    assert printed.err.splitlines()[:3] == ["**Searching**", "**Writing**", "**Not in the sources**: 8443"]
    assert printed.err.count("8443") == 1


@pytest.mark.parametrize("said", ["Port 8443. [1]", None])
async def test_each_other_place_is_a_line_with_its_headings(
    said: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    places = tuple(replace(a_nearest(quote=f"It\nis {part}."), headings=("Wind", part)) for part in ("Axle", "Hub"))

    await print_answer(script(a_done(said, nearest=places)))

    lines = capsys.readouterr().out.splitlines()[-2:]
    for line, part in zip(lines, ("Axle", "Hub"), strict=True):
        assert line.index("Wind") < line.index(part) < line.index("guide/wind.md") < line.index(f"It is {part}.")


async def test_a_model_s_own_decline_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    said = "I don't know: the guide names no price."

    await print_answer(script(Token(""), replace(a_done(None, message=said), decline_text=said)))

    assert capsys.readouterr().out == f"{said}\n"


@pytest.mark.parametrize("code", ["low_confidence", "absent_identifier"])
async def test_doubt_is_said_above_the_text_and_not_again(code: str, capsys: pytest.CaptureFixture[str]) -> None:
    doubt, other = AnswerWarning(code, "Perhaps not."), AnswerWarning("llm_down", "It is down.")

    await print_answer(script(Step("gate", "**Perhaps not.**"), Token("Wind. [1]"), a_done(warnings=(doubt, other))))

    told = capsys.readouterr().err
    assert told.count("Perhaps not.") == 1
    assert "It is down." in told


async def test_a_decline_is_printed_in_one_language(capsys: pytest.CaptureFixture[str]) -> None:
    reason = "Die gefundenen Stellen beantworten diese Frage nicht."

    await print_answer(script(a_done(None, message=f"I don't know. {reason}")))

    assert capsys.readouterr().out == f"{reason}\n"


def test_a_corpus_that_nobody_holds_is_asked_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_INDEX__DIR", str(tmp_path))
    (tmp_path / "default").mkdir()
    CorpusLock(tmp_path / "default", "http://127.0.0.1:9").release()
    loaded: list[object] = []
    monkeypatch.setattr(query_engine.__main__, "_ask_here", lambda *given: loaded.append(given))

    assert main(["Is water wet?"]) == 0
    assert len(loaded) == 1


def test_several_corpora_are_named_one_after_the_other_or_all_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RAG_INDEX__DIR", str(tmp_path))
    for name in ("papers", "minutes"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "manifest.json").touch()
    asked: list[str] = []
    monkeypatch.setattr(query_engine.__main__, "_ask_here", lambda _arguments, corpus, _settings: asked.append(corpus))

    for given in (["--corpus", "papers", "--corpus", "minutes"], ["--corpus", "papers+minutes"], ["--corpus", "*"]):
        assert main(["Is water wet?", *given]) == 0

    assert asked == ["minutes+papers"] * 3
    assert main(["Is water wet?", "--corpus", "papers", "--corpus", "Minutes"]) == 1
    assert "'Minutes' cannot name a corpus" in capsys.readouterr().err


def test_a_service_that_holds_one_of_several_is_asked_for_all(
    service: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAG_INDEX__DIR", str(tmp_path))
    for name in ("papers", "minutes"):
        (tmp_path / name).mkdir()
    bodies: list[Any] = []
    do_post = Service.do_POST

    def noting(self: Service) -> None:
        self.rfile = io.BytesIO(self.rfile.read(int(self.headers["content-length"])))
        bodies.append(json.loads(self.rfile.getvalue()))
        do_post(self)

    monkeypatch.setattr(Service, "do_POST", noting)
    lock = CorpusLock(tmp_path / "papers", service)

    assert main(["Is water wet?", "--corpus", "minutes", "--corpus", "papers"]) == 0

    lock.release()
    assert bodies[0]["corpus"] == "minutes+papers"
