"""The reply of `POST /react`, and the records of `POST /react_streaming`, as clients of ASK-xDD read them.

Flow: events of `research/react.py` -> **here** -> JSON, or one JSON object a line:

    ({"thoughts": text} | {"used_docs": [paragraphs of a round]})*
    then {"used_docs": [those of the answer]}, {"answer": text}  |  {"error": {"code", "detail"}}

`[n]` in the answer is the nth of the last `used_docs`. Pure.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from api.linked import outside_code
from api.schemas.replies.answers import Paragraph, ReactRecord, ReactReply, StreamFailure, message_of, unsupported_in
from api.views.deltas import DeltaView, to_line
from query_engine.schema.events import Done, Step
from query_engine.schema.passage import Passage
from research.react import PaperTrail
from research.schema import RoundStep

_MARKS = re.compile(r"(?:\[\d{1,3}\])+")
_NUMBER = re.compile(r"\d+")


def to_react_reply(done: Done, trail: PaperTrail, notices: Sequence[str] = ()) -> ReactReply:
    """Return `answer`, the paragraphs it was written from, cited ones first, `unsupported` and `warnings`.

    Args:
        done: the finished answer; a declined one has no paragraphs.
        trail: the paragraphs that were found.
        notices: warnings about the request.
    """
    warnings = [*notices, *map(str, done.warnings)]
    if done.answer is None:
        return ReactReply.filled(answer=message_of(done), used_docs=[], unsupported=[], warnings=warnings)
    order = _cited_first(done)
    places = {passage.node_id: place for place, passage in enumerate(order, 1)}
    held = {
        citation.number: places[passage.node_id]
        for citation in reversed(done.citations)
        for passage in order
        if passage.document == citation.document and passage.start <= citation.start < passage.end
    }

    def renumbered(found: re.Match[str]) -> str:
        numbers = dict.fromkeys(held.get(int(number)) for number in _NUMBER.findall(found[0]))
        return "".join(f"[{number}]" for number in numbers if number) or found[0]

    return ReactReply.filled(
        answer=outside_code(message_of(done), lambda prose: _MARKS.sub(renumbered, prose)),
        used_docs=list(map(Paragraph.build, trail.paragraphs(order))),
        unsupported=unsupported_in(done),
        warnings=warnings,
    )


class ReactView(DeltaView):
    """The state of one stream, whose answer comes whole: tokens are not told.

    Args:
        trail: the paragraphs that were found.
    """

    def __init__(self, trail: PaperTrail) -> None:
        super().__init__()
        self._trail = trail

    def step(self, step: Step) -> Iterator[bytes]:
        """Yield `thoughts`, and the `used_docs` of a round that found some."""
        yield _line(thoughts=step.text)
        useful = self._trail.paragraphs(step.round.review.useful) if isinstance(step, RoundStep) else ()
        if useful:
            yield _line(used_docs=list(map(Paragraph.build, useful)))

    def text(self, piece: str) -> Iterable[bytes]:  # noqa: ARG002
        """Return nothing."""
        return ()

    def restart(self, reason: str) -> Iterable[bytes]:  # noqa: ARG002
        """Return nothing."""
        return ()

    def end(self, done: Done, written: str) -> Iterable[bytes]:  # noqa: ARG002  # nothing of the answer was sent
        """Return the last `used_docs` and the `answer`."""
        reply = to_react_reply(done, self._trail)
        return [_line(used_docs=reply.used_docs), _line(answer=reply.answer)]

    def failure(self, reason: str, code: str) -> Iterable[bytes]:
        """Return `error`."""
        return [_line(error=StreamFailure.filled(code=code, detail=reason))]


def _cited_first(done: Done) -> list[Passage]:
    """Return the passages in the order of the first `[n]` that cites them, then the others."""
    first = {
        passage.node_id: citation.number
        for citation in reversed(done.citations)
        for passage in done.passages
        if passage.document == citation.document and passage.start <= citation.start < passage.end
    }
    return sorted(done.passages, key=lambda passage: first.get(passage.node_id, len(done.citations) + 1))


def _line(**record: Any) -> bytes:
    return f"{to_line(ReactRecord.filled(**record))}\n".encode("ascii")
