"""Translate failures to HTTP: one table of status codes, one envelope, nothing of the client's input, no path of ours.

Flow: an exception leaves a route -> **here** -> `{"error": {"code", "detail"[, "field"]}}`, on `/run` with `"complete":
true` beside it, or the same as a small page for a browser. Failures after the first byte of a stream are the stream's
own business (`answering/sse.py`).

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

import errors
from api.schemas.replies.base import Reply
from api.telemetry.middleware import ERROR_CODE
from api.views import openai_errors
from api.views.html import Pages
from api.views.negotiation import JSONReply, prefers_html
from errors import RagError

STATUS: dict[type[RagError], int] = {
    errors.QuestionError: 422,
    errors.FilterError: 422,
    # The service's own settings were checked at its start: what contradicts itself now is a request.
    errors.SettingsError: 422,
    errors.UnreadableError: 422,
    errors.UnknownWriterError: 422,
    errors.PipelineError: 422,
    errors.UploadError: 422,
    errors.IngestRefusedError: 403,
    errors.KeyNeededError: 401,
    errors.KeyRefusedError: 403,
    errors.KeyScopeError: 403,
    errors.TooManyRequestsError: 429,
    errors.HostRefusedError: 403,
    errors.UnknownAnswerError: 404,
    errors.FeedbackError: 503,
    errors.StudyError: 503,
    errors.TooMuchFeedbackError: 422,
    errors.NothingFoundError: 404,
    errors.UnknownPathError: 404,
    errors.UnknownJobError: 404,
    errors.JobInterruptedError: 503,
    errors.UnknownTaskError: 404,
    errors.UnknownPipelineError: 404,
    # As mosaicRAG documents it; a setting says otherwise.
    errors.UnknownChatError: 500,
    errors.UnfinishedTaskError: 409,
    errors.UnknownRunError: 404,
    errors.CorpusBusyError: 409,
    errors.TooManyJobsError: 429,
    errors.TooManyQuestionsError: 429,
    errors.TooManyTasksError: 429,
    errors.UnknownCorpusError: 404,
    errors.UnknownDocumentError: 404,
    errors.PageUnavailableError: 404,
    errors.OriginalUnavailableError: 404,
    errors.OriginalGoneError: 410,
    errors.OriginalChangedError: 409,
    errors.TooManyPagesError: 429,
    errors.ReadOnlyError: 403,
    errors.CorpusError: 503,
    errors.ModelError: 503,
    errors.ClusterError: 503,
    errors.LLMError: 503,
    errors.SourceError: 503,
    errors.OutOfTimeError: 503,
    errors.TasksUnavailableError: 503,
    errors.RagError: 500,
}
"""Status by class; a class that is not listed has the status of its nearest ancestor."""

RETRY_AFTER_S: dict[type[RagError], int] = {
    errors.CorpusBusyError: 10,
    errors.WriterUnavailableError: 5,
    errors.UnfinishedTaskError: 10,
    errors.TooManyJobsError: 30,
    errors.TooManyTasksError: 30,
    errors.TooManyQuestionsError: 5,
    errors.TooManyPagesError: 5,
    errors.TooManyCorporaError: 5,
    errors.OutOfTimeError: 30,
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
"""Its clients read failures by the keys `error` and `complete`, as they stand in a record of its stream."""


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


class RunErrorReply(ErrorReply):
    """The body of a failure of `/run` before its stream begins; there `error` is a string in the last record."""

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
        body = (RunErrorReply if request.url.path == RUN else ErrorReply)(error=error)
        return JSONReply(body.model_dump(exclude_none=True), status, headers)

    @app.exception_handler(RagError)
    async def foreseen(request: Request, error: RagError) -> Response:
        status = next(STATUS[cls] for cls in type(error).__mro__ if cls in STATUS)
        return reply(request, status, ErrorDetail(code=error.code, detail=error.public), _headers(error))

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


async def send_error(error: RagError | HTTPException, scope: Scope, receive: Receive, send: Send) -> None:
    """Reply what `install` says of an error, from where no handler stands around: before the routes."""
    kind = RagError if isinstance(error, RagError) else HTTPException
    reply = await scope["app"].exception_handlers[kind](Request(scope), error)
    await reply(scope, receive, send)


def _page(pages: Pages, request: Request, status: int, error: ErrorDetail) -> Response:
    if status == 401 and request.method == "GET":
        return pages.sign_in_first(request)
    return pages.error(request, status, error.detail, error.field)


def _headers(error: RagError) -> dict[str, str]:
    if isinstance(error, errors.KeyNeededError):
        return {"WWW-Authenticate": "Bearer"}  # `Basic` would open the browser's own password box
    if isinstance(error, errors.TooManyRequestsError):
        return {"Retry-After": str(error.wait_s)}
    wait_s = RETRY_AFTER_S.get(type(error))
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
