"""`/pages` and `/marks`: a PDF's pages as they look, and where on them a cited span stands.

Flow: the web page's evidence pane -> **here**, which finds document and file -> `ingestion/reading/page_renderer.py`
draws -> a JPEG, or rectangles as JSON. Beside `/documents`, since a document's id may end in anything.
"""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from api.caller import address_of
from api.dependencies import ServiceDep
from api.openapi import replied, typed
from api.routes.documents import MAX_OFFSET, Corpus, DocumentId, End, Start, stored_in
from api.schemas.replies.corpora import MarksReply
from api.views.negotiation import JSONReply
from errors import PageUnavailableError
from index.documents.store import StoredDocument
from ingestion.originals import original_of
from ingestion.reading.page_renderer import READ_TEXT, Original, PageSpan
from ingestion.uploads import Uploads

# Of a span of more pages the first ones are marked.
MAX_MARKED_PAGES = 20
# In pixels. Few, so that the cache is of use.
WIDTHS = (800, 1200, 1600, 2400)

Width = Annotated[
    int,
    Query(
        ge=1,
        le=MAX_OFFSET,
        description="Width in pixels; the next of 800, 1200, 1600 and 2400 is taken.",
        examples=[1200],
    ),
]

router = APIRouter()


@router.get(
    "/pages/{page}/{doc_id:path}",
    response_class=Response,
    responses=typed("image/jpeg") | typed(status=304, description="The client has the image."),
)
def page_image(
    page: Annotated[int, Path(ge=1, le=MAX_OFFSET, description="The page, from 1.", examples=[1])],
    doc_id: DocumentId,
    request: Request,
    service: ServiceDep,
    *,
    corpus: Corpus = None,
    width: Width = 1200,
) -> Response:
    """Show one page of a PDF, the first one being 1, as a JPEG of that width in pixels, or the next of `WIDTHS`."""
    width = next((drawn for drawn in WIDTHS if drawn >= width), WIDTHS[-1])
    _, found, original = _find(service, corpus, doc_id)
    if page > len(found.pages):
        raise PageUnavailableError(f"The document has {len(found.pages)} pages.", "Ask for one of them.")
    headers = {
        "ETag": f'"{original.digest}-{page}-{width}"',
        # Documents change under their addresses, and keys come and go.
        "Cache-Control": "private, no-cache",
    }
    if request.headers.get("if-none-match") == headers["ETag"]:
        return Response(status_code=304, headers=headers)
    image = service.page_renderer.image(original, page - 1, width, address_of(request.scope))
    return Response(image, headers=headers, media_type="image/jpeg")


@router.get("/marks/{doc_id:path}", responses=replied(MarksReply))
def marks(
    doc_id: DocumentId,
    request: Request,
    service: ServiceDep,
    *,
    corpus: Corpus = None,
    start: Start = None,
    end: End = None,
) -> JSONReply:
    """Say where the text `[start, end)` of a PDF stands on its pages; without `end`, whether pages can be shown.

    Each of `marks` is a page: its number, from 1, its size in points, and `rects`, each left, top, width and height as
    shares of the page. `complete` is false where a line of the span could not be found on the page for certain.
    """
    name, found, original = _find(service, corpus, doc_id)
    spans = _spans(found, start or 0, end) if end is not None else []
    marked = service.page_renderer.marks(original, spans, address_of(request.scope))
    on_pages = [{**mark, "page": mark["page"] + 1} for mark in marked]
    return JSONReply(MarksReply.filled(found, corpus=name, pages=len(found.pages), marks=on_pages))


def _find(service: ServiceDep, corpus: str | None, doc_id: str) -> tuple[str, StoredDocument, Original]:
    with service.engines.lease(corpus) as engine:
        found = stored_in(engine.corpus, doc_id)
        return engine.corpus.name, found, original_of(engine.corpus, found, Uploads(service.settings))


def _spans(found: StoredDocument, start: int, end: int) -> list[PageSpan]:
    if not start < end <= len(found.text):
        raise PageUnavailableError("The cited passage is not in this document.", READ_TEXT)
    ends = (*found.pages[1:], len(found.text))
    return [
        PageSpan(page, found.text[first:last], max(start, first) - first, min(end, last) - first)
        for page, (first, last) in enumerate(zip(found.pages, ends, strict=True))
        if max(start, first) < min(end, last)
    ][:MAX_MARKED_PAGES]
