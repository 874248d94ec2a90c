"""Answer a question from the cache, or ask and keep the answer.

Flow: `/query`, `/v1/chat/completions` -> **here** -> `query_engine/answer_cache.py`, else `runner.py`. An answer that
is kept needs no slot. `/run` and `/evaluate` never come here: what they return is always made for the one who asks.
"""

from dataclasses import replace

from starlette.concurrency import run_in_threadpool

from api.answering.runner import QuestionRunner, StartedAnswer
from api.dependencies import Engine, Service
from errors import UnknownCorpusError
from index.documents.filters import where
from query_engine.inquiry import Inquiry


async def ask_or_recall(
    service: Service, runner: QuestionRunner, corpus: str | None, inquiry: Inquiry
) -> StartedAnswer:
    """Return the events of an earlier answer to the same question, or of a new one, which is then kept.

    Args:
        service: whose answers are kept.
        runner: asks the engine.
        corpus: its name; None means the default one.
        inquiry: without a deadline, which the runner sets.

    Raises:
        FilterError: the filter is empty or has no meaning.
        RagError: whatever `QuestionRunner.answer` raises.
    """
    if inquiry.filters is not None:
        where(inquiry.filters)
    found = await run_in_threadpool(_engine_and_key, service, corpus, inquiry)
    if found is not None:
        engine, key = found
        if (kept := service.answers.find(key)) is not None:
            return StartedAnswer(engine.corpus.name, kept)

    return await runner.answer(
        corpus,
        lambda engine, deadline: service.answers.keep(
            engine.stream(replace(inquiry, deadline=deadline)), lambda: run_in_threadpool(_key, engine, inquiry)
        ),
    )


def _engine_and_key(service: Service, corpus: str | None, inquiry: Inquiry) -> tuple[Engine, str] | None:
    try:
        engine = service.engines.get(corpus)
    except UnknownCorpusError:
        return None  # the way in says what that means
    return engine, _key(engine, inquiry)


def _key(engine: Engine, inquiry: Inquiry) -> str:
    return inquiry.key(engine.corpus.name, engine.fingerprint())
