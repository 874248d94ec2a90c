"""Nested time limits, and cancellation."""

import pytest

from errors import OutOfTimeError
from query_engine.runtime.deadline import Deadline


class Clock:
    """Time that a test moves."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_what_is_left_shrinks_to_nothing(clock: Clock) -> None:
    deadline = Deadline(5, clock)
    clock.now_s += 3
    assert deadline.left_s() == 2
    clock.now_s += 3
    assert deadline.left_s() == 0


def test_a_passed_deadline_names_its_limit_and_the_place(clock: Clock) -> None:
    deadline = Deadline(5, clock)
    deadline.check("before lunch")
    clock.now_s += 5

    with pytest.raises(OutOfTimeError, match=r"The limit of 5 s was reached after 3 passages\."):
        deadline.check("after 3 passages")


@pytest.mark.parametrize(("timeout_s", "left_s"), [(2, 2), (50, 10)])
def test_a_stage_never_gets_longer_than_its_question(clock: Clock, timeout_s: float, left_s: float) -> None:
    assert Deadline(10, clock).within(timeout_s).left_s() == left_s


@pytest.mark.parametrize(("timeout_s", "left_s"), [(3, 3), (50, 5)])
def test_a_stage_that_can_be_left_out_takes_no_more_than_half(clock: Clock, timeout_s: float, left_s: float) -> None:
    assert Deadline(10, clock).for_stage(timeout_s).left_s() == left_s


@pytest.mark.parametrize(("timeout_s", "left_s"), [(240, 235), (10, 8), (0, 0)])
def test_sparing_leaves_the_reserve_or_a_fifth(clock: Clock, timeout_s: float, left_s: float) -> None:
    assert Deadline(timeout_s, clock).sparing(5).left_s() == left_s


def test_who_leaves_stops_the_stages_too(clock: Clock) -> None:
    question = Deadline(10, clock)
    stage = question.within(5).sparing(1)
    stage.check_wanted("here")

    question.stop.set()

    with pytest.raises(OutOfTimeError, match="given up here"):
        stage.check("here")


def test_late_work_is_still_wanted(clock: Clock) -> None:
    deadline = Deadline(1, clock)
    clock.now_s += 2

    deadline.check_wanted("here")


def test_one_that_is_brought_forward_takes_those_within_it_along(clock: Clock) -> None:
    question = Deadline(240, clock)
    answer = question.sparing(5)
    writing, stage, short = answer.sparing(5), answer.for_stage(60), answer.within(1)
    clock.now_s += 10

    question.shorten(10)

    lefts = [limit.left_s() for limit in (question, answer, writing, stage)]
    assert lefts == pytest.approx([10, 8, 6.4, 4])
    assert short.left_s() == 0
    clock.now_s += 6
    assert (question.left_s(), answer.left_s()) == (4, 2)
    assert stage.left_s() == 0
    # What begins only now has its share of what is left.
    assert answer.for_stage(60).left_s() == 1


def test_bringing_one_forward_gives_nobody_more_time(clock: Clock) -> None:
    question = Deadline(5, clock)
    stage = question.within(2)

    question.shorten(60)
    assert (question.left_s(), stage.left_s()) == (5, 2)
    clock.now_s += 3
    question.shorten(60)
    assert question.left_s() == 2


def test_a_subtask_ends_with_the_whole_but_its_end_is_not_that_of_the_whole(clock: Clock) -> None:
    whole = Deadline(60, clock)
    part = whole.subtask(30)
    part.stop.set()

    assert part.left_s() == 30
    assert not whole.stop.is_set()
    whole.shorten(5)
    assert part.left_s() == 5
