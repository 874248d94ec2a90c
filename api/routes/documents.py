"""`/documents/{doc_id}`: what a citation links to, the document with the cited span marked; and its deletion.

Flow: a reader follows a link that `api/links.py` made -> **here** -> a page for browsers, JSON for programs. Many
documents at once are `catalogue.py`'s business.
"""

from pathlib import PurePosixPath
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

import index.corpus
from api.dependencies import ServiceDep
from api.links import document_path, web_url
from api.openapi import joined, replied, typed
from api.schemas.replies.corpora import DeletedDocumentReply, DocumentReply, OcrNote, Span
from api.schemas.requests import OneCorpus
from api.views.negotiation import JSONReply, prefers_html
from errors import RagError
from index.documents.store import StoredDocument
from ingestion.originals import is_given, original_note
from ingestion.uploads import Uploads

MAX_OFFSET = 2**40
ORIGINAL = "original"
OUTSIDE = "The cited passage is not in this document; it may have changed since it was cited."

DocumentId = Annotated[
    str, Path(description="Id of the document, as citations and `GET /documents` have it.", examples=["guide/wind.md"])
]
Corpus = Annotated[OneCorpus, Query()]
Start = Annotated[
    int | None,
    Query(ge=0, le=MAX_OFFSET, description="Where the cited text begins, in characters from 0.", examples=[16]),
]
End = Annotated[
    int | None,
    Query(ge=0, le=MAX_OFFSET, description="The character after the cited text; left out if none is.", examples=[34]),
]

router = APIRouter()


@router.get("/documents/{doc_id:path}", responses=joined(replied(DocumentReply), typed("text/html")))
def document(
    doc_id: DocumentId,
    request: Request,
    service: ServiceDep,
    *,
    corpus: Corpus = None,
    start: Start = None,
    end: End = None,
    nodes: Annotated[bool, Query(description="Whether the reply has `nodes` and `blocks`.", examples=[True])] = False,
) -> Response:
    """Show one document; the text `[start, end)` is marked when `end` is given.

    With `nodes` the JSON has the passage tree too: rows of level (0 root, 1 middle, 2 leaf), start, end and the row of
    the parent, -1 for roots. A node id ends with its row. `blocks` says what the parts of the text are, see
    `index/documents/structure.py`: each with kind, start, end and what else is known of it. `ocr` names the pages,
    from 1, that OCR read, and how sure it was of their letters, 0 to 1; `original` the file that `…/original` sends.
    """
    with service.engines.lease(corpus) as engine:
        name = engine.corpus.name
        found = stored_in(engine.corpus, doc_id)
        uploads = Uploads(service.settings)
        is_shown = is_given(engine.corpus, found, uploads, service.settings.serve.originals)
        note = original_note(engine.corpus, found, uploads) if is_shown else None
    span = _span(found, start or 0, end)
    tree: dict[str, Any] = {}
    if nodes:
        tree = {"nodes": found.tree.spans, "blocks": [block.to_dict() for block in found.structure.blocks]}
    shown = DocumentReply.filled(
        found,
        corpus=name,
        url=web_url(found.url),
        ocr=OcrNote.build(found.metadata, len(found.pages)),
        original=PurePosixPath(note.file).name if note else None,
        span=span,
        notice=OUTSIDE if end is not None and span is None else None,
        **tree,
    )
    if prefers_html(request):
        original_path = f"{document_path(found.doc_id)}/{ORIGINAL}?{urlencode({'corpus': name})}"
        return service.pages.document(request, shown, original_path)
    return JSONReply(shown, headers={"Vary": "Accept"})


@router.delete("/documents/{doc_id:path}", responses=replied(DeletedDocumentReply))
def delete(doc_id: DocumentId, service: ServiceDep, *, corpus: Corpus = None) -> JSONReply:
    """Delete one document, and its file if that was uploaded; any other file brings it back when it is read again."""
    with service.engines.lease(corpus) as engine:
        name = engine.corpus.name
        with service.write_locks.hold(name):
            if not Uploads(service.settings).delete(engine.corpus, [doc_id]):
                raise _unknown(name)
    return JSONReply(DeletedDocumentReply.filled(corpus=name, deleted=1, doc_ids=[doc_id]))


def stored_in(corpus: index.corpus.Corpus, doc_id: str) -> StoredDocument:
    """Return a document of a corpus.

    Raises:
        RagError: the corpus does not hold it.
    """
    if (found := corpus.documents.get(doc_id)) is None:
        raise _unknown(corpus.name)
    return found


def _unknown(corpus: str) -> RagError:
    return RagError(
        f"Corpus {corpus!r} holds no such document.",
        "Documents are named by their path below the ingested folder, or by their record's id; `GET /documents` lists "
        "them, `POST /retrieve` gives the names of what it finds.",
        "unknown_document",
    )


def _span(found: StoredDocument, start: int, end: int | None) -> Span | None:
    """Return the cited span; None if absent or outside the text."""
    if end is None or not start < end <= len(found.text):
        return None
    return Span.filled(start=start, end=end, pages=found.pages_of(start, end), quote=found.text[start:end])
