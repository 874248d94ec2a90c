"""`POST /vector`, `POST /hybrid`, `GET /`: paragraphs of papers, as clients of ASK-xDD ask for them.

Flow: key and body -> `answering/runner.py` -> `query_engine/retrieval/papers.py` -> **here** -> a JSON list, or 404 for
an empty one.
"""

from fastapi import APIRouter, Request
from starlette.responses import Response

from api.answering.runner import QuestionRunner, RunnerDep
from api.described import typed
from api.schemas.requests import HybridBody, VectorBody
from api.security.auth import AskXddKeyRequired
from api.views.negotiation import JSONReply, prefers_html
from api.views.papers import shown
from api.web import page
from errors import NothingFoundError
from query_engine.retrieval.papers import PaperQuestion

TOP_K = 5
SCREENING_TOP_K = 100
# The warn code 299 of RFC 7234: of no particular kind, and to last.
OBSOLETE = '299 - "article_terms is obsolete and was not used."'

router = APIRouter()


@router.get("/", responses=typed(status=307, description="A browser is sent to the page."))
def ping(request: Request) -> Response:
    """Say that the service is there; a browser is sent to the page."""
    return page.redirect() if prefers_html(request) else JSONReply({"ping": "pong!"}, headers={"Vary": "Accept"})


@router.post("/vector", dependencies=[AskXddKeyRequired])
async def vector(body: VectorBody, request: Request, runner: RunnerDep) -> JSONReply:
    """Return the paragraphs nearest to the question."""
    return await _found(runner, request, body, None)


@router.post("/hybrid", dependencies=[AskXddKeyRequired])
async def hybrid(body: HybridBody, request: Request, runner: RunnerDep) -> JSONReply:
    """Return the paragraphs nearest to the question, of the papers that fit it best by their words."""
    return await _found(runner, request, body, body.screening_top_k or SCREENING_TOP_K)


def paper_question(body: VectorBody, screening_top_k: int | None) -> PaperQuestion:
    """Return what a body asks for, with the defaults of what it leaves out."""
    return PaperQuestion(
        text=body.question,
        top_k=body.top_k or TOP_K,
        max_distance=body.distance,
        topic=body.topic,
        doc_type=body.doc_type,
        preprocessor_id=body.preprocessor_id,
        paper_ids=body.paper_ids,
        paragraph_terms=body.paragraph_terms or (),
        screening_top_k=screening_top_k,
        steering=body.value(),
    )


async def _found(runner: QuestionRunner, request: Request, body: VectorBody, screening_top_k: int | None) -> JSONReply:
    question = paper_question(body, screening_top_k)
    found = await runner.search(request, body.corpus, lambda engine, _: engine.papers().search(question))
    if not found:
        raise NothingFoundError(
            "No paragraph meets what was asked.",
            "Ask with fewer conditions or a larger distance; `GET /documents` shows the topics and types there are.",
        )
    headers = None if body.article_terms is None else {"Warning": OBSOLETE}
    return JSONReply([shown(paragraph) for paragraph in found], headers=headers)
