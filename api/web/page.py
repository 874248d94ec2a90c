"""`GET` and `HEAD /ui`: the web page, its modules, styles and start-up facts; `/docs`, `/app_config`, `/<file>`.

Flow: a browser -> **here** -> `static/` unchanged. There is no build step: the browser loads our modules and, from
`static/vendor/`, the libraries. All data comes through the routes that every client uses.

The page loads nothing from elsewhere and runs no inline script; its content security policy says so to the browser.
"""

from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from typing import get_args

from fastapi import APIRouter, Request
from starlette.responses import FileResponse, RedirectResponse, Response

from api.caller import CALLER, may_use
from api.dependencies import ServiceDep
from api.security.auth import COOKIE
from api.views.negotiation import JSONReply
from errors import UnknownPathError
from ingestion.reading.format_table import COMPRESSIONS, FORMATS, IMAGES
from pipelines.steps.corpus_source import CorpusSource
from query_engine.synthesis.build import writer_names
from settings import VERSION, Mode

STATIC = Path(__file__).parent / "static"
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    # Revalidated by its ETag at each load, so that an upgraded service never meets the modules of the one before.
    "Cache-Control": "no-cache",
}
# Swagger UI's styles hold their icons.
DOCS_HEADERS = HEADERS | {
    "Content-Security-Policy": HEADERS["Content-Security-Policy"].replace("img-src 'self'", "img-src 'self' data:")
}
TYPES = {".css": "text/css", ".html": "text/html", ".js": "text/javascript", ".svg": "image/svg+xml"}

router = APIRouter(prefix="/ui", include_in_schema=False)
at_root = APIRouter(include_in_schema=False)
"""What clients of mosaicRAG expect at the root."""


@router.api_route("", methods=["GET", "HEAD"])
def page(request: Request) -> Response:
    """Return the page."""
    return _file("index.html", request)


@router.api_route("/static/{path:path}", methods=["GET", "HEAD"])
def static(path: str, request: Request) -> Response:
    """Return one of the page's files."""
    return _file(path, request)


@router.get("/config")
def config(service: ServiceDep, request: Request) -> JSONReply:
    """Say what the page has to offer: corpora, preset questions, who writes, and whether files can be brought in."""
    key = CALLER.get() if COOKIE in request.cookies else None
    settings, names = service.settings, service.engines.names()
    default = settings.index.corpus
    return JSONReply(
        {
            "version": VERSION,
            "signed_in_as": key and key.name,
            "title": settings.serve.title,
            "subtitle": settings.serve.subtitle,
            "theme": settings.serve.theme,
            "about": {"text": settings.serve.about_text, "url": settings.serve.about_url},
            "pipeline": settings.pipelines.default,
            "default_corpus": default if may_use(default) else next(iter(names), default),
            "corpora": names,
            "synthesizer": settings.llm.provider,
            "writers": writer_names(settings.llm),
            "mode": settings.answer.mode,
            "modes": get_args(Mode),
            "preset_questions": {
                corpus: asked for corpus, asked in settings.serve.preset_questions.items() if may_use(corpus)
            },
            "retrieval": settings.retrieval.model_dump(mode="json"),
            "rerank": settings.rerank.method,
            "can_ingest": bool(service.ingest_roots),
            "runs": settings.serve.runs is not None,
            "upload": {
                "max_bytes": settings.ingest.max_upload_bytes,
                "formats": [*FORMATS, *(IMAGES if settings.ingest.ocr else ()), *COMPRESSIONS],
            },
        }
    )


@at_root.api_route("/docs", methods=["GET", "HEAD"])
def docs(request: Request) -> Response:
    """Return the page that shows `/openapi.json`, with Swagger UI."""
    return _sent("docs.html", request, DOCS_HEADERS)


@at_root.get("/redoc")
def redoc() -> Response:
    """Send those who look for the framework's other page to `/docs`."""
    return RedirectResponse("docs", 307)


@at_root.get("/app_config")
def app_config(service: ServiceDep, request: Request) -> JSONReply:
    """Return what a front end of mosaicRAG asks for at its start."""
    settings = service.settings
    return JSONReply(
        {
            "colorTheme": settings.serve.theme,
            "title": settings.serve.title,
            "subTitle": settings.serve.subtitle,
            "pipelineConfigAllowed": True,
            "logsAllowed": True,
            "pipeline": settings.pipelines.default or {"1": {"id": CorpusSource.id}},
            "aboutLinkText": settings.serve.about_text,
            "aboutLinkURL": settings.serve.about_url or f"{service.hosts.base_url(request).rstrip('/')}/ui",
        }
    )


def redirect() -> Response:
    """Send a browser that opens the service's address to the page."""
    return RedirectResponse("ui", 307, headers={"Vary": "Accept"})


@cache
def _files() -> dict[str, Path]:
    """Return the files by their path below `static/`; what is not listed here is not served."""
    return {str(path.relative_to(STATIC)): path for path in STATIC.rglob("*") if path.suffix in TYPES}


def _file(name: str, request: Request) -> Response:
    return _sent(name, request, HEADERS)


def _sent(name: str, request: Request, headers: Mapping[str, str]) -> Response:
    path = _files().get(name)
    if path is None:
        raise UnknownPathError("The page has no such file.", "Open `/ui`.")
    response = FileResponse(path, headers=headers, media_type=TYPES[path.suffix], stat_result=path.stat())
    if request.headers.get("if-none-match") == response.headers["etag"]:
        return Response(status_code=304, headers={**headers, "etag": response.headers["etag"]})
    return response


# One route a file: a pattern would take the addresses of all others, and their 405s.
for _name in _files():
    at_root.add_api_route(f"/{_name}", partial(_file, _name))
