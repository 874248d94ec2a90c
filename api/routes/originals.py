"""`/documents/{doc_id}/original`: the file that a document was read from, as a download, where the operator allows it.

Flow: the link in the web page's evidence pane -> **here**, which finds the document -> `ingestion/originals.py` opens
the file, if it still holds what was read -> its bytes. For a part of an archive or a mail, that is the whole file.
"""

import re
from pathlib import PurePosixPath
from urllib.parse import quote

from fastapi import APIRouter, Request
from starlette.responses import Response, StreamingResponse

from api.dependencies import ServiceDep
from api.openapi import joined, replied, typed
from api.routes import documents
from api.schemas.replies.corpora import DocumentReply
from errors import RagError
from ingestion.originals import INGEST_AGAIN, UNKNOWN_FILE, is_given, open_original, original_note
from ingestion.uploads import Uploads

TYPE = "application/octet-stream"

router = APIRouter()


@router.get(
    f"/documents/{{doc_id:path}}/{documents.ORIGINAL}",
    response_class=Response,
    responses=joined(typed(TYPE, "text/html"), replied(DocumentReply)),
)
def original(
    doc_id: documents.DocumentId, request: Request, service: ServiceDep, *, corpus: documents.Corpus = None
) -> Response:
    """Send the file that a document was read from, if it still holds the same bytes."""
    with service.engines.lease(corpus) as engine:
        # A document whose own id ends in `/original` keeps its address.
        if engine.corpus.documents.get(f"{doc_id}/{documents.ORIGINAL}"):
            return documents.document(f"{doc_id}/{documents.ORIGINAL}", request, service, corpus=corpus)
        found, uploads = documents.stored_in(engine.corpus, doc_id), Uploads(service.settings)
        if not is_given(engine.corpus, found, uploads, service.settings.serve.originals):
            raise RagError(
                "This service does not give out this file.",
                "Set RAG_SERVE__ORIGINALS=true, and start it again.",
                "original_unavailable",
            )
        note = original_note(engine.corpus, found, uploads)
    if note is None:
        raise RagError(UNKNOWN_FILE, INGEST_AGAIN, "original_unavailable")
    opened = open_original(note)
    headers = {
        "Content-Disposition": _attachment(PurePosixPath(note.file).name),
        "Content-Length": str(opened.size),
        # Documents change under their addresses, and keys come and go.
        "Cache-Control": "private, no-cache",
        # The file may hold scripts; they must not run as part of this service.
        "Content-Security-Policy": "sandbox",
    }
    return StreamingResponse(opened.pieces(), headers=headers, media_type=TYPE)


def _attachment(name: str) -> str:
    """Return the header that has a browser keep a file under its name; old ones take the plain form of it."""
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", name)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
