"""Opening by name: each opening blocks its own name only, and what is idle makes room."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from errors import CorpusError, IndexDamagedError, TooManyCorporaError, UnknownCorpusError
from query_engine.runtime.lease_pool import LeasePool

KILL_S = 10


class Library:
    """Opens texts; those in `held` wait until they are let go, those in `failures` fail."""

    def __init__(self) -> None:
        self.opened: list[str] = []
        self.closed: list[str] = []
        self.held: dict[str, threading.Event] = {}
        self.failures: dict[str, Exception] = {}
        self.begun = threading.Semaphore(0)

    def open(self, name: str, create: bool) -> str:
        self.opened.append(name)
        self.begun.release()
        if name in self.held:
            assert self.held[name].wait(KILL_S)
        if name in self.failures and not create:
            raise self.failures[name]
        return f"text of {name}"

    def close(self, text: str) -> None:
        self.closed.append(text.removeprefix("text of "))

    def hold(self, name: str) -> threading.Event:
        self.held[name] = threading.Event()
        return self.held[name]

    def wait_for_opening(self) -> None:
        assert self.begun.acquire(timeout=KILL_S)


@pytest.fixture
def library() -> Library:
    return Library()


@pytest.fixture
def threads(library: Library) -> Iterator[ThreadPoolExecutor]:
    """Return threads for callers that wait; leases that are held are released at the end."""
    with ThreadPoolExecutor(8) as executor:
        yield executor
        for held in library.held.values():
            held.set()


def pool_of(library: Library, max_open: int = 9, has_room: Callable[[int], bool] = lambda _: True) -> LeasePool[str]:
    return LeasePool(library.open, library.close, max_open, has_room, wait_s=0)


def asked(pool: LeasePool[str], threads: ThreadPoolExecutor, name: str, *, create: bool = False) -> Future[str]:
    return threads.submit(lambda: pool.lease(name, create=create).item)


def test_a_slow_opening_holds_up_neither_others_nor_what_is_open(library: Library, threads: ThreadPoolExecutor) -> None:
    pool = pool_of(library)
    pool.lease("open")
    let_go = library.hold("slow")
    library.wait_for_opening()
    slow = asked(pool, threads, "slow")
    library.wait_for_opening()

    assert asked(pool, threads, "open").result(KILL_S) == "text of open"
    assert asked(pool, threads, "other").result(KILL_S) == "text of other"
    assert pool.lease_open("slow") is None
    assert sorted(pool.open_items()) == ["open", "other"]
    assert not slow.done()
    let_go.set()
    assert slow.result(KILL_S) == "text of slow"


def test_two_who_ask_for_the_same_wait_for_one_opening(library: Library, threads: ThreadPoolExecutor) -> None:
    pool = pool_of(library)
    let_go = library.hold("slow")
    first = asked(pool, threads, "slow")
    library.wait_for_opening()
    second = asked(pool, threads, "slow")
    let_go.set()

    assert first.result(KILL_S) == second.result(KILL_S) == "text of slow"
    assert library.opened == ["slow"]


def test_an_opening_that_fails_is_tried_again_by_the_next_who_asks(library: Library) -> None:
    pool = pool_of(library)
    library.failures["broken"] = IndexDamagedError("It is damaged.", "Mend it.")
    for _ in range(2):
        with pytest.raises(IndexDamagedError):
            pool.lease("broken")
    del library.failures["broken"]

    assert pool.lease("broken").item == "text of broken"
    assert library.opened == ["broken"] * 3


def test_who_wants_it_made_does_not_fail_with_one_who_did_not(library: Library, threads: ThreadPoolExecutor) -> None:
    pool = pool_of(library)
    library.failures["new"] = UnknownCorpusError.of("new", [])
    let_go = library.hold("new")
    reader = asked(pool, threads, "new")
    library.wait_for_opening()
    writer = asked(pool, threads, "new", create=True)
    let_go.set()

    assert writer.result(KILL_S) == "text of new"
    assert isinstance(reader.exception(KILL_S), UnknownCorpusError)


def test_the_longest_idle_one_makes_room_and_is_opened_again_when_it_is_asked_for(library: Library) -> None:
    pool = pool_of(library, max_open=2)
    for name in ("first", "second"):
        pool.lease(name).release()
    pool.lease("first").release()

    pool.lease("third").release()
    assert (library.closed, sorted(pool.open_items())) == (["second"], ["first", "third"])

    assert pool.lease("second").item == "text of second"
    assert library.closed == ["second", "first"]


def test_what_is_leased_is_never_closed_for_another(library: Library) -> None:
    pool = pool_of(library, max_open=2)
    first, again = pool.lease("first"), pool.lease("first")
    pool.lease("second")
    first.release()
    first.release()  # counts once

    with pytest.raises(TooManyCorporaError, match="all that are open are in use"):
        pool.lease("third")
    assert library.closed == []

    again.release()
    assert pool.lease("third").item == "text of third"
    assert library.closed == ["first"]


def test_an_opening_waits_for_a_lease_to_be_given_back(library: Library, threads: ThreadPoolExecutor) -> None:
    pool = LeasePool(library.open, library.close, 1, lambda _: True, wait_s=KILL_S)
    lease = pool.lease("first")
    waiting = [asked(pool, threads, "second"), asked(pool, threads, "second")]
    assert pool.lease_open("second") is None

    lease.release()

    assert [text.result(KILL_S) for text in waiting] == ["text of second"] * 2
    assert library.closed == ["first"]


def test_many_who_want_the_same_place_get_it_one_after_the_other(library: Library, threads: ThreadPoolExecutor) -> None:
    room = 2
    pool = LeasePool(library.open, library.close, 9, lambda count: count <= room, wait_s=KILL_S)
    ends = [threads.submit(lambda name: pool.lease(name).release(), str(number)) for number in range(8)]

    for end in ends:
        end.result(KILL_S)
    assert sorted(library.opened) == sorted(map(str, range(8)))


def test_without_room_in_the_process_idle_ones_are_closed_until_there_is(library: Library) -> None:
    free = 4

    def has_room(count: int) -> bool:
        return len(library.opened) - len(library.closed) + count <= free

    pool = pool_of(library, has_room=has_room)
    for number in range(10):
        pool.lease(str(number)).release()
    assert sorted(pool.open_items()) == ["6", "7", "8", "9"]

    free = 0
    with pytest.raises(TooManyCorporaError, match="ulimit -n"):
        pool.lease("another")
    assert pool.open_items() == {}
    free = 1
    assert pool.lease("another").item == "text of another"


def test_one_that_is_being_closed_is_opened_again_only_after_that(
    library: Library, threads: ThreadPoolExecutor
) -> None:
    closing, go_on = threading.Event(), threading.Event()

    def close_item(text: str) -> None:
        closing.set()
        assert go_on.wait(KILL_S)
        library.close(text)

    pool = LeasePool(library.open, close_item, 2, lambda _: True)
    for name in ("first", "second"):
        pool.lease(name).release()
    third = threads.submit(lambda: pool.lease("third").release())
    assert closing.wait(KILL_S)
    again = asked(pool, threads, "first")
    assert threads.submit(lambda: pool.lease("second").release()).exception(KILL_S) is None
    assert pool.lease_open("first") is None
    assert library.opened == ["first", "second"]
    go_on.set()

    third.result(KILL_S)
    assert again.result(KILL_S) == "text of first"
    assert library.closed[0] == "first"
    assert library.opened.count("first") == 2


def test_one_that_cannot_be_closed_makes_room_all_the_same(caplog: pytest.LogCaptureFixture) -> None:
    def close_item(_name: str) -> None:
        raise RuntimeError("It is stuck.")

    pool = LeasePool(lambda name, _create: name, close_item, 1, lambda _: True)
    pool.lease("first").release()

    assert pool.lease("second").item == "second"
    assert "'first' could not be closed" in caplog.text


def test_closing_ends_what_is_open_and_what_is_being_opened(library: Library, threads: ThreadPoolExecutor) -> None:
    pool = pool_of(library)
    pool.lease("open")
    library.wait_for_opening()
    let_go = library.hold("slow")
    slow = asked(pool, threads, "slow")
    library.wait_for_opening()

    pool.close()
    assert library.closed == ["open"]
    let_go.set()

    assert isinstance(slow.exception(KILL_S), CorpusError)
    assert library.closed == ["open", "slow"]
    assert pool.lease_open("open") is None
    with pytest.raises(CorpusError, match="the service stops"):
        pool.lease("other")


def test_a_retired_item_serves_its_leases_and_others_get_a_new_one(library: Library) -> None:
    pool = pool_of(library)
    with pool.lease("a") as old:
        pool.retire("a", old)
        with pool.lease("a"):
            assert library.opened == ["a", "a"]
            assert not library.closed
    assert library.closed == ["a"]
    assert pool.open_items() == {"a": "text of a"}


def test_what_nobody_uses_is_closed_when_it_is_retired(library: Library) -> None:
    pool = pool_of(library)
    pool.lease("a").release()

    pool.retire("a", pool.open_items()["a"])

    assert library.closed == ["a"]
    assert not pool.open_items()


def test_an_item_that_is_open_no_longer_is_not_retired_twice(library: Library) -> None:
    pool = pool_of(library)
    lease = pool.lease("a")
    item = lease.item

    pool.retire("a", item)
    pool.retire("a", item)
    lease.release()

    assert library.closed == ["a"]


def test_closing_the_pool_closes_what_is_retired_and_in_use(library: Library) -> None:
    pool = pool_of(library)
    lease = pool.lease("a")
    pool.retire("a", lease.item)

    pool.close()
    lease.release()

    assert library.closed == ["a"]


def test_what_is_kept_closed_is_opened_again_afterwards_by_those_who_waited(
    library: Library, threads: ThreadPoolExecutor
) -> None:
    pool = pool_of(library)
    pool.lease("one").release()
    with pool.closed("one"):
        waiting = asked(pool, threads, "one")
        assert (library.closed, pool.open_items(), pool.lease_open("one")) == (["one"], {}, None)
        assert not waiting.done()

    assert waiting.result(KILL_S) == "text of one"
    assert library.opened == ["one", "one"]


def test_what_is_in_use_is_not_closed(library: Library) -> None:
    pool = pool_of(library)
    lease = pool.lease("one")
    with pytest.raises(TooManyCorporaError), pool.closed("one"):
        pytest.fail("it was closed")
    lease.release()

    assert library.closed == []
    assert pool.lease("one").item == "text of one"
