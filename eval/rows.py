"""What came of one question: the row that everything else in the evaluation reads.

Flow: `asking/` -> **here** -> `run_folder.py` keeps it -> `scoring/`, `comparing/`, `reporting/`. Pure values.

A failed call is neither an answer nor an abstention: it has a separate outcome and is asked again when the run
continues.
"""

import hashlib
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Milliseconds = Annotated[float, Field(ge=0)]
NOT_LOOKED_UP = "what is cited was not looked up in its documents"
# What rows have gained since scores are bound to their content.
LATER = {"asked_at", "confirmed", "nearest", "on_topic"}
UNKNOWN = ("i don't know", "i don\u2019t know")


def says_unknown(text: str) -> bool:
    """Whether an answer begins with "I don't know", with either apostrophe: that is how any service declines."""
    return text.lstrip().lower().startswith(UNKNOWN)


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True)


class Quote(_Value):
    """A citation of the answer, as `/evaluate` gives it; a stranger's service may leave most of it out."""

    number: int
    doc_id: str | None = None
    start: int | None = None
    end: int | None = None
    quote: str | None = None
    url: str | None = None
    title: str | None = None


class Seen(_Value):
    """A passage that the answer was written from.

    Attributes:
        text: the passage; `text == document[start:end]` where they are known.
        doc_id: its document; None if the service does not tell.
        pages: zero-based pages it touches; empty if unknown.
        score: the retriever's; only its order means something.
    """

    text: str
    doc_id: str = ""
    chunk_id: str | None = None
    start: int | None = None
    end: int | None = None
    pages: tuple[int, ...] = ()
    score: float | None = None


class Row(_Value):
    """One asked question.

    Attributes:
        id: of its case.
        outcome: `answered`; `declined`: the service says that it does not know; `failed`: there is no reply.
        answer: what a person reads, with its `[n]` marks; None only where it failed.
        reason: the gate's reason, or why it failed.
        citations, passages: empty if the service reports none.
        nearest: quotes of the next places where the answer may stand; empty if the service does not tell.
        synthesizer: who wrote the answer.
        warnings: what lowered its quality, `code: sentence`.
        timings_ms: by stage, as the service reports them.
        seconds: from the question to the whole answer, as the asker saw it.
        first_record_s: from the question to the first sign of life; None where the reply comes whole.
        fingerprint: of settings, models and index; empty if the service reports none.
        asked_at: Unix time at which it was asked, in seconds; None in runs of earlier versions.
        confirmed: places in `citations` of quotes that no passage holds, and their document does, at their span.
        on_topic: places in `citations` of quotes that lie in the case's regions; or why that cannot be told.
    """

    id: str
    outcome: Literal["answered", "declined", "failed"]
    answer: str | None
    reason: str | None = None
    citations: tuple[Quote, ...] = ()
    passages: tuple[Seen, ...] = ()
    nearest: tuple[str, ...] = ()
    synthesizer: str | None = None
    warnings: tuple[str, ...] = ()
    timings_ms: dict[str, Milliseconds] = {}
    seconds: Annotated[float, Field(ge=0)] = 0.0
    first_record_s: Annotated[float, Field(ge=0)] | None = None
    fingerprint: str = ""
    asked_at: float | None = None
    confirmed: tuple[int, ...] = ()
    on_topic: tuple[int, ...] | str = NOT_LOOKED_UP

    @property
    def low_confidence(self) -> bool:
        """Whether the service answered and said that it may be wrong."""
        return any(warning.startswith("low_confidence:") for warning in self.warnings)

    def content(self) -> str:
        """Return all that a rerun of the same system must repeat, as JSON.

        Scores of earlier versions are bound to it, so `LATER` stays out.
        """
        return self.model_dump_json(exclude=LATER | {"timings_ms", "seconds", "first_record_s"})

    def digest(self) -> str:
        """Name this content: 16 hex digits. Scores belong to the content that they were made for."""
        return hashlib.sha256(self.content().encode()).hexdigest()[:16]
