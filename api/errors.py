"""Translate failures to HTTP: one table of status codes, one envelope, nothing of the client's input, no path of ours.

Flow: an exception leaves a route -> **here** -> `{"error": {"code", "detail"[, "field"]}}`, on `/run` `{"error",
"code"[, "field"], "complete": true}`, or the same as a small page for a browser. Failures after the first byte of a
stream are the stream's own business (`answering/sse.py`).

`code` never changes; the wording of `detail` may.
"""

import http.client
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import Field
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from api.schemas.replies.base import Reply
from api.telemetry.middleware import ERROR_CODE
from api.views import openai_errors
from api.views.html import Pages
from api.views.negotiation import JSONReply, prefers_html
from errors import RagError, TooManyRequestsError

STATUS: dict[str, int] = {
    "bad_question": 422,
    "bad_filter": 422,
    # The service's own settings were checked at its start: what contradicts itself now is a request.
    "bad_setting": 422,
    "unreadable": 422,
    "unknown_writer": 422,
    "bad_pipeline": 422,
    "bad_upload": 422,
    "ingest_refused": 403,
    "key_needed": 401,
    "key_refused": 403,
    "key_scope": 403,
    "too_many_requests": 429,
    "host_refused": 403,
    "unknown_answer": 404,
    "feedback_unavailable": 503,
    "study_unavailable": 503,
    "too_much_feedback": 422,
    "nothing_found": 404,
    "unknown_path": 404,
    "unknown_job": 404,
    "unknown_response": 404,
    "job_interrupted": 503,
    "unknown_task": 404,
    "unknown_pipeline": 404,
    # As mosaicRAG documents it; a setting says otherwise.
    "unknown_chat": 500,
    "task_unfinished": 409,
    "unknown_run": 404,
    "corpus_busy": 409,
    "too_many_jobs": 429,
    "too_many_questions": 429,
    "too_many_tasks": 429,
    "unknown_corpus": 404,
    "unknown_document": 404,
    "page_unavailable": 404,
    "original_unavailable": 404,
    "original_gone": 410,
    "original_changed": 409,
    "too_many_pages": 429,
    "read_only": 403,
    "corpus_error": 503,
    "writer_unavailable": 503,
    "bad_backup": 503,
    "model_unavailable": 503,
    "cluster_failed": 503,
    "llm_failed": 503,
    "source_failed": 503,
    "out_of_time": 503,
    "tasks_unavailable": 503,
    "rag_error": 500,
}
"""Status by code; a code that is not listed has the status of its class's, or of the nearest ancestor's."""

RETRY_AFTER_S: dict[str, int] = {
    "corpus_busy": 10,
    "writer_unavailable": 5,
    "task_unfinished": 10,
    "too_many_jobs": 30,
    "too_many_tasks": 30,
    "too_many_questions": 5,
    "too_many_pages": 5,
    "too_many_corpora": 5,
    "out_of_time": 30,
}
"""When it is worth asking again, for what goes away by itself."""

HTTP_CODES: dict[int, tuple[str, str]] = {
    404: ("not_found", "There is nothing at this address."),
    405: ("method_not_allowed", "This address does not take this method; the header Allow names those it takes."),
}
"""Code and detail of the framework's errors, by status; any other status is described by its number and phrase."""

INVALID = "invalid_request"
ABOUT_THE_WHOLE = ("unknown_field", "contradiction")
"""Our own reasons to refuse a body that belong to no single field."""


RUN = "/run"
"""Its clients read `error` and `complete`, as they stand in a record of its stream: text, which they show."""


class ErrorDetail(Reply):
    """What went wrong."""

    code: Annotated[str, Field(examples=["unknown_corpus", "invalid_request", "too_many_questions"])]
    """Names the failure; never changes. `docs/http.md` lists them."""
    detail: str
    """What went wrong and what to do, for people; its wording may change."""
    field: Annotated[str | None, Field(examples=["question"])] = None
    """The field that is refused, or `body`; absent where the failure is not about one."""


class ErrorReply(Reply):
    """The body of every reply that is not a success."""

    error: ErrorDetail
    """What went wrong."""


class RunErrorReply(Reply):
    """The body of a failure of `/run` before its stream begins, with the keys of a last record."""

    error: str
    """What went wrong and what to do, for people; its wording may change."""
    code: Annotated[str, Field(examples=["unknown_corpus", "invalid_request", "too_many_questions"])]
    """Names the failure; never changes. `docs/http.md` lists them."""
    field: Annotated[str | None, Field(examples=["question"])] = None
    """The field that is refused, or `body`; absent where the failure is not about one."""
    complete: Literal[True] = True
    """Nothing follows."""


