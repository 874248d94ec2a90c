"""The one way in for every route that asks: a place among the others, the engine, the time limit.

Flow: checked body -> **here** (`admission.py` says who may run) -> `sse.py` or a reply. A route takes `RunnerDep` as a
parameter and calls one function:

- `await runner.ask(corpus, inquiry)` where the engine's own answer is wanted, or that of the sources in its place:
  `StartedAnswer.events` goes to `stream_records` or `finish`;
- `await runner.answer(corpus, make)` where the events come from something else: `make(engine, deadline)` returns them;
- `runner.answer_outside(name, make)` where they come from no corpus: `make(deadline)` returns them;
- `await runner.search(request, corpus, work)` where a blocking call gives the reply: `work(engine, deadline)`.

All refuse a question that nobody has room for (429) before anything is done for it, wait for their turn, stop the
work when the client leaves, end it at the deadline, and give the slot back when the last thread of the question has
ended: not when the stream ends, because a thread that hangs still holds memory and a core. A route has nothing else to
do, however it is left.

A service whose default corpus was never made still answers: it says that there is nothing to read. A corpus that the
client named and that does not exist is the client's mistake and stays an error.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, TypeVar

from fastapi import Depends
from starlette.requests import ClientDisconnect, Request

from api.admission import Ticket
from api.answering.sse import disconnected
from api.dependencies import Engine, Service, ServiceDep
from api.recorder import Recorder
from api.schemas.requests import AskingBody, QueryBody, steering_of
from api.telemetry.requests import current_watch
from errors import OutOfTimeError, UnknownCorpusError
from query_engine import steps
from query_engine.inquiry import Inquiry
from query_engine.runtime.deadline import Deadline
from query_engine.runtime.lease_pool import Lease
from query_engine.runtime.threads import CancellableReader, ended, first_done, start_thread
from query_engine.schema.answer_warning import AnswerWarning
from query_engine.schema.events import Done, Event, Step
from query_engine.schema.turn import Turn
from query_engine.synthesis.build import check_writer
from research import modes
from settings import Settings

# Of the time limit, for an engine that has no time left to say so and for the last record.
LAST_WORDS_SHARE = 0.02
TOO_BUSY = f"{steps.DONT_KNOW} The service was too busy to look for an answer in time. Please ask again later."

STOPPING = AnswerWarning("stopping", "The service was being stopped, so this answer had only seconds left.")

Result = TypeVar("Result")
Events = AsyncGenerator[Event, None]


Keep = Callable[[Engine, Event], Awaitable[None]]
"""Takes the engine's own events, to answer with them again."""


@dataclass(frozen=True, slots=True)
class StartedAnswer:
    """An answer that has not begun yet.

    Attributes:
        corpus: name of the corpus that is read.
        events: what the engine says; nothing happens before the first one is awaited. Closing it tells the engine to
            stop, and does not wait until it has.
        id: for feedback on it; None if it is not recorded.
    """

    corpus: str
    events: Events
    id: str | None = None


def inquiry_of(
    question: str, body: AskingBody | QueryBody, settings: Settings, turns: tuple[Turn, ...] = ()
) -> Inquiry:
    """Return what a body asks; `settings` have its mode if it names none."""
    return Inquiry(
        question,
        body.filters,
        steering_of(body.steering),
        turns,
        top_k=body.top_k,
        query_time=body.query_time,
        mode=body.mode or settings.answer.mode,
        writer=body.writer,
    )


