"""Settings and a command's arguments -> the engine or the pipeline of this process, and what is known of it beforehand.

Flow: `command.py` -> **here** -> `in_process.py` or `pipeline.py`. The only place of this package that loads models,
so it is imported only where no service is asked.
"""

import argparse
import hashlib
import json
import platform
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, closing, contextmanager, suppress
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from errors import CorpusLockedError, RagError
from eval.asking.in_process import Answers, InProcess, ReadPages
from eval.asking.target import NoReplyError, Target, check_author, check_chunks
from eval.cases import Case, GivenPage
from eval.run_folder import Header
from index.build import open_corpus
from index.documents.store import Document
from query_engine.build import Engines
from query_engine.engine import Engine
from query_engine.runtime.threads import in_thread
from research.modes import InMode
from settings import VERSION, Settings

LIBRARIES = ("llama-index-core", "chromadb", "tantivy", "openvino")
CODE = ("index", "query_engine", "research", "pipelines", "settings.py", "setting_groups.py")
GROUPS: dict[str, Any] = {
    "retrieval": True,
    "rerank": True,
    "expansion": True,
    "answer": True,
    "llm": True,
    "chunk": True,
    "embed": {"model", "device", "precision", "query_prefix", "document_prefix"},
}
WARM_UP = Case(id="-", question="What is this about?")
# Long enough to be cut: what cuts it is loaded with the first such text.
WARM_UP_PAGE = f"<html><body><p>{'An engine is warmed up before it is asked. ' * 200}</p></body></html>"

Loaded = tuple[Target, dict[str, Any], list[str], list[Case]]
"""The target, what the run's header records about it, warnings, and the questions that warm it up."""


@asynccontextmanager
async def open_engine(
    arguments: argparse.Namespace, cases: Sequence[Case], settings: Settings, draft: Header
) -> AsyncIterator[tuple[Target, Header, Sequence[str]]]:
    """Open what answers the cases in this process; yields it, the draft with what is known of it, and warnings.

    Raises:
        RagError: the run would measure nothing, or the corpus or the model cannot be opened.
    """
    if arguments.require_llm:
        check_author(settings.llm.provider)
    with ExitStack() as stack:
        load = _load_pipeline if arguments.pipeline else _load
        target, known, warnings, warm_up = await in_thread(partial(load, arguments, cases, settings, stack))
        for case in warm_up:  # so that the first question takes no longer than it would in a service that is up
            with suppress(NoReplyError):  # the questions will report the same failure
                await target.ask(case)
        yield target, draft.model_copy(update=known), warnings


def _load(arguments: argparse.Namespace, cases: Sequence[Case], settings: Settings, stack: ExitStack) -> Loaded:
    engines = Engines(settings)
    stack.callback(engines.close)
    engine = None if all(case.pages for case in cases) else _open(engines, arguments.corpus, settings)
    told: dict[str, Any] = {"model": settings.embed.model}
    warnings, warm_up = list[str](), list[Case]()
    if engine is not None:
        documents = engine.corpus.documents
        leaves = documents.leaf_count()
        warnings, warm_up = check_chunks(engine.corpus.name, leaves), [WARM_UP]
        told |= {"documents": documents.count(), "leaves": leaves, "state": documents.state()}
    fingerprint = engine.fingerprint() if engine else _fingerprint_without_documents(engines)
    target = InProcess(
        InMode(engine, settings) if engine else None,
        engine.corpus.documents if engine else None,
        arguments.filters,
        arguments.top_k,
        open_engine=partial(_over, engines, settings),
        fingerprint=fingerprint,
    )
    if any(case.pages for case in cases):
        target.read_pages = _reading(settings, stack)
        warm_up.append(WARM_UP.model_copy(update={"pages": (GivenPage(url="http://localhost/", html=WARM_UP_PAGE),)}))
    name = engine.corpus.name if engine else None
    return target, _known(settings, name, fingerprint, index=told), warnings, warm_up


def _load_pipeline(
    arguments: argparse.Namespace, cases: Sequence[Case], settings: Settings, stack: ExitStack
) -> Loaded:
    from eval.asking.pipeline import PipelineTarget, read_pipeline  # noqa: PLC0415  # loads every step there is

    del cases
    engines = Engines(settings)
    stack.callback(engines.close)
    plan_of, runner = read_pipeline(arguments.pipeline, engines, settings)
    plan = plan_of(WARM_UP.question)
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
    fingerprint = hashlib.sha256(json.dumps([*marks, steps, _code_digest()]).encode()).hexdigest()[:16]
    # As in a chat: what was searched for is quoted as a corpus is.
    target = PipelineTarget(plan_of, runner, partial(_over, engines, settings, only_sure=False), fingerprint)
    known = _known(settings, named[0] if named else None, fingerprint, pipeline=steps, index=told)
    return target, known, warnings, [WARM_UP]


def _known(settings: Settings, corpus: str | None, fingerprint: str, **more: Any) -> dict[str, Any]:
    versions = {name: version(name) for name in LIBRARIES}
    return {
        "corpus": corpus,
        "settings": {**settings.model_dump(mode="json", include=GROUPS), **more},  # masks secrets
        "versions": {"treeline": VERSION, "code": _code_digest(), "python": platform.python_version(), **versions},
        "fingerprint": fingerprint,
    }


def _open(engines: Engines, corpus: str | None, settings: Settings) -> Engine:
    name = corpus or settings.index.corpus
    try:
        if name in engines.names():
            with closing(open_corpus(name, settings, engines.embeddings.of(name).manifest)) as opened:
                opened.flush()  # so that a run continued in another process finds the same
        return engines.get(name)
    except CorpusLockedError as error:
        if error.url is None:
            raise
        raise RagError(
            f"The service at {error.url} holds the corpus.", f"Ask it: add --url {error.url}; or stop it.", "preflight"
        ) from error


@contextmanager
def _over(
    engines: Engines, settings: Settings, documents: Sequence[Document], *, only_sure: bool = True
) -> Iterator[Answers]:
    with engines.for_documents(documents, only_sure=only_sure) as engine:
        yield InMode(engine, settings)


def _fingerprint_without_documents(engines: Engines) -> str:
    with engines.for_documents([]) as empty:
        return empty.fingerprint()


def _reading(settings: Settings, stack: ExitStack) -> ReadPages:
    from ingestion.reading.pages import Page, read_pages  # noqa: PLC0415  # only needed where questions come with pages
    from ingestion.reading.reader import Reader  # noqa: PLC0415

    reader = stack.enter_context(Reader(settings.ingest))
    return lambda pages: read_pages([Page(page.url, page.html) for page in pages], reader)


def _code_digest() -> str:
    """Name the code and the prompts that answer, 12 hex digits: a changed line makes other answers."""
    home = Path(__file__).parents[2]
    digest = hashlib.sha256()
    for place in (home / name for name in CODE):
        for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
            if path.is_file() and path.suffix in {".py", ".txt", ".json"}:
                digest.update(f"{path.relative_to(home)}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:12]
