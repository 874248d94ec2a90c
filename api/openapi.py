"""What `/openapi.json` says beyond bodies and parameters: replies, failures, keys, the order of topics.

Flow: `app.py` makes a `Described` application -> a route names its replies by `replied`, `streamed` and `typed` ->
**here** -> the whole description, which `routes/description.py` shows. The models of `schemas/replies/` describe
replies, and are sent.
"""

from collections.abc import Iterator
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from api.errors import ErrorReply, RunErrorReply
from api.schemas.replies import answers, corpora, pipelines, research, service
from api.schemas.replies.service import OpenAIErrorReply

Responses = dict[int | str, dict[str, Any]]

ASK, INGEST, DOCUMENTS, SEARCH, CHAT = "Ask", "Ingest", "Documents", "Search", "Chat"
CONTEST, RESEARCH, PAPERS, PIPELINES = "Competition", "Research", "Papers", "Pipelines"
FEEDBACK, RUNS, TOOLS, SERVICE = "Feedback", "Evaluation runs", "Tools", "Service"
TAGS = [
    {"name": ASK, "description": "A question becomes an answer that cites its sources. Begin with `POST /query`."},
    {"name": INGEST, "description": "Files become documents of a corpus: paths on the server, or uploads."},
    {"name": DOCUMENTS, "description": "What a corpus holds; what a citation leads to."},
    {"name": SEARCH, "description": "The passages for a question, without an answer."},
    {"name": CHAT, "description": "Corpora as models: any client of OpenAI's API can ask."},
    {"name": RESEARCH, "description": "A topic, taken apart and answered part by part."},
    {"name": CONTEST, "description": "The contract of MMU-RAG."},
    {"name": PAPERS, "description": "Paragraphs of papers, and answers from them, for clients of ASK-xDD."},
    {"name": PIPELINES, "description": "Searches built from steps; tasks that run them; chats over what they found."},
    {"name": FEEDBACK, "description": "What people say about answers and passages, and what they did."},
    {"name": RUNS, "description": "Evaluation runs and their reports."},
    {"name": TOOLS, "description": "The Model Context Protocol: tools for other programs."},
    {"name": SERVICE, "description": "Is it alive, is it ready, how is it doing?"},
]
"""In the order in which a newcomer needs them."""

_REF = "#/components/schemas/{model}"
_PAGE = {"text/html": {"schema": {"type": "string"}}}


def _json(model: type[BaseModel]) -> dict[str, Any]:
    return {"application/json": {"schema": {"$ref": _REF.format(model=model.__name__)}}}


_OF_FAILURE = {**_json(ErrorReply), **_PAGE}
_WHY = (
    "404: there is no such thing; 413: the body is too large; 422: a value is refused; 409, 429, 503: not now, often "
    "with Retry-After."
)
_RETRY_AFTER = {"Retry-After": {"description": "Seconds until it is worth asking again.", "schema": {"type": "string"}}}

FAILURES: Responses = {
    "default": {
        "description": f"A failure, as a page for browsers. {_WHY}",
        "content": _OF_FAILURE,
        "headers": _RETRY_AFTER,
    }
}
KEY_REFUSED: Responses = {
    401: {"description": "The key is missing or wrong.", "content": _OF_FAILURE},
    403: {
        "description": "The key is not for this; or the host, the web page or the path may not.",
        "content": _OF_FAILURE,
    },
}
OPENAI_FAILURES: Responses = {
    "default": {
        "description": "A failure in OpenAI's form.",
        "content": _json(OpenAIErrorReply),
        "headers": _RETRY_AFTER,
    }
}
OPENAI_KEY_REFUSED: Responses = {
    status: {**told, "content": _json(OpenAIErrorReply)} for status, told in KEY_REFUSED.items()
}
RUN_FAILURES: Responses = {
    status: {**told, "content": {**_json(RunErrorReply), **_PAGE}} for status, told in (FAILURES | KEY_REFUSED).items()
}
"""Of `/run`, before its stream begins."""

