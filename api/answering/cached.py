"""Answer a question from the cache, or ask and keep the answer.

Flow: `/query`, `/v1/chat/completions` -> **here** -> `query_engine/answer_cache.py`, else `runner.py`. An answer that
is kept needs no slot. `/run` and `/evaluate` never come here: what they return is always made for the one who asks.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from starlette.concurrency import run_in_threadpool

from api.answering.runner import QuestionRunner, StartedAnswer
from api.dependencies import Engine, Service
from errors import UnknownCorpusError
from index.documents.filters import where
from query_engine.answer_cache import answer_key
from query_engine.question.condense import Turn
from query_engine.retrieval.expansion.steering import Steering


@dataclass(frozen=True, slots=True)
class Inquiry:
    """A question and all that decides its answer.

    Attributes:
        question: as it was asked.
        corpus: None means the default one.
        filters: which documents may be found.
        steering: moves the question.
        top_k: passages at most; None leaves it to the settings.
        turns: the conversation before the question, oldest first.
        query_time: when it was asked, for a language model that writes.
    """

    question: str
    corpus: str | None = None
    filters: Mapping[str, Any] | None = None
    steering: Steering | None = None
    top_k: int | None = None
    turns: tuple[Turn, ...] = ()
    query_time: str | None = None

    def key(self, engine: Engine) -> str:
        """Return what its answer is kept under; blocks."""
        return answer_key(
            f"{engine.corpus.name} {engine.fingerprint()}",
            self.question,
            self.filters,
            self.steering,
            top_k=self.top_k,
            turns=self.turns,
            query_time=self.query_time,
        )


async def ask_or_recall(service: Service, runner: QuestionRunner, inquiry: Inquiry) -> StartedAnswer:
    """Return the events of an earlier answer to the same question, or of a new one, which is then kept.

    Raises:
        FilterError: the filter is empty or has no meaning.
        RagError: whatever `QuestionRunner.answer` raises.
    """
    if inquiry.filters is not None:
        where(inquiry.filters)
    found = await run_in_threadpool(_engine_and_key, service, inquiry)
    if found is not None:
        engine, key = found
        if (kept := service.answers.find(key)) is not None:
            return StartedAnswer(engine.corpus.name, kept)

    return await runner.answer(
        inquiry.corpus,
        lambda engine, deadline: service.answers.keep(
            engine.stream(
                inquiry.question,
                inquiry.filters,
                inquiry.steering,
                deadline=deadline,
                top_k=inquiry.top_k,
                turns=inquiry.turns,
                query_time=inquiry.query_time,
            ),
            lambda: run_in_threadpool(inquiry.key, engine),
        ),
    )


def _engine_and_key(service: Service, inquiry: Inquiry) -> tuple[Engine, str] | None:
    try:
        engine = service.engines.get(inquiry.corpus)
    except UnknownCorpusError:
        return None  # the way in says what that means
    return engine, inquiry.key(engine)
