"""What each tool of MCP does: search, fetch, ask, list the corpora.

Flow: `server.py` has a checked call -> **here** -> `answering/runner.py`, as for every route: the same slots, deadline
and cancellation -> `results.py`. Without the SDK.

A call ends when the SDK cancels it: its client cancelled or left. The work runs in a separate task, because the SDK
repeats its cancellation until the call has ended, and that must not interrupt the release of the slot.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import aclosing
from functools import partial
from typing import Any, TypeVar

import anyio

from api.answering.cached import ask_or_recall
from api.answering.runner import QuestionRunner
from api.caller import groups_of_caller, may_use
from api.dependencies import Engine, Service
from api.links import Links
from api.mcp.results import (
    AskResult,
    CorpusList,
    DocumentPlace,
    FetchedDocument,
    SearchResults,
    places_of,
    to_fetched,
    unknown_document,
)
from index.documents.store import StoredDocument
from index.maintenance.corpora import list_corpora
from query_engine.inquiry import Inquiry
from query_engine.question.validation import clean_question
from query_engine.runtime.deadline import Deadline
from query_engine.runtime.threads import in_thread
from query_engine.schema.events import Done, Step
from query_engine.schema.retrieval_result import Retrieval

Result = TypeVar("Result")
Tell = Callable[[str], Awaitable[None]]

# Characters of document text in one result, chosen to fit a program's context.
MAX_CHARS = 40_000


class Tools:
    """The tools over one service. Links to it in what they return begin with `base_url`.

    Args:
        service: its engines, slots and settings.
    """

    def __init__(self, service: Service) -> None:
        self._service = service
        self._settings = service.settings

    async def search(self, query: str, corpus: str | None, base_url: str) -> SearchResults:
        """Find passages.

        Raises:
            QuestionError: the query cannot be searched for.
            RagError: from `QuestionRunner.search`.
        """
        question = clean_question(query)
        budget = min(self._settings.retrieval.budget_chars, MAX_CHARS)
        options = self._settings.retrieval.model_copy(update={"budget_chars": budget})

        def work(engine: Engine, deadline: Deadline) -> tuple[Retrieval, str]:
            return engine.retrieve(Inquiry(question, deadline=deadline), options), engine.corpus.name

        found, name = await self._run(lambda runner: runner.search(None, corpus, work))
        return SearchResults.build(found.passages, name, Links(base_url, name))

    async def fetch(self, id_: str, base_url: str) -> FetchedDocument:
        """Return the document that an id names.

        Raises:
            RagError: there is none; or from `QuestionRunner.search`.
        """
        places = places_of(id_)

        def work(engine: Engine, _: Deadline) -> tuple[StoredDocument, DocumentPlace]:
            for place in places:
                if (document := engine.corpus.documents.get(place.doc_id)) is not None:
                    return document, place
            raise unknown_document()

        found, place = await self._run(lambda runner: runner.search(None, places[0].corpus, work))
        return to_fetched(id_, found, place, Links(base_url, place.corpus), MAX_CHARS)

    async def ask(
        self, question: str, corpus: str | None, base_url: str, tell: Tell, writer: str | None = None
    ) -> AskResult:
        """Answer a question; `tell` is given each step as it happens.

        Raises:
            QuestionError: it cannot be asked as it stands.
            RagError: from `QuestionRunner.answer`.
        """
        inquiry = Inquiry(clean_question(question), mode=self._service.settings.answer.mode, writer=writer)
        return await self._run(partial(self._answered, inquiry, corpus, base_url, tell))

    async def list_corpora(self) -> CorpusList:
        """Return the corpora on disk."""
        listing = partial(list_corpora, self._settings, groups_of_caller())
        facts = [one for one in await in_thread(listing) if may_use(one.name)]
        return CorpusList.build(facts, self._settings.index.corpus)

    async def _answered(
        self, inquiry: Inquiry, corpus: str | None, base_url: str, tell: Tell, runner: QuestionRunner
    ) -> AskResult:
        asked = await ask_or_recall(self._service, runner, corpus, inquiry)
        async with aclosing(asked.events) as events:
            async for event in events:
                if isinstance(event, Step):
                    await tell(event.text)
                elif isinstance(event, Done):
                    return AskResult.build(event, asked.corpus, Links(base_url, asked.corpus), asked.id)
        raise RuntimeError("The engine's events ended without Done.")

    async def _run(self, work: Callable[[QuestionRunner], Coroutine[Any, Any, Result]]) -> Result:
        """Return what `work` returns, unless the call is cancelled; its place is given back either way."""
        task = asyncio.ensure_future(self._in_place(work))
        try:
            await asyncio.wait({task})
            return task.result()
        finally:
            task.cancel()
            with anyio.CancelScope(shield=True):
                await asyncio.wait({task})

    async def _in_place(self, work: Callable[[QuestionRunner], Coroutine[Any, Any, Result]]) -> Result:
        # The SDK runs calls in a task of its own, so the watch of the HTTP request does not reach here.
        with self._service.watching.request():
            runner = QuestionRunner(self._service)
            try:
                return await work(runner)
            finally:
                await runner.close()
