"""Compose the HTTP application from engines and settings.

Flow: `main.py` (or a test, with fakes) -> **here** -> an ASGI application. The caller that made the
engines and the jobs closes them.
"""

import os
from pathlib import Path

from fastapi import FastAPI

from api import errors
from api.admission import AdmissionQueue
from api.dependencies import Engines, Ingester, PageAnswers, Service, SourceAnswers
from api.described import FAILURES, KEY_REFUSED, OPENAI_FAILURES, OPENAI_KEY_REFUSED
from api.jobs.queue import Jobs
from api.mcp.http import McpEndpoint
from api.recorder import Recorder
from api.routes import (
    answer,
    catalogue,
    chat,
    documents,
    evaluate,
    feedback,
    health,
    ingest,
    mcp,
    pages,
    papers,
    pipelines,
    query,
    react,
    research,
    retrieve,
    run,
    runs,
    study,
    task_chats,
    tasks,
    uploads,
)
from api.security.auth import KeyRequired
from api.security.body_limit import MAX_BYTES_AT, BodyLimit
from api.security.same_origin import SameOrigin
from api.study import Study, StudyNotes
from api.views.html import Pages
from api.web import page
from ingestion.reading.page_renderer import PageRenderer
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
    web: SourceAnswers | None = None,
    given: PageAnswers | None = None,
    pipelines_of_steps: Pipelines | None = None,
) -> FastAPI:
    """Return the application with all its routes.

    Args:
        engines: answer.
        settings: all of them.
        ingester: writes into corpora.
        jobs: run it.
        ingested: what the service was started with; clients may have it ingested again, as what `ingest.root` names.
        web: answers from sources where no corpus is named; None if there are none.
        given: answers over given pages; without it there is no `/answer`, and no chat over a task's results.
        pipelines_of_steps: run steps over tables of documents; without models and in memory if None.
    """
    app = FastAPI(
        title="Treeline",
        version=VERSION,
        # The interactive pages load scripts from elsewhere; the description itself is at /openapi.json.
        docs_url=None,
        redoc_url=None,
        responses=FAILURES,
    )
    templates = Pages()
    answers = AnswerCache(settings.cache.entries, settings.cache.ttl_s)
    # Quotes cost the processor and nothing else: more at once than cores would only make each of them late.
    slots = AdmissionQueue(settings.serve.slots or max(LEAST_SLOTS, os.cpu_count() or 1), settings.serve.queue)
    roots = tuple(root for root in (settings.ingest.root, ingested) if root is not None)
    recorder = Recorder(settings.feedback, settings.index.dir)
    study_notes = Study(settings.study, settings.index.dir)
    service = Service(
        engines,
        settings,
        templates,
        ingester,
        jobs,
        slots,
        answers,
        pipelines_of_steps or without_models(engines, settings),
        PageRenderer(settings.ingest),
        roots,
        web,
        given,
        recorder=recorder,
        study=study_notes,
    )
    app.state.service, app.state.mcp = service, McpEndpoint(service)
    if settings.study.enabled:
        app.add_middleware(StudyNotes, study=study_notes)
    app.add_middleware(BodyLimit, max_bytes_at={**MAX_BYTES_AT, "/documents": settings.ingest.max_upload_bytes})
    app.add_middleware(SameOrigin, serve=settings.serve)  # the last one added is the first one asked
    errors.install(app, templates, settings.pipelines.unknown_chat_status)
    asking = (run, evaluate, query, research, retrieve, tasks, pipelines)
    for module in (*asking, catalogue, uploads, documents, pages, ingest, feedback, runs, study, page):
        app.include_router(module.router, dependencies=[KeyRequired], responses=KEY_REFUSED)
    app.include_router(page.at_root, dependencies=[KeyRequired], responses=KEY_REFUSED)
    openai = {**OPENAI_FAILURES, **OPENAI_KEY_REFUSED}
    app.include_router(chat.router, dependencies=[KeyRequired], responses=openai)
    if given is not None:
        for module in (answer, task_chats):
            app.include_router(module.router, dependencies=[KeyRequired], responses=KEY_REFUSED)
    if settings.mcp.enabled:
        app.include_router(mcp.router, dependencies=[KeyRequired], responses=KEY_REFUSED)
    # A probe has no key; papers ask for theirs in their own way.
    for module in (papers, react, health):
        app.include_router(module.router)
    return app
