"""`POST /mcp`: the service as a server of MCP, the Model Context Protocol.

Flow: a request with its key checked -> **here** -> `api/mcp/http.py`, which writes the whole reply.
"""

from fastapi import APIRouter, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from api.openapi import typed

# Refusals are the protocol's own, and partly plain text.
REPLIES = typed("application/json", "text/event-stream") | typed(status=202, description="A notification was taken.")
REPLIES |= {"default": typed("application/json", "text/plain", description="A refusal.")[200]}

MESSAGE = {"type": "object", "description": "A message of JSON-RPC 2.0, as the protocol defines it."}
BODY = {"requestBody": {"required": True, "content": {"application/json": {"schema": MESSAGE}}}}

router = APIRouter()


@router.post("/mcp", response_class=Response, responses=REPLIES, openapi_extra=BODY)
async def message(request: Request) -> Response:
    """Take one message of a client; the reply is JSON, or events of which the last one is the result."""
    return _Forwarded(request.app.state.mcp)


class _Forwarded(Response):
    """A response that another application writes."""

    def __init__(self, application: ASGIApp) -> None:
        super().__init__()
        self._application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._application(scope, receive, send)
