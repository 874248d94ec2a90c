"""The rules of `POST /run`: a stream of snapshots that think, then answer, then are complete.

Flow: replies of `exchange.py` -> `records.py` -> **here** -> verdicts. Pure.

Written from the public specification of MMU-RAG's text-to-text track and from how its arena reads a stream: each
record replaces the one before, the mere presence of the key `error` takes the answer away, nothing after
`complete: true` is read, and a line of more than 128 KiB ends the reader. The organisers' own tester looks at less.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from eval.contract.exchange import Reply
from eval.contract.records import Record, Stream, is_record
from eval.contract.rules import Offence, Rule, shortened

SEPARATOR = "|||---|||"
CONTENT_TYPES = ("text/event-stream", "text/plain")
MAX_LINE_BYTES = 128 * 1024
LIMIT_S = 600
OTHER_FIELDS = (b":", b"event:", b"id:", b"retry:")
TYPES = {
    "intermediate_steps": (str, type(None)),
    "final_report": (str, type(None)),
    "is_intermediate": (bool,),
    "complete": (bool,),
}


def _status(stream: Stream) -> Iterator[Offence]:
    reply = stream.reply
    if reply.status != 200:
        told = f"the status is {reply.status}" if reply.status else "there is no reply"
        yield Offence(f"For a good question {told}{_because(reply)}.", shortened(reply.body))
    elif reply.broken:
        yield Offence(f"The stream is not whole{_because(reply)}.")


def _because(reply: Reply) -> str:
    return f" ({reply.broken})" if reply.broken else ""


def _content_type(stream: Stream) -> Iterator[Offence]:
    if stream.reply.content_type not in CONTENT_TYPES:
        yield Offence(f"Content-Type is {stream.reply.content_type or 'missing'!r}.")


def _lines(stream: Stream) -> Iterator[Offence]:
    for line in stream.reply.lines:
        if not line.text or line.text.startswith(OTHER_FIELDS):
            continue
        if not line.text.startswith(b"data:"):
            yield Offence("A line is neither `data: {…}` nor a comment.", shortened(line.text))
        elif not is_record(line):
            yield Offence("A `data:` line does not hold one whole JSON object.", shortened(line.text))
    if not stream.records:
        yield Offence("There is no record.", shortened(stream.reply.body))


def _keys(stream: Stream) -> Iterator[Offence]:
    for record in stream.records:
        if "error" in record.value and record.value.get("complete") is True:
            continue  # an error record has another shape
        for key, kinds in TYPES.items():
            if key not in record.value:
                yield record.offence(f"`{key}` is missing.")
            elif not isinstance(record.value[key], kinds):
                yield record.offence(f"`{key}` is of the wrong type.")


def _error_key(stream: Stream) -> Iterator[Offence]:
    for record in stream.records:
        if "error" not in record.value:
            continue
        error = record.value["error"]
        if not isinstance(error, str) or not error.strip():
            yield record.offence("`error` is there and says nothing; clients take the mere key for a failure.")
        elif record.value.get("complete") is not True:
            yield record.offence("an `error` must be `complete: true`.")


def _answered(stream: Stream) -> Iterator[Offence]:
    for record in stream.records:
        if record.value.get("error"):
            yield record.offence("a good question ends in an error, which readers get instead of an answer.")


def _thinking(stream: Stream) -> Iterator[Offence]:
    for record in stream.records:
        if record.value.get("is_intermediate") is not True:
            continue
        if record.value.get("final_report") is not None:
            yield record.offence("`final_report` must be null while the service thinks.")
        if record.value.get("complete") is not False:
            yield record.offence("`complete` must be false while the service thinks.")
        if not (record.steps or "").strip():
            yield record.offence("a thinking record has no `intermediate_steps`.")


def _answering(stream: Stream) -> Iterator[Offence]:
    for record in _of_the_answer(stream):
        if not (record.steps or "").strip():
            yield record.offence("the steps are lost when the answer begins.")
        if not (record.report or "").strip():
            yield record.offence("an answering record has no `final_report`.")


def _of_the_answer(stream: Stream) -> list[Record]:
    return [r for r in stream.records if r.value.get("is_intermediate") is False and "error" not in r.value]


def _switch(stream: Stream) -> Iterator[Offence]:
    phases = [(record, record.value.get("is_intermediate")) for record in stream.records if "error" not in record.value]
    if not phases:
        return
    if phases[0][1] is not True:
        yield phases[0][0].offence("the first record does not think: `is_intermediate` is not true.")
    for (_, before), (record, after) in pairwise(phases):
        if before is False and after is True:
            yield record.offence("`is_intermediate` goes back from false to true.")
    if phases[-1][1] is not False and phases[-1][0] is stream.records[-1]:
        yield phases[-1][0].offence("`is_intermediate` never becomes false.")


def _steps_grow(stream: Stream) -> Iterator[Offence]:
    told = [record for record in stream.records if record.steps is not None]
    for before, record in pairwise(told):
        if not (record.steps or "").startswith((before.steps or "").rstrip()):
            yield record.offence("`intermediate_steps` does not keep the steps of the record before.")


def _separators(stream: Stream) -> Iterator[Offence]:
    for record in stream.records:
        if record.steps and not all(step.strip() for step in record.steps.split(SEPARATOR)):
            yield record.offence(f"there is nothing between two `{SEPARATOR}`, or before or after one.")


def _report_grows(stream: Stream) -> Iterator[Offence]:
    told = [record for record in stream.records if record.report]
    for before, record in pairwise(told):
        continued = (record.report or "").startswith((before.report or "").rstrip())
        # A model that failed midway is replaced by another one; readers must be told so in the steps.
        if not continued and record.steps == before.steps:
            yield record.offence("`final_report` does not begin with the record before's: each record replaces it.")


def _citations(stream: Stream) -> Iterator[Offence]:
    for record in stream.records:
        found = record.value.get("citations")
        if found is None:
            continue
        if not isinstance(found, list) or not all(isinstance(url, str) for url in found):
            yield record.offence("`citations` is no array of strings.")
        elif odd := [url for url in found if not re.match(r"https?://[^\s/]", url)]:
            yield record.offence(f"a citation is no URL: {shortened(odd[0])!r}.")
        elif len(set(found)) < len(found):
            yield record.offence("a citation stands there twice: clients merge them and renumber the marks.")


def _cites(stream: Stream) -> bool:
    return any(record.value.get("citations") for record in stream.records)


def _marks(stream: Stream) -> Iterator[Offence]:
    last = stream.seen_by_client[-1]
    known = len(next((r.value["citations"] for r in reversed(stream.seen_by_client) if _is_list(r)), []))
    for mark in re.findall(r"\[(\d{1,3})\]", last.report or ""):
        if not 1 <= int(mark) <= known:
            yield last.offence(f"[{mark}] stands in the answer, and there are {known} citations.")


def _is_list(record: Record) -> bool:
    return isinstance(record.value.get("citations"), list)


def _complete(stream: Stream) -> Iterator[Offence]:
    last = stream.records[-1]
    if not any(record.value.get("complete") is True for record in stream.records):
        yield last.offence("the stream ends without `complete: true`.")
    for record in stream.records:
        if record.value.get("complete") is True and "error" not in record.value and not (record.report or "").strip():
            yield record.offence("the complete record does not hold the answer.")


def _nothing_after(stream: Stream) -> Iterator[Offence]:
    read = len(stream.seen_by_client)
    for record in stream.records[read:]:
        yield record.offence("it comes after the end; clients drop it.")


def _line_size(stream: Stream) -> Iterator[Offence]:
    for line in stream.reply.lines:
        if len(line.text) >= MAX_LINE_BYTES:
            yield Offence(f"A line has {len(line.text):,} bytes; clients stop at 128 KiB.", shortened(line.text))


def _time(stream: Stream) -> Iterator[Offence]:
    if stream.reply.seconds > LIMIT_S:
        yield Offence(f"The answer took {stream.reply.seconds:.0f} s; {LIMIT_S} are allowed.")


def _always(_: Stream) -> bool:
    return True


def _has_body(stream: Stream) -> bool:
    return stream.reply.status == 200


def _has_records(stream: Stream) -> bool:
    return bool(stream.records)


RUN_RULES: tuple[Rule[Stream], ...] = (
    Rule("run/status", "A good question gets status 200 and a whole stream.", _status, _always),
    Rule("run/content-type", "The type is text/event-stream or text/plain.", _content_type, _has_body),
    Rule("run/lines", "Every record is one line `data: {…}`.", _lines, _has_body),
    Rule("run/line-size", "No line reaches 128 KiB.", _line_size, _has_body),
    Rule("run/keys", "Every record has the four required keys, with their types.", _keys, _has_records),
    Rule("run/error-key", "`error` stands only in a last record, and then says why.", _error_key, _has_records),
    Rule("run/answered", "A good question is answered, not failed.", _answered, _has_records),
    Rule("run/thinking", "Thinking records hold steps, and no answer.", _thinking, _has_records),
    Rule(
        "run/answering",
        "Answering records hold the steps and the answer so far.",
        _answering,
        lambda s: bool(_of_the_answer(s)),
    ),
    Rule("run/switch", "`is_intermediate` begins true and becomes false exactly once.", _switch, _has_records),
    Rule(
        "run/steps-grow", "Each record repeats the steps of the one before and adds to them.", _steps_grow, _has_records
    ),
    Rule("run/separators", f"Steps are separated by `{SEPARATOR}`, and none is empty.", _separators, _has_records),
    Rule(
        "run/report-grows", "Each record repeats the answer so far: snapshots, not pieces.", _report_grows, _has_records
    ),
    Rule("run/citations", "`citations` is an array of different URLs.", _citations, _cites),
    Rule("run/marks", "Each [n] in the answer is the number of a citation.", _marks, _has_records),
    Rule("run/complete", "The last record is complete and holds the whole answer.", _complete, _has_records),
    Rule("run/nothing-after", "Nothing comes after the complete record.", _nothing_after, _has_records),
    Rule("run/time", "An answer takes at most ten minutes.", _time, _always),
)
