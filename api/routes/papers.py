"""`POST /vector`, `POST /hybrid`, `GET /`: paragraphs of papers, as clients of ASK-xDD ask for them.

Flow: key and body -> `answering/runner.py` -> `query_engine/retrieval/papers.py` -> **here** -> a JSON list, or 404 for
an empty one.
"""

from collections.abc import Iterable

from fastapi import APIRouter, Request
from starlette.responses import Response

from api.answering.runner import QuestionRunner, RunnerDep
from api.openapi import replied, typed
from api.schemas.replies.answers import Paragraph, ParagraphsReply
from api.schemas.replies.service import PingReply
from api.schemas.requests import PapersBody
from api.views.negotiation import JSONReply, prefers_html, warning_header
from api.web import page
from errors import RagError
from query_engine.retrieval.papers import PaperQuestion

TOP_K = 5
SCREENING_TOP_K = 100
OBSOLETE = "article_terms is obsolete and was not used."
NOT_SCREENED = "screening_top_k belongs to /hybrid and was not used: /vector searches all papers."

router = APIRouter()


@router.get("/", responses=replied(PingReply) | typed(status=307, description="A browser is sent to the page."))
def ping(request: Request) -> Response:
    """Say that the service is there; a browser is sent to the page."""
    return (
        page.redirect()
        if prefers_html(request)
        else JSONReply(PingReply.filled(ping="pong!"), headers={"Vary": "Accept"})
    )


@router.post("/vector", responses=replied(ParagraphsReply))
async def vector(body: PapersBody, request: Request, runner: RunnerDep) -> JSONReply:
    """Return the paragraphs nearest to the question."""
    notices = [] if body.screening_top_k is None else [NOT_SCREENED]
    return await _found(runner, request, body, None, notices)


@router.post("/hybrid", responses=replied(ParagraphsReply))
async def hybrid(body: PapersBody, request: Request, runner: RunnerDep) -> JSONReply:
    """Return the paragraphs nearest to the question, of the papers that fit it best by their words."""
    return await _found(runner, request, body, body.screening_top_k or SCREENING_TOP_K, [])


def warned(body: PapersBody, notices: Iterable[str]) -> dict[str, str]:
    """Return the header that says what of a body was not used; none where all was."""
    return warning_header([*notices, *([] if body.article_terms is None else [OBSOLETE])])


def paper_question(body: PapersBody, screening_top_k: int | None) -> PaperQuestion:
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


def nothing_found() -> RagError:
    """Return the refusal of a question that no paragraph meets."""
    return RagError(
        "No paragraph meets what was asked.",
        "Ask with fewer conditions or a larger distance; `GET /documents` shows the topics and types there are.",
        "nothing_found",
    )


async def _found(
    runner: QuestionRunner, request: Request, body: PapersBody, screening_top_k: int | None, notices: list[str]
) -> JSONReply:
    question = paper_question(body, screening_top_k)
    found = await runner.search(request, body.corpus, lambda engine, _: list(engine.papers().search(question)))
    if not found:
        raise nothing_found()
    return JSONReply([Paragraph.build(paragraph).to_dict() for paragraph in found], headers=warned(body, notices))
