import asyncio
import time

import pytest

from eval.asking.asking import RetryPolicy
from eval.asking.target import NoReplyError, WrittenByModel
from eval.cases import Case
from eval.rows import Row
from tests.unit.eval.asking.fakes import Naps, ScriptedTarget, a_case, a_row, impatient, unreachable


async def test_a_call_that_fails_is_made_again_after_growing_pauses() -> None:
    naps, target = Naps(), ScriptedTarget(q1=[unreachable(), unreachable()])

    asked = await RetryPolicy(attempts=3, pause_s=1, sleep=naps).ask(target, a_case())

    assert (asked.row.outcome, naps.s) == ("answered", [1, 2])


async def test_after_the_last_attempt_the_row_says_why_there_is_no_reply() -> None:
    target = ScriptedTarget(q1=[unreachable()] * 9)

    asked = await impatient(attempts=3).ask(target, a_case())

    assert (asked.row.outcome, asked.row.answer, asked.row.reason, asked.refused) == (
        "failed",
        None,
        "The service cannot be reached. Start it.",
        False,
    )
    assert target.asked == ["q1"] * 3


async def test_the_service_may_ask_for_a_longer_pause_but_not_for_an_endless_one() -> None:
    naps = Naps()
    busy = [NoReplyError("Busy.", "Wait.", retry_after_s=wanted_s) for wanted_s in (7, 0.1, 1e6)]

    await RetryPolicy(attempts=4, pause_s=1, max_pause_s=60, sleep=naps).ask(ScriptedTarget(q1=busy), a_case())

    assert naps.s == [7, 2, 60]


@pytest.mark.parametrize("refused", [True, False])
async def test_what_cannot_change_is_asked_once(refused: bool) -> None:
    target = ScriptedTarget(q1=[NoReplyError("No.", "Change it.", refused=refused, lasting=True)] * 3)

    asked = await impatient(attempts=3).ask(target, a_case())

    assert (asked.row.outcome, asked.refused, target.asked) == ("failed", refused, ["q1"])


async def test_a_call_that_takes_too_long_is_given_up() -> None:
    class Silent:
        async def ask(self, _: Case) -> Row:
            await asyncio.Event().wait()
            raise AssertionError

    asked = await RetryPolicy(timeout_s=0.01, attempts=2, sleep=Naps()).ask(Silent(), a_case())

    assert (asked.row.outcome, asked.row.reason) == ("failed", "There was no reply within 0.01 s. Raise --timeout-s.")
    assert 0 < asked.row.seconds < 5


async def test_where_a_model_has_to_write_its_answers_and_abstentions_pass() -> None:
    rows = [a_row(synthesizer="openai"), a_row(outcome="declined")]
    target = WrittenByModel(ScriptedTarget(q1=rows))

    assert [await target.ask(a_case()) for _ in rows] == rows


async def test_where_a_model_has_to_write_quotes_are_no_reply() -> None:
    warnings = ("low_confidence: Perhaps.", "llm_failed: The model is down.")
    quoted = a_row(synthesizer="extractive", warnings=warnings)
    target = WrittenByModel(ScriptedTarget(q1=[quoted, a_row()]))

    with pytest.raises(NoReplyError, match=r"it is quotes: llm_failed: The model is down\. Mend") as caught:
        await target.ask(a_case())
    assert not caught.value.lasting
    with pytest.raises(NoReplyError, match="does not tell who wrote"):
        await target.ask(a_case())


async def test_a_row_tells_when_its_last_call_began() -> None:
    before = time.time()

    asked = await impatient(attempts=2).ask(ScriptedTarget(q1=[unreachable()]), a_case())

    assert asked.row.asked_at is not None
    assert before <= asked.row.asked_at <= time.time()
