"""Compose the HTTP application from engines and settings.

Flow: `main.py` (or a test, with fakes) -> **here** -> an ASGI application. The caller that made the
engines and the jobs closes them.
"""

import os
from pathlib import Path

from fastapi import FastAPI

from api import errors
from api.admission import AdmissionQueue
from api.dependencies import Engines, Ingester, Service
from api.jobs.queue import Jobs
from api.routes import (
    catalogue,
    chat,
    documents,
    evaluate,
    health,
    ingest,
    papers,
    pipelines,
    query,
    retrieve,
    run,
    tasks,
)
from api.security.auth import KeyRequired
from api.security.body_limit import BodyLimit
from api.views.html import Pages
from api.web import page
from pipelines.build import Pipelines, without_models
from query_engine.answer_cache import AnswerCache
from settings import VERSION, Settings

# So that one question that hangs does not stop the service.
LEAST_SLOTS = 2


def create_app(
    engines: Engines,
    settings: Settings,
    ingester: Ingester,
    jobs: Jobs,
    ingested: Path | None = None,
    *,
    pipelines_of_steps: Pipelines | None = None,
) -> FastAPI:
    """Return the application with all its routes.

    Args:
        engines: answer.
        settings: all of them.
        ingester: writes into corpora.
        jobs: run it.
        ingested: what the service was started with; clients may have it ingested again, as what `ingest.root` names.
        pipelines_of_steps: run steps over tables of documents; without models and in memory if None.
    """
    app = FastAPI(
        title="Treeline",
        version=VERSION,
        # The interactive pages load scripts from elsewhere; the description itself is at /openapi.json.
        docs_url=None,
        redoc_url=None,
        responses={422: {"model": errors.ErrorReply}},
    )
    pages = Pages()
    answers = AnswerCache(settings.cache.entries, settings.cache.ttl_s)
    # Quotes cost the processor and nothing else: more at once than cores would only make each of them late.
    slots = AdmissionQueue(settings.serve.slots or max(LEAST_SLOTS, os.cpu_count() or 1), settings.serve.queue)
    roots = tuple(root for root in (settings.ingest.root, ingested) if root is not None)
    app.state.service = Service(
        engines,
        settings,
        pages,
        ingester,
        jobs,
        slots,
        answers,
        pipelines_of_steps or without_models(engines, settings),
        roots,
    )
    app.add_middleware(BodyLimit)
    errors.install(app, pages)
    for module in (run, evaluate, query, chat, retrieve, catalogue, documents, ingest, tasks, pipelines, page):
        app.include_router(module.router, dependencies=[KeyRequired])
    # A probe has no key; papers ask for theirs in their own way.
    for module in (papers, health):
        app.include_router(module.router)
    return app