BEARER, API_KEY, COOKIE = "Bearer", "Api-Key", "Cookie"
_SECURITY_SCHEMES = {
    BEARER: {"type": "http", "scheme": "bearer", "description": "One of the service's keys."},
    API_KEY: {"type": "apiKey", "in": "header", "name": "Api-Key", "description": "One of the service's keys."},
    COOKIE: {
        "type": "apiKey",
        "in": "cookie",
        "name": "treeline_key",
        "description": "A browser has it from the page `/login`; with it a write must come from a page of the service.",
    },
}
SECURED: list[dict[str, list[str]]] = [{name: []} for name in _SECURITY_SCHEMES]
"""Any one of the ways to send a key."""


def replied(model: type[BaseModel], *, status: int = 200, description: str = "Successful Response") -> Responses:
    """Return what a route replies as JSON.

    Args:
        model: describes it; one of `schemas/replies/`.
        status: of the reply.
        description: of the reply.
    """
    return {status: {"description": description, "content": _json(model)}}


def streamed(media_type: str, *models: type[BaseModel], also: type[BaseModel] | None = None) -> Responses:
    """Return what a route replies as a stream.

    Args:
        media_type: of the stream: server-sent events, or JSON lines.
        models: describe its records.
        also: describes the reply that is JSON, if the request asks for no stream.
    """
    records = [{"$ref": _REF.format(model=model.__name__)} for model in models]
    stream = {"schema": {"type": "string"}, "itemSchema": {"anyOf": records} if len(records) > 1 else records[0]}
    told = f"`{media_type}`; each record is JSON: {', '.join(model.__name__ for model in models)}."
    return {200: {"description": told, "content": {media_type: stream, **(_json(also) if also else {})}}}


def typed(*media_types: str, status: int = 200, description: str = "Successful Response") -> Responses:
    """Return what a route replies that is neither JSON nor a stream of it.

    Args:
        media_types: of the body; none if it has none.
        status: of the reply.
        description: of the reply.
    """
    content = {media_type: {"schema": _schema_of(media_type)} for media_type in media_types}
    return {status: {"description": description, **({"content": content} if content else {})}}


def joined(*responses: Responses) -> Responses:
    """Return replies of several kinds as one: those of one status have all their types."""
    found: Responses = {}
    for one in responses:
        for status, told in one.items():
            before = found.get(status, {})
            content = {**before.get("content", {}), **told.get("content", {})}
            found[status] = {**told, **before, **({"content": content} if content else {})}
    return found


class Described(FastAPI):
    """An application whose description is complete."""

    def openapi(self) -> dict[str, Any]:
        """Return the full OpenAPI document, not filtered by key; built once."""
        if not self.openapi_schema:
            _complete(super().openapi())
        assert self.openapi_schema is not None, "it has just been made"
        return self.openapi_schema


def operation_id(route: APIRoute) -> str:
    """Return what generated clients call an operation: `post_query_stream`, `get_documents_doc_id`."""
    method = min(route.methods or {"GET"})
    words = [method.lower(), *route.path.replace(":path", "").replace("{", "").replace("}", "").split("/")]
    return "_".join(word.replace(".", "_").replace("-", "_") for word in words if word)


def _complete(document: dict[str, Any]) -> None:
    models = [(model, "serialization") for model in _reply_models()]
    _, schemas = models_json_schema(models, ref_template=_REF)  # type: ignore[arg-type]
    components = document.setdefault("components", {})
    components["schemas"] = dict(sorted({**schemas["$defs"], **components.get("schemas", {})}.items()))
    components["securitySchemes"] = _SECURITY_SCHEMES


def _reply_models() -> Iterator[type[BaseModel]]:
    yield from (ErrorReply, RunErrorReply)
    for module in (answers, corpora, pipelines, research, service):
        for found in vars(module).values():
            if isinstance(found, type) and issubclass(found, BaseModel) and found.__module__ == module.__name__:
                yield found


def _schema_of(media_type: str) -> dict[str, Any]:
    if media_type == "application/json":
        return {"type": "object"}
    return {"type": "string"} if media_type.startswith("text/") else {"type": "string", "format": "binary"}
