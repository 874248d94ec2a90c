"""`GET` and `HEAD /ui`: the web page, its modules, styles and start-up facts; `/docs`, `/app_config`, `/<file>`.

Flow: a browser -> **here** -> `static/`, our modules joined (`joined.py`) and all compressed. There is no build step.
All data comes through the routes that every client uses.

The page loads nothing from elsewhere and runs no inline script; its content security policy says so to the browser.
"""

import gzip
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Annotated, get_args

from fastapi import APIRouter, Query, Request
from starlette.responses import RedirectResponse, Response

from api.caller import ADMIN, CALLER, INGEST, may_use
from api.dependencies import ServiceDep
from api.schemas.requests import CorporaName
from api.security.auth import COOKIE
from api.security.ingest_paths import SAMPLE, SAMPLE_FOLDER
from api.views.negotiation import JSONReply
from api.web.joined import joined
from errors import UnknownPathError
from index.corpus import ALL, member_names
from index.documents.store import StoredDocument
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
LASTING = HEADERS | {"Cache-Control": "public, max-age=31536000, immutable"}
# Swagger UI's styles hold their icons.
DOCS_HEADERS = HEADERS | {
    "Content-Security-Policy": HEADERS["Content-Security-Policy"].replace("img-src 'self'", "img-src 'self' data:")
}
# What a conversation begins with: the newest documents looked at, titles and topics shown, and headings, of each and in
# all.
NEWEST, TITLES, TOPICS, HEADINGS_EACH, HEADINGS = 12, 4, 4, 2, 6
HEADING_CHARS = 8, 60
SCRIPTS = "app.js", "document.js"
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
    """Return one of the page's files; below the version of all of them, browsers may keep it for good."""
    version, _, rest = path.partition("/")
    return _sent(rest, request, LASTING) if version == _version() else _file(path, request)


@router.get("/config")
def config(service: ServiceDep, request: Request) -> JSONReply:
    """Say what the page has to offer: corpora, preset questions, who writes, and whether files can be brought in."""
    caller = CALLER.get()
    key = caller if COOKIE in request.cookies else None
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
            "sample": SAMPLE if SAMPLE_FOLDER.is_dir() and (caller is None or caller.allows(INGEST)) else None,
            "can_drop": caller is None or caller.allows(ADMIN),
            "runs": settings.serve.runs is not None,
            "upload": {
                "max_bytes": settings.ingest.max_upload_bytes,
                "formats": [*FORMATS, *(IMAGES if settings.ingest.ocr else ()), *COMPRESSIONS],
            },
        }
    )


@router.get("/beginning")
def beginning(service: ServiceDep, corpus: Annotated[CorporaName | None, Query()] = None) -> JSONReply:
    """Say what a conversation may begin with: the number of documents, topics, the newest titles, headings."""
    names = service.engines.names() if corpus == ALL else member_names(corpus or service.settings.index.corpus)
    counted, topics, titles, headings = 0, Counter[str](), list[str](), list[str]()
    for name in names:
        with service.engines.lease(name) as engine:
            newest = engine.corpus.catalogue.briefs(None, NEWEST, newest=True)
            found = (engine.corpus.documents.get(one.doc_id) for one in newest)
            counted += engine.corpus.documents.count()
            topics += Counter(engine.corpus.catalogue.topics())
            titles += [one.title for one in newest]
            headings += [each for one in found if one is not None for each in islice(_headings(one), HEADINGS_EACH)]
    return JSONReply(
        {
            "documents": counted,
            "topics": [topic for topic, _ in topics.most_common(TOPICS)],
            "titles": _some(titles, TITLES),
            "headings": _some(headings, HEADINGS),
        }
    )


def _some(texts: Iterable[str], most: int) -> list[str]:
    return list(dict.fromkeys(texts))[:most]


def _headings(document: StoredDocument) -> Iterator[str]:
    """Yield the headings below a document's title that are long enough to ask about."""
    for block in document.structure.blocks:
        text = " ".join(document.text[slice(*block.inner)].split())
        if block.kind == "heading" and HEADING_CHARS[0] <= len(text) <= HEADING_CHARS[1] and text != document.title:
            yield text


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


@dataclass(frozen=True, slots=True)
class _File:
    """A file of the page."""

    plain: bytes
    compressed: bytes
    hash: str
    media_type: str


def _paths() -> dict[str, Path]:
    """Return what is served, by its path below `static/`."""
    return {str(path.relative_to(STATIC)): path for path in sorted(STATIC.rglob("*")) if path.suffix in TYPES}


@cache
def _files() -> dict[str, _File]:
    """Return the files by the same path; compressed when the first of them is asked for, not at the start."""
    paths = _paths()
    contents = {name: path.read_bytes() for name, path in paths.items()}
    contents |= {name: joined(paths[name]).encode() for name in SCRIPTS}
    # All others by an address that names their version.
    contents["index.html"] = contents["index.html"].replace(b"ui/static/", f"ui/static/{_version()}/".encode())
    return {
        name: _File(content, gzip.compress(content, mtime=0), _hash(content), TYPES[paths[name].suffix])
        for name, content in contents.items()
    }


@cache
def _version() -> str:
    """Return the version of all files."""
    return _hash(b"".join(path.read_bytes() for path in sorted(STATIC.rglob("*")) if path.is_file()))


def _hash(content: bytes) -> str:
    return sha256(content).hexdigest()[:16]


def _file(name: str, request: Request) -> Response:
    return _sent(name, request, HEADERS)


def _sent(name: str, request: Request, headers: Mapping[str, str]) -> Response:
    file = _files().get(name)
    if file is None:
        raise UnknownPathError("The page has no such file.", "Open `/ui`.")
    packed = "gzip" in request.headers.get("accept-encoding", "")
    etag = f'"{file.hash}-gzip"' if packed else f'"{file.hash}"'
    headers = {**headers, "etag": etag, "vary": "Accept-Encoding"}
    if request.headers.get("if-none-match") == etag:
        return Response(status_code=304, headers=headers)
    if packed:
        return Response(file.compressed, headers=headers | {"content-encoding": "gzip"}, media_type=file.media_type)
    return Response(file.plain, headers=headers, media_type=file.media_type)


# One route a file: a pattern would take the addresses of all others, and their 405s.
for _name in _paths():
    at_root.add_api_route(f"/{_name}", partial(_file, _name))
