"""Bulk document operations: list, delete by filter, count.

Flow: a filter or a corpus's name -> `index/documents/catalogue.py` -> **here** -> JSON.
"""

import json
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query

from api.caller import groups_of_caller, may_use
from api.dependencies import ServiceDep
from api.links import web_url
from api.openapi import replied
from api.schemas.replies.corpora import (
    CorporaReply,
    CorpusFacts,
    DeletedReply,
    DocumentBrief,
    DocumentsReply,
    DroppedReply,
    RenamedReply,
    StatsReply,
)
from api.schemas.requests import FILTER_EXAMPLE, CorpusName, DeleteBody, OneCorpus, RenameBody
from api.views.negotiation import JSONReply
from errors import FilterError, without_paths
from index.maintenance.corpora import list_corpora
from ingestion.uploads import Uploads

MAX_PAGE = 1000
MAX_FILTER_CHARS = 8000
MAX_IDS = 100

router = APIRouter()

Name = Annotated[OneCorpus, Query()]
Named = Annotated[CorpusName, Path(description="Name of the corpus.", examples=["papers"])]


@router.get("/documents", responses=replied(DocumentsReply))
def documents(
    service: ServiceDep,
    *,
    corpus: Name = None,
    limit: Annotated[int, Query(ge=1, le=MAX_PAGE, description="Documents of a page, 1 to 1,000.")] = 100,
    after: Annotated[
        str | None, Query(max_length=MAX_FILTER_CHARS, description="`next` of the page before; left out for the first.")
    ] = None,
    filter: Annotated[
        str | None,
        Query(
            max_length=MAX_FILTER_CHARS,
            description="Only documents that meet these conditions: LlamaIndex's `MetadataFilters` as JSON, up to "
            "8,000 characters.",
            examples=[json.dumps(FILTER_EXAMPLE)],
        ),
    ] = None,
    order: Annotated[
        Literal["id", "newest"], Query(description="By id, or the newest first.", examples=["newest"])
    ] = "id",
) -> JSONReply:
    """List documents by id or the newest first; `next` is the `after` of the following page, null on the last one."""
    filters = None if filter is None else _parsed(filter)
    with service.engines.lease(corpus) as engine:
        name = engine.corpus.name
        newest = order == "newest"
        found = engine.corpus.catalogue.briefs(after, limit + 1, newest=newest, filters=filters)
        page = found[:limit]
        unread = engine.corpus.ledger.unread({one.source for one in page})
    following = (page[-1].newest_place if newest else page[-1].doc_id) if len(found) > limit else None
    briefs = [DocumentBrief.filled(one, url=web_url(one.url), unread=unread.get(one.source, [])) for one in page]
    return JSONReply(DocumentsReply.filled(corpus=name, documents=briefs, next=following))


@router.post("/documents/delete", responses=replied(DeletedReply))
def delete(body: DeleteBody, service: ServiceDep) -> JSONReply:
    """Delete what meets a filter with its uploaded files, or with `dry_run` count it; the first ids are named."""
    with service.engines.lease(body.corpus) as engine:
        opened, uploads = engine.corpus, Uploads(service.settings)
        if body.dry_run:
            found, deleted = uploads.find(opened, body.filter), 0
        else:
            with service.write_locks.hold(opened.name):
                found = uploads.find(opened, body.filter)
                deleted = uploads.delete(opened, found)
    ids = found[:MAX_IDS]
    return JSONReply(DeletedReply.filled(body, corpus=opened.name, matched=len(found), deleted=deleted, doc_ids=ids))


@router.get("/stats", responses=replied(StatsReply))
def stats(service: ServiceDep, *, corpus: Name = None) -> JSONReply:
    """Count what a corpus holds; a chunk is a leaf."""
    with service.engines.lease(corpus) as engine:
        return JSONReply(StatsReply.build(engine.corpus))


@router.get("/corpora", responses=replied(CorporaReply))
def corpora(service: ServiceDep) -> JSONReply:
    """List the corpora on disk, those that are not open included."""
    facts = [one for one in list_corpora(service.settings, groups_of_caller()) if may_use(one.name)]
    told = [CorpusFacts.filled(one, problem=one.problem and without_paths(one.problem)) for one in facts]
    return JSONReply(CorporaReply.filled(corpora=told))


@router.delete("/corpora/{name}", responses=replied(DroppedReply))
def drop(name: Named, service: ServiceDep) -> JSONReply:
    """Delete a corpus with its documents and uploaded files; an `admin` key is needed. Ingested folders stay."""
    with service.write_locks.hold(name):
        service.engines.drop(name)
    Uploads(service.settings).drop(name)
    return JSONReply(DroppedReply.filled(dropped=name))


@router.patch("/corpora/{name}", responses=replied(RenamedReply))
def rename(name: Named, body: RenameBody, service: ServiceDep) -> JSONReply:
    """Give a corpus another name; an `admin` key is needed. Addresses of its documents that name it no longer work."""
    with service.write_locks.hold(name):
        service.engines.rename(name, body.name)
    Uploads(service.settings).rename(name, body.name)
    return JSONReply(RenamedReply.filled(renamed=name, name=body.name))


def _parsed(filters: str) -> dict[str, Any]:
    try:
        found = json.loads(filters)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise FilterError("The filter is not a JSON object.", "Send one, percent-encoded.")
    return found
