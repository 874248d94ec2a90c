"""What lowered the quality of an answer, for the person who reads it and for programs.

Flow: a stage that was skipped or failed makes one -> `Done.warnings`, `Retrieval.warnings` -> the views, which write it
as `code: sentence`. A pure value.
"""

from dataclasses import dataclass

from errors import RagError, without_paths

# Codes of what makes an answer doubtful: a step or a note above the text says so, and nothing below repeats it.
DOUBTS = frozenset(("absent_identifier", "low_confidence"))


@dataclass(frozen=True, slots=True)
class AnswerWarning:
    """A lowered quality.

    Attributes:
        code: for programs; never changes.
        text: one or two sentences for people, who may be clients: without paths of this machine.
    """

    code: str
    text: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", without_paths(self.text))

    @classmethod
    def of(cls, error: RagError) -> "AnswerWarning":
        """Return the warning that a foreseen error becomes where the answer goes on without what failed."""
        return cls(error.code, error.fact)

    def __str__(self) -> str:
        return f"{self.code}: {self.text}"
