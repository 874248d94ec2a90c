"""Read a reply of `POST /evaluate` as a row.

Flow: `http.py` -> **here** -> `asking.py`. Pure.

Two keys are the competition's and must be right: `query_id` and `generated_response`. The others are extras, which a
stranger's service gives in its own shape or not at all: what cannot be read of them is left out, and the row says so.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import from_json

from eval.asking.target import NoReplyError
from eval.rows import Milliseconds, Quote, Row, Seen, says_unknown

Shape = TypeVar("Shape")

UNREAD = "extra_unread"
EMPTY = "empty_reply: The reply holds no text; it counts as declined."


class _Source(BaseModel):
    """Where a context stands."""

    doc_id: str = ""
    chunk_id: str | None = None
    start: int | None = None
    end: int | None = None
    pages: tuple[int, ...] = ()
    score: float | None = None


def read_reply(body: bytes, case_id: str, seconds: float) -> Row:
    """Return the row of a reply.

    Args:
        body: as it was received.
        case_id: the `iid` that was sent.
        seconds: from the question to the whole reply.

    Raises:
        NoReplyError: it is no JSON object, answers another question, or its answer is no text.
    """
    try:
        found = from_json(body, allow_inf_nan=False)
    except ValueError as error:
        start = body[:60].decode(errors="replace")
        raise _broken(f"The reply is no JSON ({error}); it begins with {start!r}.") from error
    if not isinstance(found, dict):
        raise _broken("The reply is JSON, but no object.")
    if str(found.get("query_id")) != case_id:
        raise _broken(f"The reply has query_id {found.get('query_id')!r}; {case_id!r} was asked.")
    text = found.get("generated_response", ...)
    if text is ... or not isinstance(text, str | None):
        raise _broken("The reply has no generated_response that is a text.")
    return _row(found, case_id, text or "", seconds)


def _row(found: Mapping[str, Any], case_id: str, text: str, seconds: float) -> Row:
    extras = _Extras(found)
    passages = extras.passages()
    row = Row(
        id=case_id,
        outcome="answered",
        answer=text,
        reason=extras.read("gate_reason", str, None),
        citations=extras.citations(),
        passages=passages,
        synthesizer=extras.read("synthesizer", str, None),
        warnings=tuple(extras.read("warnings", list[str], [])),
        timings_ms=extras.read("timings_ms", dict[str, Milliseconds], {}),
        seconds=seconds,
        fingerprint=extras.read("fingerprint", str, ""),
    )
    declined = not extras.read("answered", bool, True) or says_unknown(text) or not text.strip()
    notes = [*([] if text.strip() else [EMPTY]), *extras.unread]
    return row.model_copy(
        update={"outcome": "declined" if declined else "answered", "warnings": (*row.warnings, *notes)}
    )


class _Extras:
    """The extra keys of a reply.

    Attributes:
        unread: a warning for each that has another shape.
    """

    def __init__(self, found: Mapping[str, Any]) -> None:
        self._found = found
        self.unread: list[str] = []

    def read(self, key: str, shape: type[Shape], absent: Any) -> Any:
        """Return the value of a key in this shape, `absent` if it is not there, null or of another shape."""
        value = self._found.get(key)
        if value is None:
            return absent
        try:
            return TypeAdapter(shape).validate_python(value)
        except ValidationError:
            self.unread.append(f"{UNREAD}: `{key}` is of another shape than Treeline's.")
            return absent

    def citations(self) -> tuple[Quote, ...]:
        """Return the citations; bare addresses, as others give them, are numbered by their place."""
        value = self._found.get("citations")
        if isinstance(value, Sequence) and value and all(isinstance(url, str) for url in value):
            return tuple(Quote(number=number, url=url) for number, url in enumerate(value, start=1))
        return tuple(self.read("citations", list[Quote], []))

    def passages(self) -> tuple[Seen, ...]:
        """Return the contexts, with where they stand if the service tells that for each."""
        texts = self.read("contexts", list[str], [])
        sources = self.read("context_sources", list[_Source], [])
        if sources and len(sources) != len(texts):
            self.unread.append(f"{UNREAD}: `context_sources` has {len(sources)} entries for {len(texts)} contexts.")
            sources = []
        places = [source.model_dump() for source in sources] or [{}] * len(texts)
        return tuple(Seen(text=text, **place) for text, place in zip(texts, places, strict=True))


def _broken(fact: str) -> NoReplyError:
    return NoReplyError(fact, "Mend the service.", lasting=True)
