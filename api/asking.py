"""Find the engine for a request, and start its answer.

Flow: checked body -> **here** -> `streaming.py`. The one way in for `/run` and `/evaluate`.

A service whose default corpus was never made still answers: it says that there is nothing to read. A corpus that the
client named and that does not exist is the client's mistake and stays an error.
"""

from collections.abc import AsyncGenerator
from dataclasses import dataclass

from starlette.concurrency import run_in_threadpool

from api.schemas import EvaluateBody, RunBody
from api.service import Service
from errors import UnknownCorpusError
from index.filters import where
from query_engine.events import Done, Event, Step


@dataclass(frozen=True, slots=True)
class Asked:
    """An answer that has not begun yet.

    Attributes:
        corpus: name of the corpus that is read.
        events: what the engine says; nothing happens before the first one is awaited.
    """

    corpus: str
    events: AsyncGenerator[Event, None]


async def ask(service: Service, question: str, body: RunBody | EvaluateBody) -> Asked:
    """Open the corpus, the default one for None, and put the question to it.

    Args:
        service: whose engines are asked.
        question: the body's.
        body: says where to look.

    Raises:
        FilterError: the filter is empty or has no meaning; once the stream has begun it would be too late to say so.
        CorpusError: the named corpus does not exist, or it cannot be opened.
    """
    if body.filters is not None:
        where(body.filters)
    steering = None if body.steering is None else body.steering.value()
    try:
        engine = await run_in_threadpool(service.engines.get, body.corpus)
    except UnknownCorpusError as error:
        if body.corpus is not None:
            raise
        return Asked(service.settings.index.corpus, _nothing_to_read(error))
    return Asked(engine.corpus.name, engine.stream(question, body.filters, steering))


async def _nothing_to_read(error: UnknownCorpusError) -> AsyncGenerator[Event, None]:
    yield Step("search", "**Searching** the default corpus.")
    yield Step("found", f"**Nothing to search**: {error}")
    yield Done(
        answer=None,
        message=f"I don't know: this service has no documents yet. {error}",
        citations=(),
        passages=(),
        gate_reason="no_retrieval",
        synthesizer=None,
        warnings=(f"{error.code}: {error.fact}",),
        timings_ms={},
        fingerprint="",
    )