class QuestionRunner:
    """One request's way to an engine, for one question.

    Args:
        service: whose engines are asked.
    """

    def __init__(self, service: Service) -> None:
        self._service = service
        self._place: Ticket | None = None
        self._events: Events | None = None

    async def ask(self, corpus: str | None, inquiry: Inquiry, *, keep: Keep | None = None) -> StartedAnswer:
        """Put a question to the engine of a corpus, or to the sources if they answer in its place.

        Args:
            corpus: its name; None means the default one.
            inquiry: without a deadline, which is set here.
            keep: as for `answer`; what the sources say is not kept.

        Raises:
            RagError: there is no such writer; or there is neither a slot nor room in the queue.
            CorpusError: the named corpus does not exist, or it cannot be opened.
            OutOfTimeError: the corpus could not be opened in time.
        """
        from_sources = self.ask_sources(corpus, inquiry)
        if from_sources is not None:
            return from_sources
        return await self.answer(
            corpus,
            lambda engine, deadline: modes.stream(engine, replace(inquiry, deadline=deadline)),
            inquiry.writer,
            recorded=inquiry,
            keep=keep,
        )

    def ask_sources(self, corpus: str | None, inquiry: Inquiry) -> StartedAnswer | None:
        """Put a question to the sources if they answer in place of `corpus`; return None if they do not.

        Raises:
            RagError: there is no such writer; or there is neither a slot nor room in the queue.
        """
        web = self._service.sources_for(corpus)
        if web is None:
            return None
        return self.answer_outside(
            web.name,
            lambda deadline: modes.stream_from_sources(web, replace(inquiry, deadline=deadline)),
            inquiry.writer,
            recorded=inquiry,
        )

    async def answer(
        self,
        corpus: str | None,
        make: Callable[[Engine, Deadline], Events],
        writer: str | None = None,
        *,
        recorded: Inquiry | None = None,
        keep: Keep | None = None,
    ) -> StartedAnswer:
        """Return events that begin when it is the question's turn.

        Args:
            corpus: to open; the default one for None.
            make: returns the events of an engine. It is called on the event loop, so it must not work before the first
                event is awaited; closing what it returns must wait for its threads.
            writer: of the engine; None leaves it to the settings.
            recorded: the question, if feedback on the answer is wanted.
            keep: awaited for each event of the engine before the reader has it.

        Raises:
            RagError, CorpusError, OutOfTimeError: as for `ask`.
        """
        place, deadline = self._enter(writer)
        try:
            engine = await self._engine(place, deadline, corpus, writer)
        except UnknownCorpusError as error:
            if corpus is not None:
                raise
            return self.recall(self._service.settings.index.corpus, _nothing_to_read(error), recorded)
        kept = None if keep is None else partial(keep, engine)
        making = partial(make, engine)
        return self._started(engine.corpus.name, place, deadline, making, recorded=recorded, keep=kept)

    def recall(self, corpus: str, events: Sequence[Event], recorded: Inquiry | None) -> StartedAnswer:
        """Return events that are at hand, and take no place."""
        observed = _Observed(corpus, self._service.recorder, recorded)
        return StartedAnswer(corpus, _replayed(events, observed), observed.id)

    def answer_outside(
        self,
        name: str,
        make: Callable[[Deadline], Events],
        writer: str | None = None,
        *,
        recorded: Inquiry | None = None,
    ) -> StartedAnswer:
        """Return events that no corpus is opened for; they begin when it is the question's turn.

        Args:
            name: stands for the corpus.
            make: returns the events; see `answer`.
            writer: of the events; None leaves it to the settings.
            recorded: as for `answer`.

        Raises:
            RagError: there is no such writer, which would be too late to say once the stream has begun; or there is
                neither a slot nor room in the queue.
        """
        place, deadline = self._enter(writer)
        return self._started(name, place, deadline, make, recorded=recorded)

    async def search(
        self, request: Request | None, corpus: str | None, work: Callable[[Engine, Deadline], Result]
    ) -> Result:
        """Return what `work` returns; it runs in a thread when it is the question's turn.

        Args:
            request: whose client may leave; None if the caller cancels this call then.
            corpus: to open; the default one for None.
            work: given the engine and the question's deadline.

        Raises:
            ClientDisconnect: the client of `request` left.
            OutOfTimeError: the time was over, in the queue or at work.
            RagError, CorpusError: as for `ask`; the default corpus is not excused.
            Exception: from `work`.
        """
        place, deadline = self._enter()
        leaving: asyncio.Future[None] = (
            asyncio.get_running_loop().create_future()
            if request is None
            else asyncio.ensure_future(disconnected(request))
        )
        turn = asyncio.ensure_future(place.turn())
        try:
            await _first(deadline, turn, leaving)
            return await self._in_time(deadline, lambda: work(self._leased(place, corpus), deadline), leaving)
        finally:
            turn.cancel()
            leaving.cancel()
            await asyncio.wait({turn, leaving})

    async def close(self) -> None:
        """Stop the answer if that was not done yet, and leave the place unless work goes on that will do so."""
        try:
            if self._events is not None:
                await self._events.aclose()
        finally:
            if self._place is not None:
                self._place.leave()

    def _enter(self, writer: str | None = None) -> tuple[Ticket, Deadline]:
        check_writer(self._service.settings.llm, writer)
        deadline = Deadline(self._service.settings.answer.deadline_s)
        self._place = self._service.slots.enter(deadline)
        return self._place, deadline

    async def _engine(self, place: Ticket, deadline: Deadline, corpus: str | None, writer: str | None) -> Engine:
        """Return an engine that is open, or open it when it is the question's turn; it is held as long as the place."""
        engines = self._service.engines
        engine = await self._in_time(deadline, lambda: _held(place, engines.lease_open(corpus, writer=writer)))
        if engine is None:
            if not await _called(place, deadline):
                raise _out_of_time("while it waited for others")
            return await self._in_time(deadline, lambda: self._leased(place, corpus, writer))
        return engine

    def _leased(self, place: Ticket, corpus: str | None, writer: str | None = None) -> Engine:
        engine = _held(place, self._service.engines.lease(corpus, writer=writer))
        assert engine is not None
        if (watch := current_watch()) is not None:
            watch.corpus = engine.corpus.name
        return engine

    def _started(
        self,
        corpus: str,
        place: Ticket,
        deadline: Deadline,
        make: Callable[[Deadline], Events],
        *,
        recorded: Inquiry | None,
        keep: Callable[[Event], Awaitable[None]] | None = None,
    ) -> StartedAnswer:
        observed = _Observed(corpus, self._service.recorder, recorded)
        self._events = self._in_turn(place, deadline, make, observed=observed, keep=keep)
        return StartedAnswer(corpus, self._events, observed.id)

    async def _in_turn(
        self,
        place: Ticket,
        limit: Deadline,
        make: Callable[[Deadline], Events],
        *,
        observed: "_Observed",
        keep: Callable[[Event], Awaitable[None]] | None,
    ) -> Events:
        """Yield the events in the question's turn: all that happens to them on their way happens here."""
        deadline = limit.sparing(limit.left_s() * LAST_WORDS_SHARE)
        reading = CancellableReader(make(deadline))
        try:
            if place.ahead:
                yield observed.note(steps.waiting(place.ahead))
                if not await _called(place, deadline):
                    error = _out_of_time("while it waited for others")
                    yield observed.note(steps.out_of_time(error.fact))
                    for event in self._with_stop_told(Done.unanswered(TOO_BUSY, AnswerWarning.of(error))):
                        yield observed.note(event)
                    return
            while await reading.wait():
                made = reading.take()
                if keep is not None:
                    await keep(made)
                for event in self._with_stop_told(made):
                    yield observed.note(event)
        except StopAsyncIteration:
            return
        except Exception as error:
            observed.failed(error)
            raise
        finally:
            deadline.stop.set()
            self._leave_after(reading.close())

    async def _in_time(
        self, deadline: Deadline, work: Callable[[], Result], leaving: asyncio.Future[None] | None = None
    ) -> Result:
        """Return what `work` returns from a thread, which keeps the place until it has ended."""
        thread = asyncio.wrap_future(start_thread(work))
        try:
            await _first(deadline, thread, leaving)
            return thread.result()
        finally:
            if not thread.done():
                deadline.stop.set()
                self._leave_after(ended(thread))

    def _with_stop_told(self, event: Event) -> Iterator[Event]:
        """Yield the event; the last one of an answer with a step and a warning if the service is being stopped."""
        if isinstance(event, Done) and self._service.slots.stopping:
            yield steps.stopping()
            event = replace(event, warnings=(*event.warnings, STOPPING))
        yield event

    def _leave_after(self, closing: Coroutine[None, None, None]) -> None:
        place, self._place = self._place, None
        assert place is not None, "a question has one place"
        place.leave_after(closing)


