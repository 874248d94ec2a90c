"""Cases that schemathesis makes of `/openapi.json`, sent to the real service: no server error, replies as described."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.core.failures import FailureGroup
from schemathesis.core.result import Ok
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.e2e.conftest import MAIN
from tests.e2e.program import Program

CASES = int(os.environ.get("FUZZ_CASES", "300"))
CHECKS = [status_code_conformance, content_type_conformance]
TIMEOUT_S = 120
# A chat that nobody began, as mosaicRAG documents it; what the settings leave out.
MEANT = {"unknown_chat", "study_unavailable"}


@pytest.fixture(scope="module")
def fuzzed(variables: dict[str, str], folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """A service whose documents, tasks and uploads may be changed at will."""
    own = tmp_path_factory.mktemp("fuzzed")
    shutil.copytree(folder / "index", own / "index", ignore=shutil.ignore_patterns("lock", "readers"))
    (own / "sources").mkdir()
    places = {"RAG_INDEX__DIR": own / "index", "RAG_INGEST__ROOT": own / "sources", "RAG_PIPELINES__DIR": own / "tasks"}
    with Program([MAIN], {**variables, **{name: str(path) for name, path in places.items()}}, own) as program:
        yield program


@pytest.mark.slow
@pytest.mark.fault("D1", "D3")
@pytest.mark.timeout(3000)
def test_no_case_makes_a_server_error_and_replies_are_as_described(
    fuzzed: Program, record_property: Callable[[str, object], None]
) -> None:
    described = schemathesis.openapi.from_url(f"{fuzzed.url}/openapi.json", timeout=TIMEOUT_S).get_all_operations()
    operations = [found.ok() for found in described if isinstance(found, Ok)]
    each = max(1, round(CASES / len(operations) / len(GenerationMode)))
    session, sent, faults = requests.Session(), 0, list[str]()

    def attempt(case: Any) -> None:
        nonlocal sent
        sent += 1
        reply = case.call(session=session, timeout=TIMEOUT_S)
        if reply.status_code >= 500 and _code(reply) not in MEANT:
            faults.append(f"{reply.status_code} {reply.text[:200]}: {case.as_curl_command()[:2000]}")
            return
        # Schemathesis reads a schema of events as one of `{"event", "data"}`, not of what `data` holds.
        streams = reply.headers.get("content-type", [""])[0].startswith("text/event-stream")
        try:
            case.validate_response(reply, checks=CHECKS if streams else [*CHECKS, response_schema_conformance])
        except FailureGroup as found:
            faults.append(f"{[str(one) for one in found.exceptions]}: {case.as_curl_command()[:2000]}")

    options = settings(
        max_examples=each,
        derandomize=True,  # the same cases each time
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    for operation in operations:
        for mode in GenerationMode:
            try:
                options(given(operation.as_strategy(mode))(attempt))()
            except Unsatisfiable:  # nothing can be wrong with what takes nothing
                continue
    session.close()

    assert faults == []
    record_property("figure", f"{sent:,} cases, 0 server errors")


def _code(reply: schemathesis.Response) -> str:
    try:
        body = reply.json()
        return str(body["code"] if "code" in body else body["error"]["code"])
    except (ValueError, KeyError, TypeError):
        return ""
