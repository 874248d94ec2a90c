"""What can be asked, and how it says that there is no reply.

Flow: `http.py`, `in_process.py` -> **here** -> `retry_policy.py` asks again, `asking.py` keeps the rows.
"""

from dataclasses import dataclass, field
from typing import Any, Protocol

from errors import OutOfTimeError, RagError
from eval.cases import Case
from eval.rows import Row

QUOTING = "extractive"


class NoReplyError(RagError):
    """One call failed.

    Attributes:
        refused: this question is not taken, and will not be however often it is asked; that says nothing of others.
        lasting: an immediate second try cannot help, e.g. a reply that is not JSON.
        retry_after_s: how long the service asks to be left alone; None if it does not say.
    """

    code = "no_reply"

    def __init__(
        self,
        fact: str,
        remedy: str,
        *,
        refused: bool = False,
        lasting: bool = False,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(fact, remedy)
        self.refused = refused
        self.lasting = lasting or refused
        self.retry_after_s = retry_after_s


def in_time(row: Row) -> Row:
    """Return the row, unless its time was over before anything was found: that is no abstention.

    Raises:
        NoReplyError: it was.
    """
    late = next((warning for warning in row.warnings if warning.startswith(f"{OutOfTimeError.code}:")), None)
    if late and row.outcome == "declined":
        raise NoReplyError(late.partition(": ")[2], "Raise RAG_ANSWER__DEADLINE_S, or ask less at once.")
    return row


class Target(Protocol):
    """A service, or the engine in this process."""

    async def ask(self, case: Case) -> Row:
        """Return what came of the question; never a failed row.

        Raises:
            NoReplyError: there is no reply.
        """


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a target before the first question.

    Attributes:
        name: `in process` or the service's URL.
        corpus: the one that is asked; None where it is not known, or none is.
        settings: without secrets; what a run must not change on the way.
        versions: of what answers.
        fingerprint: empty where only replies tell it.
        warnings: what may make the run worth less than it looks, as sentences.
    """

    name: str
    corpus: str | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    fingerprint: str = ""
    warnings: tuple[str, ...] = ()


class WrittenByModel:
    """Lets only answers of a language model pass: quotes that took its place are no replies.

    Args:
        target: answers.
    """

    def __init__(self, target: Target) -> None:
        self._target = target

    async def ask(self, case: Case) -> Row:
        """Return the row if a model wrote it, or nothing was to be written.

        Raises:
            NoReplyError: quotes took the model's place, or the service does not tell who wrote.
        """
        row = await self._target.ask(case)
        if row.outcome == "answered" and row.synthesizer in {None, QUOTING}:
            fact = "The service does not tell who wrote the answer."
            if row.synthesizer:
                why = "; ".join(warning for warning in row.warnings if not warning.startswith("low_confidence:"))
                fact = f"No language model wrote this answer, it is quotes{f': {why}' if why else '.'}"
            raise NoReplyError(fact, "Mend the model, or leave out --require-llm.")
        return row
