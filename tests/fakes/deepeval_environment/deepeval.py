"""What the evaluation uses of DeepEval, as a module that another interpreter finds in its path."""

import os
import socket
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, create_model

__version__ = "fake"


class models:  # stands for a module
    """The judge's base class."""

    class DeepEvalBaseLLM:
        def __init__(self, model: str) -> None:
            self.name = model


class test_case:
    """What is judged."""

    class LLMTestCase(BaseModel):
        input: str
        actual_output: str
        expected_output: str
        retrieval_context: list[str]


class _Verdict(BaseModel):
    verdict: Literal["yes", "no", "borderline"]
    reason: str = ""


def _verdicts(name: str) -> Any:
    """Return the kind of reply that is asked for; the schema's `$defs` name the metric, as the real ones do."""
    fields: dict[str, Any] = {"verdicts": (list.__class_getitem__(type(f"{name}Verdict", (_Verdict,), {})), ...)}
    return create_model("Verdicts", **fields)


class _Metric:
    """Asks for verdicts; the score is the share of `passing` ones."""

    name: ClassVar[str]
    passing: ClassVar[set[str]] = {"yes"}

    def __init__(self, *, model: Any, async_mode: bool, include_reason: bool) -> None:
        assert (async_mode, include_reason) == (False, False)
        self.model = model

    def measure(self, case: Any, *, _show_indicator: bool) -> float:
        print("Evaluating ...")  # noqa: T201  # as the real one may
        if case.actual_output == "connect":
            socket.create_connection(("127.0.0.1", 1))
        if case.actual_output == "die":
            os._exit(1)
        verdicts = self.model.generate(f"{self.name}: {case.actual_output}", schema=_verdicts(self.name)).verdicts
        return float(sum(verdict.verdict in self.passing for verdict in verdicts) / len(verdicts))


class metrics:
    """The metrics."""

    class FaithfulnessMetric(_Metric):
        name = "Faithfulness"
        passing: ClassVar[set[str]] = {"yes", "borderline"}

    class AnswerRelevancyMetric(_Metric):
        name = "AnswerRelevancy"

    class ContextualPrecisionMetric(_Metric):
        name = "ContextualPrecision"

    class ContextualRecallMetric(_Metric):
        name = "ContextualRecall"
