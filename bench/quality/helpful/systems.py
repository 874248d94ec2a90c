"""What is compared: our engine in several ways, and two baselines that show a passage as it was found.

Flow: `command.py` -> **here** -> `asking.py`.

A baseline never declines as long as it finds anything: whether a reader is better served by sentences that were chosen,
and by an "I don't know", is what the comparison tells.
"""

import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager

from pydantic import SecretStr

from bench.build import OURS, STOCK, open_engine, open_stock, stored_text
from bench.datasets import DataSet
from bench.quality.helpful.asking import System
from eval.asking.in_process import row_of
from eval.cases import Case
from eval.metrics import Ranked
from eval.rows import Quote, Row
from query_engine.build import Engines
from query_engine.engine import Engine
from query_engine.inquiry import Inquiry
from query_engine.schema.events import Done, Event
from research.modes import stream
from settings import Mode, Settings
from sources.build import build_source_engine
from tests.servers.search_service import SearchService, doc_id_of

LOCAL_KEY = "local"
WEB_PAGES = 10

Events = Callable[[Inquiry], AsyncIterator[Event]]
TextOf = Callable[[str], str | None]
Named = Callable[[str], str]
Open = Callable[[Engine, DataSet, Settings], AbstractContextManager[System]]


def open_systems(data_set: DataSet, settings: Settings, names: Sequence[str]) -> Iterator[System]:
    """Yield the systems over one corpus; each is closed when the next one opens.

    Each has an engine for itself: one that knows the questions' vectors already would answer too fast.

    Raises:
        RagError: from ingestion or the engine.
    """
    for name in names:
        with open_engine(data_set, settings) as engine, SYSTEMS[name](engine, data_set, settings) as system:
            yield system


def streaming(name: str, events: Events, text_of: TextOf, *, mode: Mode = "single", named: Named = str) -> System:
    """Return a system whose answer is the end of a stream.

    Args:
        name: of the system.
        events: a question -> the events of its answer; the last is `Done`.
        text_of: doc_id -> the document's text.
        mode: of the question.
        named: what the system calls a document -> doc_id.
    """

    async def ask(case: Case) -> Row:
        started = time.perf_counter()
        *_, done = [event async for event in events(Inquiry(case.question, mode=mode))]
        assert isinstance(done, Done), "a stream ends in Done"
        row = row_of(done, case.id, time.perf_counter() - started, None)
        quotes = tuple(one.model_copy(update={"doc_id": named(one.doc_id or "")}) for one in row.citations)
        return row.model_copy(update={"citations": quotes})

    return System(name, ask, text_of)


def showing(name: str, retrieve: Callable[[str], Sequence[Ranked]], text_of: TextOf) -> System:
    """Return a system that shows the first passage found, whole, with its place if the passage knows it."""

    async def ask(case: Case) -> Row:
        found = retrieve(case.question)
        if not found:
            return Row(id=case.id, outcome="declined", answer=None)
        first = found[0]
        start, end = getattr(first, "start", None), getattr(first, "end", None)
        quote = Quote(number=1, doc_id=first.doc_id, start=start, end=end, quote=first.text)
        return Row(id=case.id, outcome="answered", answer=first.text, citations=(quote,))

    return System(name, ask, text_of)


@contextmanager
def _ours(engine: Engine, _data_set: DataSet, _settings: Settings) -> Iterator[System]:
    yield streaming(OURS, engine.stream, stored_text(engine))


@contextmanager
def _agent(engine: Engine, _data_set: DataSet, _settings: Settings) -> Iterator[System]:
    """The research loop over our engine."""
    yield streaming("agent", lambda inquiry: stream(engine, inquiry), stored_text(engine), mode="agent")


@contextmanager
def _web(engine: Engine, _data_set: DataSet, settings: Settings) -> Iterator[System]:
    """Our engine over what a local search service finds: whole documents by their words, as ClueWeb22's would."""
    stored = engine.corpus.documents
    documents = [document for doc_id in stored.versions() if (document := stored.get(doc_id))]
    with SearchService(documents, key=LOCAL_KEY) as service:
        asked = {"clueweb_url": service.url, "clueweb_key": SecretStr(LOCAL_KEY), "k": WEB_PAGES}
        answer = settings.answer.model_copy(update={"sources": "clueweb"})
        sources = settings.sources.model_copy(update=asked)
        settings = settings.model_copy(update={"answer": answer, "sources": sources})
        with closing(Engines(settings)) as engines:
            from_sources = build_source_engine(engines, settings)
            assert from_sources is not None, "a source is set"
            yield streaming("web", from_sources.stream, stored_text(engine), named=doc_id_of)


@contextmanager
def _first_leaf(engine: Engine, _data_set: DataSet, settings: Settings) -> Iterator[System]:
    leaves_only = settings.retrieval.model_copy(update={"merge": False})
    text_of = stored_text(engine)
    yield showing("first leaf", lambda text: engine.retrieve(Inquiry(text), leaves_only).passages, text_of)


@contextmanager
def _stock(engine: Engine, data_set: DataSet, settings: Settings) -> Iterator[System]:
    with closing(open_stock(data_set, engine, settings)) as stock:
        yield showing(STOCK, stock.retrieve, stored_text(engine))


SYSTEMS: dict[str, Open] = {
    OURS: _ours,
    "first-leaf": _first_leaf,
    STOCK: _stock,
    "agent": _agent,
    "web": _web,
}
