"""Compose the HTTP application from engines and settings.

Flow: `main.py` (or a test, with fakes) -> **here** -> an ASGI application. The caller that made the
engines and the jobs closes them.
"""

from pathlib import Path

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.errors import ServerErrorMiddleware

from api import errors, openapi
from api.admission import AdmissionQueue
from api.dependencies import Ingester, PageAnswers, Service, SourceAnswers
from api.headers import SecurityHeaders
from api.hosts import Hosts
from api.jobs.queue import Jobs
from api.mcp.http import McpEndpoint
from api.openapi import FAILURES, KEY_REFUSED, OPENAI_FAILURES, OPENAI_KEY_REFUSED, Described, operation_id
from api.recorder import Recorder
from api.routes import (
    answer,
    catalogue,
    chat,
    description,
    documents,
    evaluate,
    feedback,
    health,
    ingest,
    login,
    mcp,
    metrics,
    originals,
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
from api.routes import (
    jobs as job_routes,
)
from api.security.auth import KeyGate, KeyRequired
from api.security.body_limit import MAX_BYTES_AT, BodyLimit
from api.security.guarded_engines import GuardedEngines, WholeEngines
from api.security.keyring import Keyring
from api.security.same_origin import SameOrigin
from api.study import Study, StudyNotes
from api.telemetry.middleware import Watched
from api.telemetry.requests import Watching
from api.views.html import Pages
from api.web import page
from api.workers.role import WorkerRole, single, slots_of
from api.workers.writer_proxy import WriterProxy
from ingestion.reading.page_renderer import PageRenderer
from pipelines.build import Pipelines, without_models
from query_engine.answer_cache import AnswerCache
from settings import VERSION, ServeSettings, Settings

ABOUT = (
    'Answers questions from your documents, with citations. Errors are `{"error": {"code", "detail"}}`; below `/v1/` '
    "they have OpenAI's form. Where the service has keys, send one in any of the ways below."
)
ROUTES = (
    (query, openapi.ASK),
    (ingest, openapi.INGEST),
    (job_routes, openapi.INGEST),
    (uploads, openapi.INGEST),
    (catalogue, openapi.DOCUMENTS),
    (originals, openapi.DOCUMENTS),
    (documents, openapi.DOCUMENTS),
    (pages, openapi.DOCUMENTS),
    (retrieve, openapi.SEARCH),
    (research, openapi.RESEARCH),
    (run, openapi.CONTEST),
    (evaluate, openapi.CONTEST),
    (tasks, openapi.PIPELINES),
    (pipelines, openapi.PIPELINES),
    (feedback, openapi.FEEDBACK),
    (study, openapi.FEEDBACK),
    (runs, openapi.RUNS),
    (metrics, openapi.SERVICE),
)
OVER_GIVEN_PAGES = ((answer, openapi.ASK), (task_chats, openapi.PIPELINES))


def create_app(
    engines: WholeEngines,
    settings: Settings,
    ingester: Ingester,
    jobs: Jobs,
    ingested: Path | None = None,
    *,
    web: SourceAnswers | None = None,
    given: PageAnswers | None = None,
    pipelines_of_steps: Pipelines | None = None,
    role: WorkerRole | None = None,
) -> Described:
    """Return the application with all its routes.

    Args:
        engines: answer.
        settings: all of them; where traces go, the environment says.
        ingester: writes into corpora.
        jobs: run it.
        ingested: what the service was started with; clients may have it ingested again, as what `ingest.root` names.
        web: answers from sources where no corpus is named; None if there are none.
        given: answers over given pages; without it there is no `/answer`, and no chat over a task's results.
        pipelines_of_steps: run steps over tables of documents; without models and in memory if None.
        role: what this process does in its service; None: everything.
    """
    app = Described(
        title="Treeline",
        version=VERSION,
        description=ABOUT,
        # `routes/description.py` has the description, `web/page.py` its page: the framework's loads from elsewhere.
        openapi_url=None,
        openapi_tags=openapi.TAGS,
        generate_unique_id_function=operation_id,
        # Its own telemetry tells paths and queries, which may hold a question; `telemetry/` tells neither.
        telemetry={"tracing": False, "metrics": False, "logs": False},
        responses=FAILURES,
    )
    templates = Pages()
    role = role or single(ServeSettings(), "")
    watching = Watching()
    answers = AnswerCache(
        settings.cache.entries,
        settings.cache.ttl_s,
        mark=role.cache_mark,
        on_lookup=lambda found: watching.metrics.lookup(found=found),
    )
    # Quotes cost the processor and nothing else: more at once than cores would only make each of them late.
    slots = AdmissionQueue(slots_of(settings.serve), settings.serve.queue, watching.metrics.queue)
    roots = tuple(root for root in (settings.ingest.root, ingested) if root is not None)
    recorder = Recorder(settings.feedback, settings.index.dir, beside_others=role.workers > 1)
    study_notes = Study(settings.study, settings.index.dir)
    guarded, keyring = GuardedEngines(engines, settings.index.corpus), Keyring(settings.serve)
    pipelines_of_steps = pipelines_of_steps or without_models(engines, settings)
    pipelines_of_steps.guard(guarded, keyring.acting)
    service = Service(
        guarded,
        settings,
        Hosts(settings.serve),
        templates,
        ingester,
        jobs,
        slots,
        answers,
        pipelines_of_steps,
        PageRenderer(settings.ingest),
        recorder,
        study_notes,
        watching,
        roots,
        web,
        given,
    )
    app.state.service, app.state.mcp, app.state.keyring = service, McpEndpoint(service), keyring
    app.state.role, app.state.jobs = role, jobs
    if settings.study.notes != "nothing":
        app.add_middleware(StudyNotes, study=study_notes)
    if not role.writes:
        app.add_middleware(WriterProxy, writer_url=role.writer_url)
    app.add_middleware(BodyLimit, max_bytes_at={**MAX_BYTES_AT, "/documents": settings.ingest.max_upload_bytes})
    app.add_middleware(KeyGate, keyring=app.state.keyring)
    app.add_middleware(SameOrigin, serve=settings.serve)
    errors.install(app, templates)
    # The framework's own stands around all middleware: its reply would lack their headers.
    app.add_middleware(ServerErrorMiddleware, handler=app.exception_handlers[Exception])
    if origins := settings.serve.known_origins():
        app.add_middleware(CORSMiddleware, allow_origins=origins, allow_methods=["*"], allow_headers=["*"])
    over_tls = (settings.serve.public_url or "").startswith("https://")
    app.add_middleware(SecurityHeaders, over_tls=over_tls, cors=bool(origins))
    # The last one added is the first one asked.
    app.add_middleware(Watched, watching=watching, questions=settings.serve.log_questions)
    _include_routes(app, over_given_pages=given is not None)
    return app


def _include_routes(app: FastAPI, *, over_given_pages: bool) -> None:
    for module, tag in ROUTES:
        app.include_router(module.router, tags=[tag], dependencies=[KeyRequired], responses=KEY_REFUSED)
    for router in (page.router, page.at_root):
        app.include_router(router, dependencies=[KeyRequired])
    app.include_router(
        chat.router,
        tags=[openapi.CHAT],
        dependencies=[KeyRequired],
        responses={**OPENAI_FAILURES, **OPENAI_KEY_REFUSED},
    )
    if over_given_pages:
        for module, tag in OVER_GIVEN_PAGES:
            app.include_router(module.router, tags=[tag], dependencies=[KeyRequired], responses=KEY_REFUSED)
    app.include_router(mcp.router, tags=[openapi.TOOLS], dependencies=[KeyRequired], responses=KEY_REFUSED)
    for module in (papers, react):
        app.include_router(module.router, tags=[openapi.PAPERS], dependencies=[KeyRequired])
    # A probe has no key, nor has a person who brings one.
    for module in (health, login, description):
        app.include_router(module.router, tags=[openapi.SERVICE])
