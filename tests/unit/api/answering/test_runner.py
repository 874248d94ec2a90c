"""The one way in: waiting, leaving, being late, and threads that do not end."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Iterator
from dataclasses import replace

import pytest
from starlette.requests import ClientDisconnect

from api.admission import AdmissionQueue
from api.answering.runner import QuestionRunner, runner
from api.dependencies import Service
from api.hosts import Hosts
from api.jobs.queue import Jobs
from api.recorder import Recorder
from api.study import Study
from api.telemetry.requests import Watching
from api.views.html import Pages
from errors import OutOfTimeError, UnknownCorpusError
from ingestion.reading.page_renderer import PageRenderer
from pipelines.build import without_models
from query_engine.answer_cache import AnswerCache
from query_engine.inquiry import Inquiry
from query_engine.runtime.deadline import Deadline
from query_engine.runtime.threads import first_done
from query_engine.schema.events import Done, Event, Step
from settings import AnswerSettings, FeedbackSettings, Settings
from tests.failing import failing
from tests.fakes.engines import FakeEngine, FakeEngines, a_done
from tests.fakes.http import request_of
from tests.fakes.ingesting import FakeIngester

SEARCHING = Step("search", "**Searching**")
QUESTION = Inquiry("What turns?")
SOON_S = 0.05


def service_of(engine: FakeEngine, slots: int = 1, queue: int = 4, deadline_s: float = 240) -> Service:
    settings = Settings(answer=AnswerSettings(deadline_s=deadline_s), feedback=FeedbackSettings(enabled=False))
    engines = FakeEngines({"default": engine})
    return Service(
        engines,
        settings,
        Hosts(settings.serve),
        Pages(),
        FakeIngester(),
        Jobs(),
        AdmissionQueue(slots, queue),
        AnswerCache(0, 1),
        without_models(engines, settings),
        PageRenderer(settings.ingest),
        Recorder(settings.feedback, settings.index.dir),
        Study(settings.study, settings.index.dir),
        Watching(),
    )


async def all_of(events: AsyncGenerator[Event, None]) -> list[Event]:
    return [event async for event in events]


async def free(slots: AdmissionQueue) -> None:
    """Wait until another question would get the only slot."""
    place = slots.enter(Deadline(240))
    await place.turn()
    place.leave()
    assert (slots.running, slots.waiting) == (0, 0)


@pytest.fixture
def hung() -> Iterator[threading.Event]:
    """Return what a hung thread waits for; it is let go at the end."""
    release = threading.Event()
    yield release
    release.set()


async def test_a_question_that_finds_a_slot_is_answered_without_waiting() -> None:
    service = service_of(FakeEngine([SEARCHING, a_done()]))

    asked = await QuestionRunner(service).ask(None, QUESTION)

    assert asked.corpus == "default"
    assert await all_of(asked.events) == [SEARCHING, a_done()]
    await free(service.slots)


async def test_a_question_that_waits_says_so_at_once_and_runs_when_its_turn_comes() -> None:
    engine = FakeEngine([SEARCHING, a_done()])
    service = service_of(engine)
    before = service.slots.enter(Deadline(240))
    asked = await QuestionRunner(service).ask(None, QUESTION)

    first = await anext(asked.events)
    assert first == Step("wait", "**Waiting** for 1 question that came before.")
    assert engine.started == 0

    before.leave()
    assert await all_of(asked.events) == [SEARCHING, a_done()]


async def test_a_full_queue_refuses_before_a_corpus_is_opened() -> None:
    engines = FakeEngines(failures={"default": RuntimeError("opened")})
    service = service_of(FakeEngine(), queue=0)
    service.slots.enter(Deadline(240))
    refusing = replace(service, engines=engines)

    with failing("too_many_questions", match="cannot be taken"):
        await QuestionRunner(refusing).ask(None, QUESTION)


async def test_a_corpus_that_is_not_open_is_opened_when_it_is_the_questions_turn() -> None:
    service = service_of(FakeEngine([a_done()]))
    engines = service.engines
    assert isinstance(engines, FakeEngines)
    engines.closed.add("default")
    before = service.slots.enter(Deadline(240))
    asking = asyncio.ensure_future(QuestionRunner(service).ask(None, QUESTION))
    for _ in range(10):
        await asyncio.sleep(0)
    assert service.slots.waiting == 1
    assert engines.closed == {"default"}

    before.leave()
    assert await all_of((await asking).events) == [a_done()]
    assert engines.closed == set()
    await free(service.slots)


async def test_a_corpus_that_is_not_open_is_not_waited_for_beyond_the_deadline() -> None:
    service = service_of(FakeEngine([a_done()]), deadline_s=SOON_S)
    assert isinstance(service.engines, FakeEngines)
    service.engines.closed.add("default")
    service.slots.enter(Deadline(240))
    request = runner(service)

    with pytest.raises(OutOfTimeError, match="while it waited for others"):
        await (await anext(request)).ask(None, QUESTION)
    await request.aclose()  # type: ignore[attr-defined]  # an async generator, as FastAPI takes it

    assert service.slots.waiting == 0
    assert service.engines.closed == {"default"}


async def test_an_engine_is_leased_until_the_last_thread_of_its_question_has_ended(hung: threading.Event) -> None:
    service = service_of(FakeEngine([a_done()]), deadline_s=SOON_S)
    engines = service.engines
    assert isinstance(engines, FakeEngines)

    with pytest.raises(OutOfTimeError):
        await QuestionRunner(service).search(request_of(asyncio.Event()), None, lambda *_: hung.wait())
    assert engines.leases == 1

    hung.set()
    await free(service.slots)
    assert engines.leases == 0


async def test_answers_and_searches_give_their_engine_back() -> None:
    service = service_of(FakeEngine([a_done()]))
    engines = service.engines
    assert isinstance(engines, FakeEngines)
    for closed in (set[str](), {"default"}):
        engines.closed |= closed
        request = runner(service)
        await all_of((await (await anext(request)).ask(None, QUESTION)).events)
        await request.aclose()  # type: ignore[attr-defined]  # an async generator, as FastAPI takes it
        await free(service.slots)
        assert engines.leases == 0

    request = runner(service)
    await (await anext(request)).search(request_of(asyncio.Event()), None, lambda engine, _: engine)
    await request.aclose()  # type: ignore[attr-defined]  # an async generator, as FastAPI takes it
    assert engines.leases == 0


async def test_a_service_that_stops_ends_its_answers_and_says_why() -> None:
    class Stalls(FakeEngine):
        async def stream(self, inquiry: Inquiry, gather: object = None) -> AsyncGenerator[Event, None]:  # noqa: ARG002
            assert inquiry.deadline is not None
            yield SEARCHING
            await first_done({asyncio.get_running_loop().create_future()}, inquiry.deadline)
            yield a_done()

    service = service_of(Stalls())
    runs = (await QuestionRunner(service).ask(None, QUESTION)).events
    waits = (await QuestionRunner(service).ask(None, QUESTION)).events
    assert await anext(runs) == SEARCHING
    assert await anext(waits) == Step("wait", "**Waiting** for 1 question that came before.")

    service.slots.stop(SOON_S)

    for events in (waits, runs):
        *_, step, done = await all_of(events)
        assert isinstance(step, Step)
        assert isinstance(done, Done)
        assert step.text.startswith("**Stopping**")
        assert done.warnings[-1].code == "stopping"
    await free(service.slots)


@pytest.mark.fault("B2")
async def test_a_client_that_leaves_the_queue_frees_its_place_and_starts_nothing() -> None:
    engine = FakeEngine([SEARCHING, a_done()])
    service = service_of(engine)
    before = service.slots.enter(Deadline(240))
    asked = await QuestionRunner(service).ask(None, QUESTION)
    await anext(asked.events)

    await asked.events.aclose()

    before.leave()
    await free(service.slots)
    assert engine.started == 0


@pytest.mark.fault("B2")
async def test_an_answer_that_nobody_reads_gives_its_slot_back_with_the_request() -> None:
    service = service_of(FakeEngine([SEARCHING]))
    request = runner(service)
    await (await anext(request)).ask(None, QUESTION)
    assert service.slots.running == 1

    await request.aclose()  # type: ignore[attr-defined]  # an async generator, as FastAPI takes it

    assert service.slots.running == 0


async def test_an_answer_that_a_route_leaves_open_is_stopped_with_the_request() -> None:
    engine = FakeEngine([SEARCHING, asyncio.Event()])
    service = service_of(engine)
    request = runner(service)
    asked = await (await anext(request)).ask(None, QUESTION)
    await anext(asked.events)

    await request.aclose()  # type: ignore[attr-defined]  # an async generator, as FastAPI takes it

    await free(service.slots)
    assert engine.ended == 1


@pytest.mark.fault("B3")
async def test_a_slot_is_held_until_the_thread_of_an_abandoned_answer_has_ended() -> None:
    go = asyncio.Event()

    class Hanging(FakeEngine):
        async def stream(self, inquiry: Inquiry, gather: object = None) -> AsyncGenerator[Event, None]:  # noqa: ARG002
            try:
                yield SEARCHING
                await asyncio.Event().wait()
            finally:
                await go.wait()

    service = service_of(Hanging())
    request = runner(service)
    asked = await (await anext(request)).ask(None, QUESTION)
    await anext(asked.events)

    await asked.events.aclose()
    await request.aclose()  # type: ignore[attr-defined]  # an async generator, as FastAPI takes it
    assert service.slots.running == 1

    go.set()
    await free(service.slots)


async def test_leaving_tells_the_work_that_nobody_waits() -> None:
    engine = FakeEngine([SEARCHING, asyncio.Event()])
    service = service_of(engine)
    asked = await QuestionRunner(service).ask(None, QUESTION)
    await anext(asked.events)

    await asked.events.aclose()

    (deadline,) = engine.deadlines
    assert deadline is not None
    assert deadline.stop.is_set()
    await free(service.slots)
    assert engine.ended == 1


async def test_who_waits_until_the_deadline_gets_an_honest_answer_and_frees_the_place() -> None:
    engine = FakeEngine([a_done()])
    service = service_of(engine, deadline_s=SOON_S)
    before = service.slots.enter(Deadline(240))

    *_, warning, done = await all_of((await QuestionRunner(service).ask(None, QUESTION)).events)

    assert isinstance(warning, Step)
    assert warning.text.startswith("**Out of time**")
    assert isinstance(done, Done)
    assert done.answer is None
    assert done.message.startswith("I don't know. The service was too busy")
    assert done.warnings[0].code == "out_of_time"
    assert engine.started == 0
    before.leave()
    await free(service.slots)


async def test_an_engine_gets_less_time_than_the_question_has_left() -> None:
    engine = FakeEngine([a_done()])

    await all_of((await QuestionRunner(service_of(engine, deadline_s=100)).ask(None, QUESTION)).events)

    (deadline,) = engine.deadlines
    assert deadline is not None
    assert 90 < deadline.left_s() < 98.1


async def test_a_default_corpus_that_was_never_made_is_told_of_and_holds_no_slot() -> None:
    service = service_of(FakeEngine(corpus="other"))
    object.__setattr__(service, "engines", FakeEngines())
    request = runner(service)

    done = (await all_of((await (await anext(request)).ask(None, QUESTION)).events))[-1]
    await request.aclose()  # type: ignore[attr-defined]  # an async generator, as FastAPI takes it

    assert isinstance(done, Done)
    assert "no documents yet" in done.message
    assert service.slots.running == 0


async def test_a_search_returns_what_the_work_returns() -> None:
    service = service_of(FakeEngine(corpus="default"))

    found = await QuestionRunner(service).search(
        request_of(asyncio.Event()), None, lambda engine, _: engine.corpus.name
    )

    assert found == "default"


async def test_a_failing_search_raises_and_gives_its_slot_back() -> None:
    service = service_of(FakeEngine())
    request = runner(service)

    with pytest.raises(UnknownCorpusError, match="no corpus 'none'"):
        await (await anext(request)).search(request_of(asyncio.Event()), "none", lambda engine, _: engine)
    await request.aclose()  # type: ignore[attr-defined]  # an async generator, as FastAPI takes it

    assert service.slots.running == 0


@pytest.mark.fault("B3")
async def test_a_search_whose_client_leaves_holds_its_slot_until_its_thread_has_ended(hung: threading.Event) -> None:
    service = service_of(FakeEngine())
    client_leaves, loop = asyncio.Event(), asyncio.get_running_loop()
    limits: list[Deadline] = []

    def work(_: object, deadline: Deadline) -> None:
        limits.append(deadline)
        loop.call_soon_threadsafe(client_leaves.set)
        hung.wait()

    with pytest.raises(ClientDisconnect):
        await QuestionRunner(service).search(request_of(client_leaves), None, work)

    assert limits[0].stop.is_set()
    assert service.slots.running == 1
    hung.set()
    await free(service.slots)


@pytest.mark.fault("B2")
async def test_a_client_that_leaves_while_its_search_waits_starts_nothing() -> None:
    service = service_of(FakeEngine())
    service.slots.enter(Deadline(240))
    client_leaves = asyncio.Event()
    client_leaves.set()
    request = runner(service)

    with pytest.raises(ClientDisconnect):
        await (await anext(request)).search(request_of(client_leaves), None, lambda *_: pytest.fail("it began"))
    await request.aclose()  # type: ignore[attr-defined]  # an async generator, as FastAPI takes it

    assert service.slots.waiting == 0


@pytest.mark.parametrize("busy", [True, False])
async def test_a_search_ends_at_the_deadline_in_the_queue_and_at_work(busy: bool, hung: threading.Event) -> None:
    service = service_of(FakeEngine(), deadline_s=SOON_S)
    if busy:
        service.slots.enter(Deadline(240))

    with pytest.raises(OutOfTimeError, match="time was over"):
        await QuestionRunner(service).search(request_of(asyncio.Event()), None, lambda *_: hung.wait())
