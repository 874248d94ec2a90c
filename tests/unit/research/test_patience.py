import pytest

from errors import LLMError, OutOfTimeError
from query_engine.runtime.deadline import Deadline
from research.patience import MAX_PAUSE_S, TRIES, PatientHelper, may_pass, pause, pause_s
from tests.fakes.llm import FakeLLM, asker


def patient(*says: str | Exception) -> tuple[PatientHelper, FakeLLM, list[float]]:
    """A patient helper whose model makes these replies, and the pauses that it made."""
    replies = iter(says)
    pauses: list[float] = []

    def turn() -> None:
        model.says[1:] = [next(replies)]

    model = FakeLLM(says=[turn])
    return PatientHelper(asker(model), lambda _, seconds: pauses.append(seconds)), model, pauses


BUSY = LLMError("It is busy.", "Wait.", code="llm_busy")


def test_a_model_that_recovers_is_heard() -> None:
    helper, model, pauses = patient(BUSY, BUSY, "yes")

    assert helper.ask("Well?", Deadline(60)) == "yes"
    assert len(model.asked) == 3
    assert pauses == sorted(pauses)


def test_after_six_tries_its_failure_is_told() -> None:
    helper, model, pauses = patient(*[BUSY] * 9)

    with pytest.raises(LLMError, match="busy"):
        helper.ask("Well?", Deadline(60))

    assert len(model.asked) == TRIES == 6
    assert len(pauses) == 5
    assert max(pauses) <= MAX_PAUSE_S + 0.25


def test_a_failure_that_will_not_pass_is_told_at_once() -> None:
    helper, model, pauses = patient(LLMError("No key.", "Set one.", code="llm_key_refused"))

    with pytest.raises(LLMError, match="No key"):
        helper.ask("Well?", Deadline(60))

    assert (len(model.asked), pauses) == (1, [])
    assert may_pass("llm_busy")
    assert not may_pass("low_confidence")


def test_no_pause_outlasts_the_deadline_or_the_client() -> None:
    with pytest.raises(OutOfTimeError):
        pause(Deadline(0), 9)
    left = Deadline(60)
    left.stop.set()
    with pytest.raises(OutOfTimeError):
        pause(left, 9)


def test_pauses_double_up_to_the_longest() -> None:
    assert [pause_s(attempt) for attempt in range(1, 8)] == [0.5, 1, 2, 4, 8, 16, 16]
