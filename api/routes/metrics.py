"""`GET /metrics`: the service's numbers for Prometheus.

Flow: `telemetry/metrics.py` and the last known state of corpora and models -> **here** -> text. With keys set it needs
one, as everything but the probes does. Opens nothing and asks no store.
"""

from typing import Annotated

from fastapi import APIRouter, Header
from fastapi.responses import PlainTextResponse
from starlette.responses import Response

from api.dependencies import ServiceDep
from query_engine.runtime.threads import in_thread

router = APIRouter()


@router.get("/metrics", response_class=PlainTextResponse)
async def metrics(
    service: ServiceDep,
    accept: Annotated[
        str, Header(description="Of the formats, which one.", examples=["application/openmetrics-text"])
    ] = "",
) -> Response:
    """Return all metrics in Prometheus's text format, or OpenMetrics where that is asked for."""
    status = service.engines.status()
    body, media_type = await in_thread(lambda: service.watching.metrics.exposition(status, accept))
    return Response(body, media_type=media_type)