async def runner(service: ServiceDep) -> AsyncIterator[QuestionRunner]:
    """Return a request's way in; its place is freed however the request ends."""
    way_in = QuestionRunner(service)
    try:
        yield way_in
    finally:
        await way_in.close()


RunnerDep = Annotated[QuestionRunner, Depends(runner)]


def _held(place: Ticket, lease: Lease[Engine] | None) -> Engine | None:
    """Return the engine of a lease, which is given back when the place is left."""
    if lease is None:
        return None
    place.on_leave(lease.release)
    return lease.item


async def _called(place: Ticket, deadline: Deadline) -> bool:
    """Wait until it is the place's turn, and say whether that was in time."""
    turn = asyncio.ensure_future(place.turn())
    try:
        return bool(await first_done({turn}, deadline))
    finally:
        turn.cancel()


async def _first(deadline: Deadline, wanted: asyncio.Future[Any], leaving: asyncio.Future[None] | None) -> None:
    """Return when `wanted` is done.

    Raises:
        ClientDisconnect: `leaving` was done before it.
        OutOfTimeError: neither was in time.
    """
    done = await first_done({wanted} if leaving is None else {wanted, leaving}, deadline)
    if wanted in done:
        return
    if done:
        raise ClientDisconnect
    raise _out_of_time("before its work had ended")


def _out_of_time(where: str) -> OutOfTimeError:
    return OutOfTimeError(
        f"The question's time was over {where}.", "Ask again when the service is less busy, or raise its limit."
    )


class _Observed:
    """Tells who wants to know what passes of an answer: its request's watch, and the recorder if it is recorded."""

    def __init__(self, corpus: str, recorder: Recorder, recorded: Inquiry | None) -> None:
        self._watch = current_watch()
        if self._watch is not None:
            self._watch.answering(corpus)
        self._recording = None if recorded is None else recorder.answer(recorded, corpus)
        self.id = None if self._recording is None else self._recording.id

    def note(self, event: Event) -> Event:
        """Tell of an event before its reader has it, and return it."""
        if self._watch is not None:
            self._watch.note(event)
        if self._recording is not None:
            self._recording.note(event)
        return event

    def failed(self, error: Exception) -> None:
        """Tell that the events broke off."""
        if self._watch is not None:
            self._watch.failed(error)


async def _replayed(events: Iterable[Event], observed: _Observed) -> Events:
    for event in events:
        yield observed.note(event)


def _nothing_to_read(error: UnknownCorpusError) -> tuple[Event, ...]:
    message = f"{steps.DONT_KNOW} This service has no documents yet. {error.public}"
    return (
        Step("search", "**Searching** the default corpus."),
        Step("found", f"**Nothing to search**: {error.public}"),
        Done.unanswered(message, AnswerWarning.of(error)),
    )
