"""Read what a service replies as a row, liberally: services of others keep MMU-RAG's contract in part.

Flow: `http.py`, `rehearsal/` -> **here** -> `asking.py`. Pure. Whether the contract is kept is what `eval check-run`
judges.

Of a reply of `POST /evaluate` two keys are the competition's and must be right: `query_id` and `generated_response`.
The others are extras, which a stranger's service gives in its own shape or not at all: what cannot be read of them is
left out, and the row says so.

Of a stream of `POST /run` are read `data:` lines and bare ones, `is_complete` for `complete`, one JSON object over
several lines, and plain text, which is then the answer. As in the arena each record replaces the one before, null
changes nothing, and nothing after the complete record counts. An empty `error` is not a failure here.
"""

from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json

from eval.asking.target import NoReplyError
from eval.contract.exchange import object_in
from eval.rows import Milliseconds, Quote, Row, Seen, says_unknown

UNREAD = "extra_unread"
EMPTY = "empty_reply: The reply holds no text; it counts as declined."
UNFINISHED = "stream_unfinished: The stream ended without a record that says it is complete."
END = "[DONE]"
OTHER_FIELDS = (":", "event:", "id:", "retry:")


class _Source(Seen):
    """Where a context stands, whose text is in another list."""

    text: str = ""


def read_reply(body: bytes, case_id: str, seconds: float) -> Row:
    """Return the row of a reply of `/evaluate`.

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
    places = [source.model_dump(exclude={"text"}) for source in sources] or [{}] * len(contexts)
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


class StreamReply:
    """One stream of `/run` while it is read.

    Attributes:
        complete: a record said so; what follows is passed over.
        steps: the intermediate steps so far, as they came.
        late_steps: they changed after the answer had begun.
    """

    def __init__(self) -> None:
        self.complete = False
        self.steps = ""
        self.late_steps = False
        self._text: list[str] = []
        self._report: str | None = None
        self._urls: list[str] = []

    def take(self, line: str) -> None:
        """Take the next line, without its end.

        Raises:
            NoReplyError: the service says that it failed.
        """
        if self.complete or line.startswith(OTHER_FIELDS):
            return
        said = line.removeprefix("data:").removeprefix(" ")
        record = object_in(said)
        if record is not None:
            self._record(record)
        elif said.strip() == END:
            self.complete = True
        else:
            self._text.append(said)

    def row(self, case_id: str, seconds: float, first_record_s: float | None) -> Row:
        """Return the row of the stream, which is over; the seconds begin with the question.

        Raises:
            NoReplyError: it holds no answer, or says that the service failed.
        """
        text = "\n".join(self._text).strip()
        streamed = self._report is not None
        if not streamed and (whole := object_in(text)) is not None:
            self._record(whole)
            text = ""
        answer = (text if self._report is None else self._report).strip()
        if not answer:
            raise NoReplyError("The stream holds no answer.", "Mend the service.", lasting=True)
        return Row(
            id=case_id,
            outcome="declined" if says_unknown(answer) else "answered",
            answer=answer,
            citations=tuple(Quote(number=number, url=url) for number, url in enumerate(self._urls, start=1)),
            warnings=(UNFINISHED,) if streamed and not self.complete else (),
            seconds=seconds,
            first_record_s=first_record_s,
        )

    def _record(self, record: dict[str, Any]) -> None:
        if error := record.get("error"):
            raise NoReplyError(f"The service says: {str(error)[:200]}", "Ask it again, or mend it.")
        report, urls, steps = (record.get(key) for key in ("final_report", "citations", "intermediate_steps"))
        if isinstance(steps, str) and steps != self.steps:
            self.steps, self.late_steps = steps, self.late_steps or bool(self._report)
        if isinstance(report, str):
            self._report = report
        if isinstance(urls, list):
            self._urls = [url for url in urls if isinstance(url, str)]
        self.complete = record.get("complete") is True or record.get("is_complete") is True
