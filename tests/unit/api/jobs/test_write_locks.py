import threading

import pytest

from api.jobs.write_locks import WriteLocks
from tests.failing import failing


def test_who_waits_too_long_is_told_what_holds_the_corpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.jobs.write_locks.DELETION_WAIT_S", 0.01)
    locks = WriteLocks()

    with (
        locks.hold("papers"),
        failing("corpus_busy", match=r"into corpus 'papers'.*GET /ingest"),
        locks.hold("papers"),
    ):
        pass


def test_another_corpus_is_free() -> None:
    locks = WriteLocks()

    with locks.hold("papers"), locks.hold("notes"):
        pass


def test_the_next_writer_begins_when_the_first_has_ended() -> None:
    locks = WriteLocks()
    order: list[str] = []
    waiting = threading.Event()

    def second() -> None:
        waiting.set()
        with locks.hold("papers"):
            order.append("second")

    thread = threading.Thread(target=second)
    with locks.hold("papers"):
        thread.start()
        waiting.wait()
        order.append("first")
    thread.join(10)

    assert order == ["first", "second"]


def test_a_failure_frees_the_corpus() -> None:
    locks = WriteLocks()

    def fail() -> None:
        with locks.hold("papers"):
            raise ValueError("the disk is full")

    with pytest.raises(ValueError, match="full"):
        fail()
    with locks.hold("papers"):
        pass
