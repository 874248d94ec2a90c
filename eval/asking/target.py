"""The interface of a target that answers questions, the checks before a run, and the error for a missing reply.

Flow: `http.py`, `in_process.py`, `pipeline.py` -> **here** -> `asking.py` asks again and keeps the rows.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from errors import OutOfTimeError, RagError
from eval.cases import Case
from eval.nuggets import find_region, fold, is_on_topic, regions_of
from eval.rows import Row
from eval.scoring.offline.citations import in_passages

IN_PROCESS = "in process"
QUOTING = "extractive"
FEW_CHUNKS = 50


def check_chunks(corpus: str, chunks: int) -> list[str]:
    """Return a warning if a corpus is tiny, and raise RagError if it is empty."""
    if not chunks:
        raise RagError(
            f"The corpus {corpus!r} is empty: every question would be declined.",
            f"Bring documents in first: python -m ingestion PATH --corpus {corpus}.",
            "preflight",
        )
    if chunks < FEW_CHUNKS:
        return [f"The corpus {corpus!r} holds {chunks} chunks, fewer than {FEW_CHUNKS}: is it whole?"]
    return []


def check_author(provider: str) -> None:
    """Raise RagError if no language model is set to write the answers."""
    if provider == QUOTING:
        raise RagError(
            "--require-llm is given, but no language model is set: answers would be quotes.",
            "Set RAG_LLM__PROVIDER where the answers are made, or leave out --require-llm.",
            "preflight",
        )


class NoReplyError(RagError):
    """One call failed.

    Attributes:
        refused: this question is not taken, and will not be however often it is asked; that says nothing of others.
        lasting: an immediate second try cannot help, e.g. a reply that is not JSON.
        retry_after_s: how long the service asks to be left alone.
    """

    code = "no_reply"

    def __init__(
        self, fact: str, remedy: str, *, refused: bool = False, lasting: bool = False, retry_after_s: float = 0
    ) -> None:
        super().__init__(fact, remedy)
        self.refused = refused
        self.lasting = lasting or refused
        self.retry_after_s = retry_after_s


def in_time(row: Row) -> Row:
    """Return the row; raise NoReplyError if time was over before anything was found: that is not an abstention."""
    late = next((warning for warning in row.warnings if warning.startswith(f"{OutOfTimeError.code}:")), None)
    if late and row.outcome == "declined":
        raise NoReplyError(late.partition(": ")[2], "Raise RAG_ANSWER__DEADLINE_S, or ask less at once.")
    return row


Documents = Callable[[str], Awaitable[str | None]]
"""The text of a document; None if there is none."""


async def look_up(row: Row, case: Case, documents: Documents) -> Row:
    """Return the row with its citations looked up in their documents, as far as passages and regions do not suffice.

    What is quoted reaches beyond the passages that were found: how long these are must not decide what is right.
    """
    known: dict[str, str | None] = {}

    async def text(doc_id: str) -> str | None:
        if doc_id not in known:
            known[doc_id] = await documents(doc_id)
        return known[doc_id]

    confirmed = []
    for place, quote in enumerate(row.citations):
        if not quote.quote or quote.doc_id is None or quote.start is None or quote.end is None:
            continue
        if not in_passages(quote, row.passages):
            shown = await text(quote.doc_id)
            if shown is not None and shown[quote.start : quote.end] == quote.quote:
                confirmed.append(place)
    on_topic = await _on_topic(row, case, text)
    return row.model_copy(update={"confirmed": tuple(confirmed), "on_topic": on_topic})


async def _on_topic(row: Row, case: Case, documents: Documents) -> tuple[int, ...] | str:
    """Return the places of the citations on the case's topic, or why they cannot be told."""
    found = []
    for place, quote in enumerate(row.citations):
        regions = regions_of(quote.doc_id or "", case.regions)
        if not quote.quote or not regions:
            continue
        document = None
        if not all(region.text for region in regions):
            text = await documents(quote.doc_id or "")
            if text is None:
                return "the service does not show the documents that it cites"
            document = fold(text)
            if lost := next((region for region in regions if find_region(document, region) is None), None):
                return f"a region of {lost.doc} is not in the document as it was read"
        if is_on_topic(quote.quote, document, regions):
            found.append(place)
    return tuple(found)


class Target(Protocol):
    """A service, or what answers in this process."""

    async def ask(self, case: Case) -> Row:
        """Return the row of the reply, never a failed one; raise NoReplyError if no reply came."""


@dataclass(frozen=True, slots=True)
class WrittenByModel:
    """Lets only answers of a language model pass: quotes that took its place are not replies."""

    target: Target

    async def ask(self, case: Case) -> Row:
        """Return the row if a model wrote it, or nothing was to be written."""
        row = await self.target.ask(case)
        if row.outcome == "answered" and row.synthesizer in {None, QUOTING}:
            fact = "The service does not tell who wrote the answer."
            if row.synthesizer:
                why = "; ".join(warning for warning in row.warnings if not warning.startswith("low_confidence:"))
                fact = f"No language model wrote this answer, it is quotes{f': {why}' if why else '.'}"
            raise NoReplyError(fact, "Mend the model, or leave out --require-llm.")
        return row
