"""Short questions to the language model on the side."""

import pytest

from errors import LLMError
from query_engine.question.decompose import Planner
from query_engine.runtime.deadline import Deadline
from tests.fakes.llm import FakeLLM, asker


def test_an_unforeseen_failure_is_the_models_and_the_log_says_where(caplog: pytest.LogCaptureFixture) -> None:
    llm = FakeLLM(says=["Wi", RecursionError("too deep inside")])

    with pytest.raises(LLMError, match="unforeseen") as failure:
        asker(llm).ask("What?", Deadline(60))

    assert (failure.value.code, "too deep" in str(failure.value)) == ("llm_unforeseen", False)
    assert "RecursionError: too deep inside" in caplog.text
    assert llm.closed == 1


def test_a_step_that_asks_goes_on_without_the_reply() -> None:
    planner = Planner(asker(FakeLLM(says=[KeyError("bug")])))

    plan = planner.plan("What is the height of the dam and what is the length of the dam?")

    assert plan.parts == ()
    assert [warning.code for warning in plan.warnings] == ["planning_skipped"]
