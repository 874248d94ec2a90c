"""A writer that still opens: it tells of its jobs at once, and everything else waits."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from api.jobs.queue import Jobs
from api.opening import Opening
from settings import ServeSettings

KEY = "secret-0123456789"
KILL_S = 10


async def opened(scope: Scope, receive: Receive, send: Send) -> None:
    await PlainTextResponse("the application")(scope, receive, send)


@asynccontextmanager
async def client_of(opening: Opening) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(opening), base_url="http://localhost") as client:
        yield client


@pytest.mark.fault("C10")
async def test_jobs_are_told_before_the_application_is_open_and_all_else_waits_for_it() -> None:
    jobs = Jobs()
    opening = Opening(ServeSettings(), jobs)
    async with client_of(opening) as client:
        assert (await client.get("/ingest")).json() == {"jobs": []}
        assert (await client.get("/ingest/7")).json()["error"]["code"] == "unknown_job"
        assert (await client.delete("/ingest/7")).status_code == 404
        waiting = [
            asyncio.ensure_future(client.request(method, path))
            for method, path in [("POST", "/ingest"), ("DELETE", "/documents/a"), ("GET", "/task/progress/7")]
        ]
        assert not (await asyncio.wait(waiting, timeout=0.05))[0]

        opening.settle(opened)

        assert {reply.text for reply in await asyncio.wait_for(asyncio.gather(*waiting), KILL_S)} == {"the application"}
        assert (await client.get("/ingest")).text == "the application"
    jobs.close()


@pytest.mark.fault("C10")
async def test_what_waits_is_refused_when_the_application_cannot_be_opened() -> None:
    jobs = Jobs()
    opening = Opening(ServeSettings(), jobs)
    async with client_of(opening) as client:
        waiting = asyncio.ensure_future(client.post("/ingest"))
        opening.settle(None)
        reply = await asyncio.wait_for(waiting, KILL_S)
    jobs.close()

    assert (reply.status_code, reply.json()["error"]["code"]) == (503, "writer_unavailable")


async def test_keys_are_asked_for() -> None:
    jobs = Jobs()
    async with client_of(Opening(ServeSettings.model_validate({"keys": KEY}), jobs)) as client:
        replies = [await client.get("/ingest", headers=headers) for headers in ({}, {"Authorization": f"Bearer {KEY}"})]
    jobs.close()

    assert [reply.status_code for reply in replies] == [401, 200]


def test_none_of_the_libraries_that_take_long_to_load_is_needed() -> None:
    heavy = "{'chromadb', 'llama_index', 'tantivy', 'torch', 'transformers', 'openvino'}"
    program = f"import sys, api.opening; print({heavy} & set(sys.modules))"
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[3]
    )

    assert ran.stdout.strip() == "set()"
