"""Who may run, who waits, who is refused, and that every slot comes back."""

import asyncio

import pytest

from api.admission import AdmissionQueue, Ticket
from query_engine.runtime.deadline import Deadline
from tests.failing import failing


def test_as_many_run_as_there_are_slots_and_the_others_stand_in_line() -> None:
    slots = AdmissionQueue(2, 3)

    places = [slots.enter(Deadline(240)) for _ in range(5)]

    assert [place.ahead for place in places] == [0, 0, 1, 2, 3]
    assert (slots.running, slots.waiting) == (2, 3)


def test_who_finds_no_room_is_refused_and_holds_nothing() -> None:
    slots = AdmissionQueue(1, 1)
    first = slots.enter(Deadline(240))
    slots.enter(Deadline(240))

    with failing("too_many_questions", match="1 questions are being answered and 1 are waiting"):
        slots.enter(Deadline(240))

    first.leave()
    assert slots.enter(Deadline(240)).ahead == 1


def test_a_service_without_a_queue_refuses_at_once() -> None:
    slots = AdmissionQueue(1, 0)
    slots.enter(Deadline(240))

    with failing("too_many_questions", match="Retry-After"):
        slots.enter(Deadline(240))


async def test_slots_are_handed_on_in_the_order_of_arrival() -> None:
    slots = AdmissionQueue(1, 2)
    first, second, third = (slots.enter(Deadline(240)) for _ in range(3))

    first.leave()
    await second.turn()
    assert third.ahead == 1

    second.leave()
    await third.turn()


def test_leaving_twice_gives_one_slot_back() -> None:
    slots = AdmissionQueue(2, 0)
    place = slots.enter(Deadline(240))
    slots.enter(Deadline(240))

    place.leave()
    place.leave()

    assert slots.running == 1


def test_who_leaves_the_line_makes_room_and_is_never_called() -> None:
    slots = AdmissionQueue(1, 2)
    first, second, third = (slots.enter(Deadline(240)) for _ in range(3))

    second.leave()

    assert (third.ahead, slots.waiting) == (1, 1)
    first.leave()
    assert (third.ahead, slots.running) == (0, 1)


async def test_who_is_called_and_leaves_at_the_same_moment_hands_the_slot_on() -> None:
    slots = AdmissionQueue(1, 2)
    first, second, third = (slots.enter(Deadline(240)) for _ in range(3))
    waiting = asyncio.create_task(second.turn())
    await asyncio.sleep(0)

    first.leave()
    waiting.cancel()
    second.leave()

    await third.turn()


@pytest.mark.parametrize("failure", [None, RuntimeError("It broke.")])
async def test_a_slot_comes_back_when_the_work_has_ended_however_it_ended(failure: Exception | None) -> None:
    slots = AdmissionQueue(1, 1)
    place, next_one = slots.enter(Deadline(240)), slots.enter(Deadline(240))
    thread_ends = asyncio.Event()

    async def closing() -> None:
        await thread_ends.wait()
        if failure is not None:
            raise failure

    place.leave_after(closing())
    await asyncio.sleep(0)
    assert next_one.ahead == 1

    thread_ends.set()
    await next_one.turn()


@pytest.mark.fault("B2")
async def test_no_slot_is_lost_when_many_leave_at_any_time() -> None:
    slots = AdmissionQueue(3, 20)

    async def ask(place: Ticket, patience: int) -> None:
        try:
            await asyncio.wait_for(place.turn(), patience / 1000)
            await asyncio.sleep(0)
        except TimeoutError:
            pass
        finally:
            place.leave()

    for _ in range(40):
        await asyncio.gather(*(ask(slots.enter(Deadline(240)), number % 4) for number in range(23)))

    assert (slots.running, slots.waiting) == (0, 0)


async def test_stopping_brings_every_deadline_forward_also_of_those_who_come_later() -> None:
    slots = AdmissionQueue(1, 4)
    running, waiting, gone, late = (Deadline(240) for _ in range(4))
    slots.enter(running)
    slots.enter(waiting)
    slots.enter(gone).leave()

    assert not slots.stopping
    slots.stop(8)
    slots.enter(late)

    assert slots.stopping
    assert all(0 < deadline.left_s() <= 8 for deadline in (running, waiting, late))
    assert gone.left_s() > 200


async def test_what_a_question_holds_is_given_back_when_it_leaves() -> None:
    given_back: list[str] = []
    place = AdmissionQueue(1, 4).enter(Deadline(240))
    place.on_leave(lambda: given_back.append("engine"))

    place.leave()
    place.leave()

    assert given_back == ["engine"]


async def test_work_that_was_given_up_is_waited_for_before_stores_are_closed() -> None:
    slots = AdmissionQueue(1, 0)
    ended = asyncio.Event()

    async def closing() -> None:
        await ended.wait()

    slots.enter(Deadline(240)).leave_after(closing())
    waiting = asyncio.ensure_future(slots.wait_closed(60))
    await asyncio.sleep(0)
    assert not waiting.done()
    ended.set()
    await waiting

    assert slots.running == 0
    await slots.wait_closed(60)
