"""Answer a question from the cache, or ask and keep the answer.

Flow: `/query`, `/v1/chat/completions` -> **here** -> `query_engine/answer_cache.py`, else `runner.py`. An answer that
is kept needs no slot. A corpus that is not open has no answer looked up: the runner opens it, within the question's
slot and time. Answers from sources are not kept. `/run` and `/evaluate` never come here: what they return is always
made for the one who asks.
"""

from functools import partial

from api.answering.runner import QuestionRunner, StartedAnswer
from api.dependencies import Engine, Service
from query_engine.inquiry import Inquiry
from query_engine.runtime.threads import in_thread
from query_engine.schema.events import Done, Event


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
        RagError: from `QuestionRunner.ask`.
    """
    from_sources = runner.ask_sources(corpus, inquiry)
    if from_sources is not None:  # not kept: what the sources return tomorrow is not known
        return from_sources
    found = await in_thread(partial(_open_key, service, corpus, inquiry))
    if found is not None and (kept := service.answers.find(found[1])) is not None:
        # A new id each time: what one reader says of it does not replace what another said.
        return runner.recall(found[0], kept, inquiry)
    draft = service.answers.draft()

    async def keep(engine: Engine, event: Event) -> None:
        draft.add(event)
        # Documents that changed meanwhile changed the key.
        if isinstance(event, Done) and (key := await in_thread(partial(_key, engine, inquiry))) == inquiry.key(
            engine.corpus.name, event.fingerprint
        ):
            service.answers.keep(key, draft)

    return await runner.ask(corpus, inquiry, keep=keep)


def _open_key(service: Service, corpus: str | None, inquiry: Inquiry) -> tuple[str, str] | None:
    """Return the name of a corpus that is open, and the key of the answer; None if it, or its writer, is not."""
    lease = service.engines.lease_open(corpus, writer=inquiry.writer)
    if lease is None:
        return None
    with lease as engine:
        return engine.corpus.name, _key(engine, inquiry)


def _key(engine: Engine, inquiry: Inquiry) -> str:
    return inquiry.key(engine.corpus.name, engine.fingerprint())
