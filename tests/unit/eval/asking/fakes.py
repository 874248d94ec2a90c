"""Targets that follow a script, and short names for rows and cases."""

from collections.abc import Callable, Sequence
from typing import Any

from eval.asking.asking import RetryPolicy
from eval.asking.target import NoReplyError
from eval.cases import Case
from eval.rows import Row
from eval.run_folder import Header

Act = Row | Exception | Callable[[], None]


def a_case(id_: str = "q1", **fields: Any) -> Case:
    return Case(id=id_, question=f"What is {id_}?", **fields)


def a_row(id_: str = "q1", outcome: str = "answered", **fields: Any) -> Row:
    answer = {"answered": "It is so.", "declined": "I don't know.", "failed": None}[outcome]
    return Row.model_validate({"id": id_, "outcome": outcome, "answer": answer, "fingerprint": "f1", **fields})


def a_header(**fields: Any) -> Header:
    known = {"started": "2026-01-01T00:00:00+00:00", "questions": "q.jsonl", "questions_sha256": "0", "target": "t"}
    return Header.model_validate({**known, **fields})


class ScriptedTarget:
    """Answers every question; `acts` come first, per id, in turn.

    Attributes:
        asked: ids in order.
    """

    def __init__(self, **acts: Sequence[Row | Exception]) -> None:
        self._acts = {id_: list(some) for id_, some in acts.items()}
        self.asked: list[str] = []

    async def ask(self, case: Case) -> Row:
        self.asked.append(case.id)
        acts = self._acts.get(case.id)
        act = acts.pop(0) if acts else a_row(case.id)
        if isinstance(act, Exception):
            raise act
        return act


def unreachable() -> NoReplyError:
    return NoReplyError("The service cannot be reached.", "Start it.")


class Naps:
    """Notes how long it was to sleep, and does not."""

    def __init__(self) -> None:
        self.s: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.s.append(seconds)


def impatient(attempts: int = 1) -> RetryPolicy:
    return RetryPolicy(timeout_s=5, attempts=attempts, sleep=Naps())
