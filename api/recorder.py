"""Give each answer and retrieval an id, and record it in the background, so that feedback can refer to it.

Flow: `answering/` and `routes/retrieve.py` hand over what they return -> **here**, one thread -> `index/feedback/`;
`POST /feedback` comes through the same thread, so a verdict finds the answer before it. A full disk loses the records
and logs a warning; answers are unaffected.
"""

import asyncio
import secrets
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from api.background import BackgroundWriter
from api.caller import CALLER, mark_of, opens_id
from api.schemas.replies.answers import message_of
from errors import RagError, UnknownAnswerError
from index.corpus import member_names
from index.feedback.store import FeedbackStore, Given, Kind, Limits, Target, Verdict
from query_engine.inquiry import Inquiry
from query_engine.runtime.watching import asked
from query_engine.schema.events import Citation, Done, Event, Step
from query_engine.schema.passage import Passage
from settings import FeedbackSettings

CITED = ("number", "doc_id", "chunk_id", "start", "end", "quote")
READ = ("node_id", "chunk_id", "doc_id", "start", "end", "text")
"""What is noted of a citation, and of a passage."""
# For another process to note what it has just given.
OTHERS_WAIT_S = 1.0


class Recorder:
    """Notes what is given, unless the settings turn it off. Used on the event loop.

    Args:
        settings: whether, and how much is kept.
        folder: the index folder, which holds the file.
        beside_others: other processes note answers in the same file, perhaps a moment after they were given.
    """

    def __init__(self, settings: FeedbackSettings, folder: Path, *, beside_others: bool = False) -> None:
        self._store = FeedbackStore(folder, Limits(settings.keep_days))
        self._enabled = settings.enabled
        self._wait_s = OTHERS_WAIT_S if beside_others else 0.0
        self._writer = BackgroundWriter("feedback", "answers", "An answer was not noted, so nobody can judge it")

    def answer(self, inquiry: Inquiry, corpus: str) -> "Recording | None":
        """Return what notes an answer that begins; None if nothing is noted."""
        asked(inquiry.text)
        return Recording(self._note, inquiry, corpus) if self._enabled else None

    def retrieval(self, inquiry: Inquiry, corpus: str, passages: Sequence[Passage]) -> str | None:
        """Note what a search found, and return its id; None if nothing is noted."""
        asked(inquiry.text)
        if not self._enabled:
            return None
        retrieval_id = _new_id()
        mark = mark_of(retrieval_id, CALLER.get())
        self._note(partial(_given, retrieval_id, "retrieval", mark, inquiry, corpus, passages))
        return retrieval_id

    async def judge(self, id_: str, kind: Kind, target: Target, verdict: Verdict, text: str | None) -> None:
        """Keep a verdict of the caller, whose key must open what is judged.

        Raises:
            RagError: feedback is off; otherwise what `FeedbackStore.judge` raises.
        """
        self._check_enabled()
        key = CALLER.get()  # the thread that writes has none

        def opens(mark: str, corpus: str) -> bool:
            return opens_id(key, id_, mark, member_names(corpus))

        until_s = time.monotonic() + self._wait_s
        while True:
            try:
                return await self._writer.run(partial(self._store.judge, id_, kind, target, verdict, text, opens))
            except UnknownAnswerError:
                if time.monotonic() >= until_s:
                    raise
            await asyncio.sleep(OTHERS_WAIT_S / 10)

    async def judged(self, corpus: str | None) -> AsyncGenerator[dict[str, Any], None]:
        """Yield what was judged, oldest first.

        Raises:
            RagError: feedback is off, or its file is damaged.
        """
        self._check_enabled()
        found = self._store.judged(corpus)
        while (record := await self._writer.run(partial(next, found, None))) is not None:
            yield record

    def close(self) -> None:
        """Write what waits, and let go of the file; blocks."""
        self._writer.close()
        self._store.close()

    def _note(self, make: Callable[[], Given]) -> None:
        self._writer.write(lambda: self._store.note(make()))

    def _check_enabled(self) -> None:
        if not self._enabled:
            raise RagError(
                "This service keeps no feedback.",
                "Set RAG_FEEDBACK__ENABLED=true and start it again.",
                "feedback_unavailable",
            )


class Recording:
    """Notes one answer with its last event.

    Args:
        write: notes it in the background.
        inquiry: the question.
        corpus: that is read.

    Attributes:
        id: of the answer.
    """

    def __init__(self, write: Callable[[Callable[[], Given]], None], inquiry: Inquiry, corpus: str) -> None:
        self.id = _new_id()
        self._write = write
        mark = mark_of(self.id, CALLER.get())
        self._given = partial(_given, self.id, "answer", mark, inquiry, corpus)
        self._told: list[str] = []

    def note(self, event: Event) -> None:
        """Take the next event, before its reader has it: a verdict sent at once comes after this."""
        if isinstance(event, Step):
            self._told.append(event.text)
        elif isinstance(event, Done):
            self._write(partial(self._given, event.passages, steps=tuple(self._told), **_answered(event)))


def _new_id() -> str:
    return secrets.token_hex(16)


def _answered(done: Done) -> dict[str, Any]:
    return {
        "answer": done.answer,
        "message": message_of(done),
        "citations": tuple(_noted(one, CITED) for one in done.citations),
        "synthesizer": done.synthesizer,
        "fingerprint": done.fingerprint,
    }


def _given(  # noqa: PLR0917  # private; names match at every call
    id_: str, kind: Kind, mark: str, inquiry: Inquiry, corpus: str, passages: Sequence[Passage], **answered: Any
) -> Given:
    return Given(
        id_,
        kind,
        corpus,
        inquiry.text,
        inquiry.filters,
        len(inquiry.turns),
        passages=tuple(_noted(one, READ) for one in passages),
        mark=mark,
        **answered,
    )


def _noted(value: Citation | Passage, names: tuple[str, ...]) -> dict[str, Any]:
    """Return the fields with these names, and the corpus where several were asked."""
    return {name: getattr(value, name) for name in names} | ({"corpus": value.corpus} if value.corpus else {})
