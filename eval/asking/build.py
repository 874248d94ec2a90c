"""Settings, or a URL -> what is asked, and what is known of it before the first question.

Flow: `command.py` -> **here** -> `http.py` or `in_process.py`. The only place of this package that loads models or
opens a connection.
"""

import asyncio
import hashlib
import json
import platform
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx

from errors import CorpusLockedError
from eval.asking.http import HttpTarget, StreamTarget
from eval.asking.preflight import PreflightError, check_author, check_chunks, look_at_service
from eval.asking.target import Facts, NoReplyError, Target, WrittenByModel
from eval.cases import Case, GivenPage
from index.build import open_corpus
from index.documents.filters import where
from loopback import may_use_proxy
from settings import VERSION, Settings

if TYPE_CHECKING:
    from eval.asking.in_process import Answers, Library
    from index.documents.store import Document
    from query_engine.build import Engines
    from query_engine.engine import Engine

IN_PROCESS = "in process"
LIBRARIES = ("llama-index-core", "chromadb", "tantivy", "openvino")
CODE = ("index", "query_engine", "research", "pipelines", "settings.py", "setting_groups.py")
GROUPS: dict[str, Any] = {
    "retrieval": True,
    "rerank": True,
    "expansion": True,
    "answer": True,
    "research": True,
    "llm": True,
    "chunk": True,
    "embed": {"model", "device", "precision", "query_prefix", "document_prefix"},
}
WARM_UP = "What is this about?"
# Long enough to be cut: what cuts it is loaded with the first such text.
WARM_UP_PAGE = f"<html><body><p>{'An engine is warmed up before it is asked. ' * 200}</p></body></html>"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be asked.

    Attributes:
        url: of a service; None asks in this process.
        corpus: None means the default.
        filters: which documents may be found; None allows all.
        require_llm: whether a language model has to write the answers.
        connections: calls at a time.
        headers: sent to the service with each call.
        stream: ask the service by `/run`, and read its stream, instead of `/evaluate`.
        pipeline: file of the pipeline of steps that is asked in place of the engine.
        top_k: passages that an answer is written from, at most; None leaves it to the settings.
    """

    url: str | None
    corpus: str | None = None
    filters: Mapping[str, Any] | None = None
    require_llm: bool = False
    connections: int = 1
    headers: tuple[tuple[str, str], ...] = ()
    stream: bool = False
    pipeline: Path | None = None
    top_k: int | None = None


@asynccontextmanager
async def open_target(wanted: Wanted, cases: Sequence[Case], settings: Settings) -> AsyncIterator[tuple[Target, Facts]]:
    """Open what answers the cases, and look at it.

    Raises:
        PreflightError: the run would measure nothing.
        FilterError: the filter has no meaning.
        RagError: opening the corpus or loading the model failed.
    """
    if wanted.filters is not None:
        where(wanted.filters)  # one that has no meaning fails every question
    opened = _service(wanted, wanted.url) if wanted.url else _in_this_process(wanted, cases, settings)
    async with opened as (target, facts):
        options = {"filters": wanted.filters, "top_k": wanted.top_k, "route": "/run" if wanted.stream else None}
        facts.settings.update({name: value for name, value in options.items() if value is not None})
        yield WrittenByModel(target) if wanted.require_llm else target, facts


@asynccontextmanager
async def _service(wanted: Wanted, url: str) -> AsyncIterator[tuple[Target, Facts]]:
    limits = httpx.Limits(max_connections=wanted.connections)
    # How long a call may take is the asker's business.
    async with httpx.AsyncClient(
        base_url=url,
        headers=wanted.headers,
        timeout=None,  # noqa: S113
        limits=limits,
        trust_env=may_use_proxy(url),
    ) as client:
        facts = await look_at_service(client, wanted.corpus, require_llm=wanted.require_llm)
        ask = StreamTarget if wanted.stream else HttpTarget
        yield ask(client, corpus=wanted.corpus, filters=wanted.filters, top_k=wanted.top_k), facts


@asynccontextmanager
async def _in_this_process(
    wanted: Wanted, cases: Sequence[Case], settings: Settings
) -> AsyncIterator[tuple[Target, Facts]]:
    from query_engine.runtime.threads import in_thread  # noqa: PLC0415  # a service is asked without LlamaIndex

    check_author(settings.llm.provider, ready=True, reason="", required=wanted.require_llm)
    with ExitStack() as stack:
        load = partial(_load, wanted, cases) if wanted.pipeline is None else partial(_load_pipeline, wanted.pipeline)
        target, facts, warm_up = await in_thread(partial(load, settings, stack))
        for case in warm_up:  # so that the first question takes no longer than it would in a service that is up
            with suppress(NoReplyError):  # the questions will report the same failure
                await target.ask(case)
        yield target, facts


def _load_pipeline(file: Path, settings: Settings, stack: ExitStack) -> tuple[Target, Facts, list[Case]]:
    from eval.asking.pipeline import PipelineTarget  # noqa: PLC0415  # likewise
    from pipelines.body import read_plan  # noqa: PLC0415
    from pipelines.build import services_of  # noqa: PLC0415
    from pipelines.file import read_file  # noqa: PLC0415
    from pipelines.registry import all_steps  # noqa: PLC0415
    from pipelines.running import Runner  # noqa: PLC0415
    from pipelines.state import CHAT_DOCUMENTS  # noqa: PLC0415
    from query_engine.build import Engines  # noqa: PLC0415
    from research.modes import InMode  # noqa: PLC0415

    body = read_file(file)
    engines = Engines(settings)
    stack.callback(engines.close)
    services, registry = services_of(engines, settings), all_steps(settings.pipelines.steps_dir)
    plan = read_plan(body, registry, services, query=WARM_UP)
    named = [one.step.given.corpus or settings.index.corpus for one in plan.steps if hasattr(one.step.given, "corpus")]
    told: dict[str, Any] = {"model": settings.embed.model}
    marks, warnings = [_fingerprint_without_documents(engines)], list[str]()
    for name in dict.fromkeys(named):
        engine = _open(engines, name, settings)
        documents = engine.corpus.documents
        warnings += check_chunks(name, documents.leaf_count())
        told[name] = {"documents": documents.count(), "state": documents.state()}
        marks.append(engine.fingerprint())
    steps = {number: step for number, step in plan.body.items() if number != "query"}

    @contextmanager
    def over(documents: "Sequence[Document]") -> "Iterator[Answers]":
        # As in a chat: what was searched for is quoted as a corpus is.
        with engines.for_documents(documents, only_sure=False) as engine:
            yield InMode(engine, settings)

    fingerprint = hashlib.sha256(json.dumps([*marks, steps, _code_digest()]).encode()).hexdigest()[:16]
    target = PipelineTarget(
        lambda question: read_plan(body, registry, services, query=question),
        Runner(services, None, settings.pipelines),
        over,
        CHAT_DOCUMENTS,
        fingerprint,
        asyncio.Lock(),
    )
    facts = _facts(settings, named[0] if named else None, {"pipeline": steps, "index": told}, fingerprint, warnings)
    return target, facts, [Case(id="-", question=WARM_UP)]


def _load(
    wanted: Wanted, cases: Sequence[Case], settings: Settings, stack: ExitStack
) -> tuple[Target, Facts, list[Case]]:
    from eval.asking.in_process import InProcess  # noqa: PLC0415  # loads LlamaIndex
    from query_engine.build import Engines  # noqa: PLC0415  # likewise
    from query_engine.runtime.threads import in_thread  # noqa: PLC0415
    from research.modes import InMode  # noqa: PLC0415

    engines = Engines(settings)
    stack.callback(engines.close)
    engine = None if all(case.pages for case in cases) else _open(engines, wanted.corpus, settings)
    fingerprint = engine.fingerprint() if engine else _fingerprint_without_documents(engines)
    library = _library(engines, settings, stack, fingerprint) if any(case.pages for case in cases) else None
    told: dict[str, Any] = {"model": settings.embed.model}
    warnings: Sequence[str] = ()
    if engine is not None:
        documents = engine.corpus.documents
        leaves = documents.leaf_count()
        warnings = check_chunks(engine.corpus.name, leaves)
        told |= {"documents": documents.count(), "leaves": leaves, "state": documents.state()}

    async def text(doc_id: str) -> str | None:
        document = await in_thread(partial(engine.corpus.documents.get, doc_id)) if engine else None
        return document.text if document else None

    answers = InMode(engine, settings) if engine else None
    target = InProcess(answers, library, text, wanted.filters, wanted.top_k)
    warm_up = [Case(id="-", question=WARM_UP)] if engine else []
    if library:
        page = GivenPage(url="http://localhost/", html=WARM_UP_PAGE)
        warm_up.append(Case(id="-", question=WARM_UP, pages=(page,)))
    name = engine.corpus.name if engine else None
    return target, _facts(settings, name, {"index": told}, fingerprint, warnings), warm_up


def _facts(
    settings: Settings, corpus: str | None, more: dict[str, Any], fingerprint: str, warnings: Sequence[str]
) -> Facts:
    versions = {name: version(name) for name in LIBRARIES}
    return Facts(
        IN_PROCESS,
        corpus,
        settings={**settings.model_dump(mode="json", include=GROUPS), **more},  # masks secrets
        versions={"treeline": VERSION, "code": _code_digest(), "python": platform.python_version(), **versions},
        fingerprint=fingerprint,
        warnings=tuple(warnings),
    )


def _open(engines: "Engines", corpus: str | None, settings: Settings) -> "Engine":
    name = corpus or settings.index.corpus
    try:
        if name in engines.names():
            with closing(open_corpus(name, settings, engines.embedding.manifest)) as settling:
                settling.settle()  # a run that is gone on with in another process shall find the same
        return engines.get(name)
    except CorpusLockedError as error:
        if error.url is None:
            raise
        raise PreflightError(
            f"The service at {error.url} holds the corpus.", f"Ask it: add --url {error.url}; or stop it."
        ) from error


def _fingerprint_without_documents(engines: "Engines") -> str:
    with engines.for_documents([]) as empty:
        return empty.fingerprint()


def _library(engines: "Engines", settings: Settings, stack: ExitStack, fingerprint: str) -> "Library":
    from eval.asking.in_process import Library  # noqa: PLC0415
    from ingestion.reading.pages import Page, read_pages  # noqa: PLC0415  # only who is given pages reads any
    from ingestion.reading.reader import Reader  # noqa: PLC0415
    from research.modes import InMode  # noqa: PLC0415

    reader = stack.enter_context(Reader(settings.ingest))

    def read(pages: Sequence[GivenPage]) -> "tuple[list[Document], list[str]]":
        return read_pages([Page(page.url, page.html) for page in pages], reader)

    @contextmanager
    def over(documents: "Sequence[Document]") -> "Iterator[Answers]":
        with engines.for_documents(documents) as engine:
            yield InMode(engine, settings)

    return Library(read, over, fingerprint)


def _code_digest() -> str:
    """Name the code and the prompts that answer, 12 hex digits: a changed line makes other answers."""
    home = Path(__file__).parents[2]
    digest = hashlib.sha256()
    for place in (home / name for name in CODE):
        for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
            if path.is_file() and path.suffix in {".py", ".txt", ".json"}:
                digest.update(f"{path.relative_to(home)}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:12]
