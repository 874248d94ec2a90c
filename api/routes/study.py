"""`GET /study`: the events of a user study as CSV.

Flow: a program that collects -> **here** -> `api/study.py` -> `index/feedback/study.py`.
"""

import csv
import io
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain

from fastapi import APIRouter
from starlette.responses import Response, StreamingResponse

from api.dependencies import ServiceDep
from api.openapi import typed
from index.feedback.study import COLUMNS, StudyEvent

router = APIRouter()

HEAD = ("time", *COLUMNS[1:])
# A spreadsheet would run what begins with one of these.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


@router.get("/study", response_class=Response, responses=typed("text/csv"))
def export(service: ServiceDep) -> Response:
    """Return all events, in the order in which they ended: one a line below a line of names."""
    events = service.study.log().events()
    # The first one now: once the stream has begun it would be too late to say that the file is damaged.
    first = next(events, None)
    return StreamingResponse(_lines(chain([first] if first else [], events)), media_type="text/csv; charset=utf-8")


def _lines(events: Iterator[StudyEvent]) -> Iterator[str]:
    yield _line(list(HEAD))
    for event in events:
        shown = replace(event, subject=_inert(event.subject), text=_inert(event.text), verdict=_inert(event.verdict))
        at = datetime.fromtimestamp(event.at_s, UTC).isoformat(timespec="milliseconds")
        yield _line([at, *(str(getattr(shown, name)) for name in COLUMNS[1:])])


def _line(cells: list[str]) -> str:
    written = io.StringIO()
    csv.writer(written).writerow(cells)
    return written.getvalue()


def _inert(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA) else text
