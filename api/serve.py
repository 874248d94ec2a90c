"""Open all that the service answers from, and close it again.

Flow: `main.py` has settings and a socket -> **here** -> an application whose corpora, models and tasks are open. What
cannot be opened is refused here, before the first connection.
"""

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path

from fastapi import FastAPI

from api.app import create_app
from api.dependencies import Service
from api.jobs.ingester import Ingester
from api.jobs.queue import Job, Jobs
from api.jobs.watcher import FolderWatcher
from api.routes.ingest import submit
from api.schemas.requests import IngestBody
from api.workers.role import WorkerRole, single
from errors import StorageError, UnknownCorpusError
from pipelines.build import open_pipelines, without_models
from query_engine.build import Engines
from settings import Settings
from sources.build import build_source_engine
from sources.engine import SourceEngine
from sources.given_pages import PageAnswers, PageReaders

logger = logging.getLogger(__name__)


@contextmanager
def application(
    settings: Settings,
    url: str,
    folder: Path | None = None,
    listen: Callable[[], None] = lambda: None,
    watched: str | None = None,
    *,
    role: WorkerRole | None = None,
    jobs: Jobs | None = None,
) -> Iterator[FastAPI]:
    """Yield the application with all that it answers from; close it at the end.

    Args:
        settings: all of them.
        url: where the service is reached from this machine.
        folder: what was ingested at the start; clients may have it ingested again.
        listen: called as soon as nothing can fail any more.
        watched: the corpus that `folder` was ingested into, if it shall be kept in step with it.
        role: what this process does in its service; None: as the settings say for the only one.
        jobs: where ingestions run; None: nothing else knows of them. Closed at the end.

    Raises:
        RagError: a model, the default corpus or the tasks cannot be opened.
    """
    role = role or single(settings.serve, url)
    settings = role.settings(settings)
    with ExitStack() as stack:
        engines = stack.enter_context(closing(Engines(settings, access=role.access)))
        pipelines = stack.enter_context(
            closing(open_pipelines(engines, settings) if role.writes else without_models(engines, settings))
        )
        readers = stack.enter_context(closing(PageReaders(settings)))
        jobs = stack.enter_context(closing(jobs or Jobs()))
        web = build_source_engine(engines, settings)
        offer = describe(engines, web)
        listen()
        if settings.serve.log_format == "json":
            logger.info("started", extra={"offer": offer, "url": url})
        else:
            sys.stderr.write(f"{offer} on {url}\n")
        app = create_app(
            engines,
            settings,
            Ingester(engines, settings),
            jobs,
            folder,
            web=web,
            given=PageAnswers(engines, readers, settings),
            pipelines_of_steps=pipelines,
            role=role,
        )
        pipelines.resume()
        service = app.state.service
        for kept_open in (service.study, service.recorder, service.page_renderer, service.watching):
            stack.callback(kept_open.close)
        if folder is not None and watched is not None and role.writes:
            watcher = FolderWatcher(folder.resolve(), partial(_submit_changes, service, folder, watched))
            stack.callback(watcher.close)
            stack.callback(jobs.stop)
        yield app


def _submit_changes(service: Service, folder: Path, corpus: str, names: tuple[str, ...] | None) -> Job:
    files = None if names is None else list(names)
    return submit(service, IngestBody(path=str(folder.resolve()), corpus=corpus, files=files, prune=bool(files)))


def describe(engines: Engines, web: SourceEngine | None = None) -> str:
    """Open the default corpus and say what there is to answer from.

    A missing one does not keep the service from starting, nor does a full disk: `/ready` tells of it and tries again.

    Raises:
        CorpusError: it is locked, damaged, or was built with other settings.
    """
    try:
        with engines.lease() as engine:
            offer = f"Treeline serves corpus {engine.corpus.name!r} ({engine.corpus.documents.count()} documents)"
    except (UnknownCorpusError, StorageError) as error:
        offer = f"Treeline serves no default corpus ({error})"
    return offer if web is None else f"Treeline answers from {', '.join(web.sources)}. {offer}"