NOT_JSON = ErrorDetail(code=INVALID, field="body", detail="The body is not valid JSON in UTF-8.")


def install(app: FastAPI, pages: Pages) -> None:
    """Register the handlers of every failure a route can end in.

    Args:
        app: gets the handlers.
        pages: draws failures for browsers.
    """

    def reply(request: Request, status: int, error: ErrorDetail, headers: Mapping[str, str] | None = None) -> Response:
        request.scope[ERROR_CODE] = error.code
        if request.url.path.startswith(openai_errors.PREFIX):
            status = openai_errors.status_of(status)
            return JSONReply(openai_errors.to_error(status, error.detail, error.code, error.field), status, headers)
        if prefers_html(request):
            page = _page(pages, request, status, error)
            page.headers.update(headers or {})
            return page
        return JSONReply(_body(request.url.path, error).model_dump(exclude_none=True), status, headers)

    @app.exception_handler(RagError)
    async def foreseen(request: Request, error: RagError) -> Response:
        return reply(request, status_of(error), ErrorDetail(code=error.code, detail=error.public), _headers(error))

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        return reply(request, 422, _describe(error.errors()[0]))

    @app.exception_handler(HTTPException)
    async def refused(request: Request, error: HTTPException) -> Response:
        if error.status_code == 400:
            # The framework's word for a body that it cannot even decode.
            return reply(request, 422, NOT_JSON)
        return reply(request, error.status_code, _described_by_status(error), error.headers)

    @app.exception_handler(ClientDisconnect)
    async def left(_request: Request, _error: ClientDisconnect) -> Response:
        return Response(status_code=499)  # nobody reads it

    @app.exception_handler(Exception)
    async def unforeseen(request: Request, _error: Exception) -> Response:
        # The server logs the exception after this; the client learns nothing about our inside.
        return reply(request, 500, ErrorDetail(code="internal", detail="Something unforeseen went wrong; see the log."))


def status_of(error: RagError) -> int:
    """Return the HTTP status of a failure."""
    codes = [error.code, *(kind.code for kind in type(error).__mro__ if issubclass(kind, RagError))]
    return next(STATUS[code] for code in codes if code in STATUS)


async def send_error(error: RagError | HTTPException, scope: Scope, receive: Receive, send: Send) -> None:
    """Reply what `install` says of an error, from where no handler stands around: before the routes."""
    kind = RagError if isinstance(error, RagError) else HTTPException
    reply = await scope["app"].exception_handlers[kind](Request(scope), error)
    await reply(scope, receive, send)


def _body(path: str, error: ErrorDetail) -> Reply:
    told = RunErrorReply(error=error.detail, code=error.code, field=error.field)
    return told if path == RUN else ErrorReply(error=error)


def _page(pages: Pages, request: Request, status: int, error: ErrorDetail) -> Response:
    if status == 401 and request.method == "GET":
        return pages.sign_in_first(request)
    return pages.error(request, status, error.detail, error.field)


def _headers(error: RagError) -> dict[str, str]:
    if error.code == "key_needed":
        return {"WWW-Authenticate": "Bearer"}  # `Basic` would open the browser's own password box
    if isinstance(error, TooManyRequestsError):
        return {"Retry-After": str(error.wait_s)}
    wait_s = RETRY_AFTER_S.get(error.code)
    return {"Retry-After": str(wait_s)} if wait_s else {}


def _described_by_status(error: HTTPException) -> ErrorDetail:
    status = error.status_code
    if status == 413:  # only `BodyLimit` raises it, in words of ours
        return ErrorDetail(code="body_too_large", detail=error.detail)
    if status in HTTP_CODES:
        code, detail = HTTP_CODES[status]
    else:
        phrase = http.client.responses.get(status, "a status without a name")
        code, detail = f"http_{status}", f"The request failed with HTTP status {status}: {phrase}."
    return ErrorDetail(code=code, detail=detail)


def _describe(problem: Mapping[str, Any]) -> ErrorDetail:
    """Name the field and the reason; `input` and `ctx`, which hold the client's text, are left out."""
    place: Sequence[str | int] = problem["loc"]
    if problem["type"] == "json_invalid":
        return NOT_JSON
    if len(place) < 2 and problem["type"] not in ABOUT_THE_WHOLE:
        return ErrorDetail(code=INVALID, field="body", detail="Send a JSON object with Content-Type: application/json.")
    code = "bad_question" if problem["type"] == "bad_question" else INVALID
    return ErrorDetail(
        code=code, field=str(place[1]) if len(place) > 1 else "body", detail=f"{problem['msg'].rstrip('.')}."
    )
