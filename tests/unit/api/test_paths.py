"""No failure tells a client where files of the server are; the log has it."""

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from errors import CorpusError, IndexDamagedError, ModelError, RagError, StorageError, without_paths
from index.disk import check_space, failure, refusals_named
from query_engine.schema.answer_warning import AnswerWarning
from tests.fakes.engines import FakeEngine, FakeEngines
from tests.fakes.http import client_of, client_of_engines

FOLDER = Path("/tmp/an index of ours/secret/default/vectors")


def raised(by: Callable[[], object]) -> CorpusError:
    with pytest.raises(CorpusError) as caught:
        by()
    return caught.value


def refusal(error: OSError) -> CorpusError:
    def refuse() -> None:
        with refusals_named(FOLDER):
            raise error

    return raised(refuse)


ERRORS: list[RagError] = [
    failure("The vector store", ValueError(f"unable to open database file: {FOLDER}/chroma.sqlite3"), FOLDER),
    failure("The vector store", ValueError("database is locked"), FOLDER),
    failure("The word index", ValueError(f'IoError {{ filepath: "{FOLDER}/meta.json" }}'), FOLDER),
    failure("The word index", ValueError("No space left"), FOLDER),
    refusal(PermissionError(13, "Permission denied", str(FOLDER))),
    StorageError(f"The disk of {FOLDER} has 3 bytes free; the next batch needs 5.", "Free some space."),
    IndexDamagedError(f"[Errno 2] No such file or directory: '{FOLDER}'", f"See {FOLDER}/log."),
    ModelError(f"The model file {FOLDER}/model.gguf is damaged.", f"Delete {FOLDER}; it is made again."),
]
ASKED: list[tuple[str, str, dict[str, Any]]] = [
    ("POST", "/query", {"question": "Who?"}),
    ("POST", "/evaluate", {"query": "Who?", "iid": "1"}),
    ("POST", "/retrieve", {"query": "Who?"}),
    ("POST", "/run", {"question": "Who?"}),
    ("POST", "/v1/chat/completions", {"model": "default", "messages": [{"role": "user", "content": "Who?"}]}),
    ("POST", "/v1/responses", {"model": "default", "input": "Who?"}),
    ("GET", "/documents", {}),
    ("GET", "/stats", {}),
]


def assert_told_without_path(told: str) -> None:
    assert "secret" not in told
    assert "/tmp" not in told


@pytest.mark.fault("C8")
@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.fact[:40])
def test_no_route_tells_a_path_whether_a_corpus_cannot_be_opened_or_an_answer_fails(
    error: RagError, caplog: pytest.LogCaptureFixture
) -> None:
    without_paths.cache_clear()
    with caplog.at_level(logging.WARNING):
        for client in (client_of(failures={"default": error}), client_of(FakeEngine([error]))):
            for method, path, body in ASKED:
                reply = client.request(method, path, json=body or None)
                assert_told_without_path(reply.text)

    assert str(FOLDER) in caplog.text


@pytest.mark.fault("C8")
@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.fact[:40])
def test_neither_probes_nor_jobs_nor_warnings_tell_one(error: RagError) -> None:
    why = {"other": {"code": error.code, "detail": str(error), "stores": []}}
    engines = FakeEngines({"default": FakeEngine()}, facts={"refused": why, "llm_reason": f"It failed: {error.fact}"})
    client = client_of_engines(engines)
    jobs = client.app.state.jobs  # type: ignore[attr-defined]  # a FastAPI application

    def failing(*_: object) -> Any:
        raise error

    with client:
        job = jobs.submit({"corpus": "default"}, failing)
        assert asyncio.run(job.finished(10))
        for path in ("/health", "/ready", "/ingest", f"/ingest/{job.id}"):
            assert_told_without_path(client.get(path).text)
    assert_told_without_path(AnswerWarning.of(error).text)
    assert_told_without_path(error.public)


def test_a_full_disk_tells_none(tmp_path: Path) -> None:
    error = raised(lambda: check_space(tmp_path, 10**18))

    assert str(tmp_path) in str(error)
    assert str(tmp_path.parent) not in error.public


UNCHANGED = (
    "Ask `GET /ingest/{job_id}`, or POST /v1/chat/completions.",
    "The server at http://127.0.0.1:8000/tmp/x does not answer.",
    "Half and/or a third; 3/4 of the files in docs/tmp/a.md.",
    "Delete it: DELETE /documents/a.md.",
)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        *zip(UNCHANGED, UNCHANGED, strict=True),
        ("It is in /tmp/a/b.", "It is in …/b."),
        ("(/usr/share/x/y.bin)", "(…/y.bin)"),
        ("'/tmp/a/b': No such file", "'…/b': No such file"),
        ("file:///tmp/a/b, /etc/a/", "file://…/b, …/a/"),
    ],
)
def test_addresses_relative_paths_and_the_last_name_of_a_path_stay(text: str, told: str) -> None:
    assert without_paths(text) == told
