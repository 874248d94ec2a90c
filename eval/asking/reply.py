"""Read a reply of `POST /evaluate` as a row.

Flow: `http.py` -> **here** -> `asking.py`. Pure.

Two keys are the competition's and must be right: `query_id` and `generated_response`. The others are extras, which a
stranger's service gives in its own shape or not at all: what cannot be read of them is left out, and the row says so.
"""

from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import from_json

from eval.asking.target import NoReplyError
from eval.rows import Milliseconds, Quote, Row, Seen, says_unknown

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
        NoReplyError: it is not a JSON object, answers another question, or its answer is not a text.
    """
    try:
        found = from_json(body, allow_inf_nan=False)
    except ValueError as error:
        start = body[:60].decode(errors="replace")
        raise _broken(f"The reply is not JSON ({error}); it begins with {start!r}.") from error
    if not isinstance(found, dict):
        raise _broken("The reply must be a JSON object.")
    if str(found.get("query_id")) != case_id:
        raise _broken(f"The reply has query_id {found.get('query_id')!r}; {case_id!r} was asked.")
    text = found.get("generated_response", ...)
    if text is ... or not isinstance(text, str | None):
        raise _broken("The reply has no generated_response that is a text.")
    unread: list[str] = []

    def read(key: str, shape: Any, absent: Any) -> Any:
        """Return the value of a key in this shape, `absent` if it is not there, null or of another shape."""
        try:
            return absent if found.get(key) is None else TypeAdapter(shape).validate_python(found[key])
        except ValidationError:
            unread.append(f"{UNREAD}: `{key}` is of another shape than Treeline's.")
            return absent

    contexts, sources = read("contexts", list[str], []), read("context_sources", list[_Source], [])
    if sources and len(sources) != len(contexts):
        unread.append(f"{UNREAD}: `context_sources` has {len(sources)} entries for {len(contexts)} contexts.")
        sources = []
    places = [source.model_dump() for source in sources] or [{}] * len(contexts)
    urls = found.get("citations")
    if isinstance(urls, list) and all(isinstance(url, str) for url in urls):  # as others give them
        found["citations"] = [{"number": number, "url": url} for number, url in enumerate(urls, start=1)]
    answer, empty = text or "", not (text or "").strip()
    declined = not read("answered", bool, True) or says_unknown(answer) or empty
    row = Row(
        id=case_id,
        outcome="declined" if declined else "answered",
        answer=answer,
        reason=read("gate_reason", str, None),
        citations=tuple(read("citations", list[Quote], [])),
        passages=tuple(Seen(text=text, **place) for text, place in zip(contexts, places, strict=True)),
        synthesizer=read("synthesizer", str, None),
        warnings=tuple(read("warnings", list[str], [])),
        timings_ms=read("timings_ms", dict[str, Milliseconds], {}),
        seconds=seconds,
        fingerprint=read("fingerprint", str, ""),
    )
    return row.model_copy(update={"warnings": (*row.warnings, *([EMPTY] if empty else []), *unread)})


def _broken(fact: str) -> NoReplyError:
    return NoReplyError(fact, "Mend the service.", lasting=True)
