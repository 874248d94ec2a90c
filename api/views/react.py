"""The reply of `POST /react`, and the records of `POST /react_streaming`, as clients of ASK-xDD read them.

Flow: events of `research/react.py` -> **here** -> JSON, or one JSON object a line:

    ({"thoughts": text} | {"used_docs": [paragraphs of a round]})*
    then {"used_docs": [those of the answer]}, {"answer": text}  |  {"error": {"code", "detail"}}

`[n]` in the answer is the nth of the last `used_docs`. Pure.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from api.linked import outside_code
from api.schemas.replies.answers import Paragraph, ReactReply, message_of, unsupported_in
from query_engine.schema.events import Done, Event, Step
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


def records_of(event: Event, trail: PaperTrail) -> Iterator[bytes]:
    """Yield what an event is told as: nothing, a line, or the last two."""
    match event:
        case RoundStep():
            yield _line({"thoughts": event.text})
            useful = [Paragraph.build(one).to_dict() for one in trail.paragraphs(event.round.review.useful)]
            if useful:
                yield _line({"used_docs": useful})
        case Step():
            yield _line({"thoughts": event.text})
        case Done():
            reply = to_react_reply(event, trail).to_dict()
            yield _line({"used_docs": reply["used_docs"]})
            yield _line({"answer": reply["answer"]})


def error_record(code: str, detail: str) -> bytes:
    """Return the last line of a stream that failed."""
    return _line({"error": {"code": code, "detail": detail}})


def _cited_first(done: Done) -> list[Passage]:
    """Return the passages in the order of the first `[n]` that cites them, then the others."""
    first = {
        passage.node_id: citation.number
        for citation in reversed(done.citations)
        for passage in done.passages
        if passage.document == citation.document and passage.start <= citation.start < passage.end
    }
    return sorted(done.passages, key=lambda passage: first.get(passage.node_id, len(done.citations) + 1))


def _line(record: dict[str, Any]) -> bytes:
    # ASCII: a lone surrogate of a document would break a client's decoder.
    return (json.dumps(record, separators=(",", ":")) + "\n").encode("ascii")
