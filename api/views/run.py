"""Fold the events of an answer into the records of `POST /run`.

Flow: engine events -> **here** -> `answering/sse.py` decides when a record is sent. Pure: no clock, no I/O.

A record is a snapshot: it carries all steps and the whole text so far, and replaces the one before. The first records
think (`is_intermediate` true, `final_report` null), the next ones answer, the last one is `complete`. Clients take the
mere presence of the key `error` for a failure and show its text as the answer, so it stands only in the last record of
an answer of which nothing was written. Lines stay under 64 KiB, because clients read them into buffers of that size.
"""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from api.schemas.replies.answers import RunRecord, message_of
from api.views.deltas import sse
from api.views.truncate import fit, json_bytes
from query_engine.schema.events import Citation, Done, Event, Nearest, Restarted, Step, Token

SEPARATOR = "|||---|||"
WRITING = "**Writing** the answer."
NOTHING_WRITTEN = "**Nothing is written**: the reply says why."

# Bytes of ASCII JSON. The answer with its notes, the steps and the citations make less than 64 KiB.
MAX_ANSWER_BYTES = 28 * 1024
MAX_NOTES_BYTES = 2 * 1024
MAX_REASON_BYTES = 1024
MAX_STEPS_BYTES = 16 * 1024
MAX_STEP_BYTES = 6 * 1024
MAX_CITATIONS_BYTES = 16 * 1024

ANSWER_CUT = "\n\n*The answer is too long for this stream and is cut here; `/evaluate` returns all of it.*"
BROKEN_OFF = "\n\n*The answer breaks off here. {reason}*"
CITATIONS_CUT = "\n\n*Only the first {shown} of {all} sources fit into this stream; `/evaluate` returns all of them.*"
STEPS_CUT = "Further steps are left out."


class RunView:
    """The state of one stream.

    Args:
        cite: turns the citations of a finished answer into one address for each `[n]`, in order.
        show_nearest: writes what follows the sentence of a declined answer; empty if nothing does.

    Attributes:
        urgent: what was taken since the last record should be shown at once.
        unsent: something was taken that the last record does not show.
        complete: the last record has been made.
    """

    def __init__(
        self,
        cite: Callable[[Sequence[Citation]], list[str]],
        show_nearest: Callable[[Sequence[Nearest]], str],
    ) -> None:
        self._cite = cite
        self._show_nearest = show_nearest
        self._steps = _Steps()
        self._answer = ""
        self._written = False  # the answer is one, and no reason why there is none
        self._answers = False  # an answering record was sent
        self._ending: dict[str, Any] | None = None  # what only the last record carries
        self.urgent = self.unsent = self.complete = False

    def take(self, event: Event) -> None:
        """Fold one event into the state."""
        match event:
            case Step(text=text):
                self._steps.add(text)
                self.urgent = self.unsent = bool(self._answer) or not self._answers
            case Token(text=text):
                begins = not self._answer
                # An answer does not begin with blanks: they would make an empty report.
                self._answer += text if self._answer else text.lstrip()
                self._written = bool(self._answer)
                # What is withdrawn stays on the reader's screen until something takes its place.
                self.unsent = self.unsent or bool(self._answer)
                self.urgent = self.unsent and (self.urgent or begins)
            case Restarted():
                self._answer = ""
                self.urgent = self.unsent = False
            case Done(answer=None, nearest=nearest):
                self._written = False
                self._end(message_of(event) + self._show_nearest(nearest), {"citations": []})
            case Done(citations=citations):
                self._written = True
                self._end(message_of(event), {"citations": self._cite(citations)})

    def fail(self, reason: str, code: str = "internal") -> None:  # noqa: ARG002  # a record has no place for it
        """End because the engine failed; `reason` is a sentence for people, `code` for programs.

        What is written so far makes a better ending than an error, which clients show instead of it.
        """
        reason = fit(reason, MAX_REASON_BYTES, " …")
        if self._answer:
            written = fit(self._answer, MAX_ANSWER_BYTES, "").rstrip()
            self._end(written + BROKEN_OFF.format(reason=reason), {"citations": []})
        else:
            self._end(reason, {"citations": [], "error": reason})

    def messages(self) -> list[bytes]:
        """Return what there is to send now, an event a record: one, or two when an answer comes in one piece."""
        self.urgent = self.unsent = False
        if not self._answer:
            return [sse(self._snapshot())]
        self._steps.ensure_two(WRITING if self._written else NOTHING_WRITTEN)
        due = []
        if self._ending is None or not (self._answers or "error" in self._ending):
            due.append(self._snapshot())
        self._answers = True
        if self._ending is not None:
            due.append(self._snapshot(complete=True, **self._ending))
            self.complete = True
        return [sse(record) for record in due]

    def _end(self, text: str, ending: dict[str, Any]) -> None:
        urls = ending["citations"]
        shown = _fitting(urls)
        if len(shown) < len(urls):
            text = fit(text, MAX_ANSWER_BYTES, ANSWER_CUT) + CITATIONS_CUT.format(shown=len(shown), all=len(urls))
        self._answer = text
        self._ending = {**ending, "citations": shown}
        self.urgent = self.unsent = True

    def _snapshot(self, *, complete: bool = False, **ending: Any) -> RunRecord:
        return RunRecord.filled(
            intermediate_steps=self._steps.text(),
            final_report=fit(self._answer, MAX_ANSWER_BYTES + MAX_NOTES_BYTES, ANSWER_CUT) or None,
            is_intermediate=not self._answer,
            complete=complete,
            **ending,
        )


class _Steps:
    """The steps so far, bounded in size. The last one says so when others had to be left out."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._full = False

    def add(self, text: str) -> None:
        # A title or a question may hold the separator; it must not look like another step.
        text = text.strip().replace(SEPARATOR, SEPARATOR.replace("---", " --- "))
        if not text or self._full:
            return
        self._texts.append(fit(text, MAX_STEP_BYTES, " …"))
        if json_bytes(self.text()) > MAX_STEPS_BYTES:
            self._texts[-1] = STEPS_CUT
            self._full = True

    def ensure_two(self, last: str) -> None:
        """Add a step if there is only one: readers are promised a separator."""
        if len(self._texts) < 2:
            self.add(last)

    def text(self) -> str:
        return f"\n{SEPARATOR}\n".join(self._texts)


def _fitting(urls: list[str]) -> list[str]:
    sizes = itertools.accumulate(json_bytes(url) + len('"",') for url in urls)
    return [url for url, size in zip(urls, sizes, strict=True) if size <= MAX_CITATIONS_BYTES]
