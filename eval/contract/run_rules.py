"""The rules of `POST /run`: a stream of snapshots that think, then answer, then are complete.

Flow: replies of `exchange.py` -> `records.py` -> **here** -> verdicts. Pure.

Written from the public specification of MMU-RAG's text-to-text track and from how its arena reads a stream: each
record replaces the one before, the mere presence of the key `error` takes the answer away, nothing after
`complete: true` is read, and a line of more than 128 KiB ends the reader. The organisers' own tester looks at less.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from eval.contract.evaluate_rules import in_time
from eval.contract.records import Record, Stream, record_on
from eval.contract.rules import Offence, Rules, shortened

SEPARATOR = "|||---|||"
CONTENT_TYPES = ("text/event-stream", "text/plain")
MAX_LINE_BYTES = 128 * 1024
OTHER_FIELDS = (b":", b"event:", b"id:", b"retry:")
TYPES = {
    "intermediate_steps": (str, type(None)),
    "final_report": (str, type(None)),
    "is_intermediate": (bool,),
    "complete": (bool,),
}
RUN_RULES = Rules[Stream]()


def _has_body(stream: Stream) -> bool:
    return stream.reply.status == 200


def _has_records(stream: Stream) -> bool:
    return bool(stream.records)


def _cites(stream: Stream) -> bool:
    return any(record.value.get("citations") for record in stream.records)


def _of_the_answer(stream: Stream) -> list[Record]:
    return [r for r in stream.records if r.value.get("is_intermediate") is False and "error" not in r.value]


@RUN_RULES.rule("run/status", "A good question gets status 200 and a whole stream.")
def _status(stream: Stream) -> Iterator[Offence]:
    if stream.reply.status != 200 or stream.reply.broken:
        yield Offence(f"{stream.reply.outcome()} The question was a good one.", stream.reply.shown())


@RUN_RULES.rule("run/content-type", "The type is text/event-stream or text/plain.", _has_body)
def _content_type(stream: Stream) -> Iterator[Offence]:
    if stream.reply.content_type not in CONTENT_TYPES:
        yield Offence(f"Content-Type is {stream.reply.content_type or 'missing'!r}.")


@RUN_RULES.rule("run/lines", "Every record is one line `data: {…}`.", _has_body)
def _lines(stream: Stream) -> Iterator[Offence]:
    for line in stream.reply.lines:
        if not line.text or line.text.startswith(OTHER_FIELDS):
            continue
        if not line.text.startswith(b"data:"):
            yield Offence("A line is neither `data: {…}` nor a comment.", shortened(line.text))
        elif record_on(line) is None:
            yield Offence("A `data:` line does not hold one whole JSON object.", shortened(line.text))
    if not stream.records:
        yield Offence("There is no record.", stream.reply.shown())


@RUN_RULES.rule("run/keys", "Every record has the four required keys, with their types.", _has_records)
def _keys(stream: Stream) -> Iterator[Offence]:
    for record in stream.records:
        if "error" in record.value and record.value.get("complete") is True:
            continue  # an error record has another shape
        for key, kinds in TYPES.items():
            if key not in record.value:
                yield record.offence(f"`{key}` is missing.")
            elif not isinstance(record.value[key], kinds):
                yield record.offence(f"`{key}` is of the wrong type.")


@RUN_RULES.rule("run/error-key", "`error` stands only in a last record, and then says why.", _has_records)
def _error_key(stream: Stream) -> Iterator[Offence]:
    for record in stream.records:
        if "error" not in record.value:
            continue
        error = record.value["error"]
        if not isinstance(error, str) or not error.strip():
            yield record.offence("`error` is there and says nothing; clients take the mere key for a failure.")
        elif record.value.get("complete") is not True:
            yield record.offence("an `error` must be `complete: true`.")


@RUN_RULES.rule("run/answered", "A good question is answered, not failed.", _has_records)
def _answered(stream: Stream) -> Iterator[Offence]:
    for record in stream.records:
        if record.value.get("error"):
            yield record.offence("a good question ends in an error, which readers get instead of an answer.")


@RUN_RULES.rule("run/thinking", "Thinking records hold steps, and no answer.", _has_records)
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


@RUN_RULES.rule("run/answering", "Answering records hold the steps and the answer so far.", _of_the_answer)
def _answering(stream: Stream) -> Iterator[Offence]:
    for record in _of_the_answer(stream):
        if not (record.steps or "").strip():
            yield record.offence("the steps are lost when the answer begins.")
        if not (record.report or "").strip():
            yield record.offence("an answering record has no `final_report`.")


@RUN_RULES.rule("run/switch", "`is_intermediate` begins true and becomes false exactly once.", _has_records)
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


@RUN_RULES.rule("run/steps-grow", "Each record repeats the steps of the one before and adds to them.", _has_records)
def _steps_grow(stream: Stream) -> Iterator[Offence]:
    told = [record for record in stream.records if record.steps is not None]
    for before, record in pairwise(told):
        if not (record.steps or "").startswith((before.steps or "").rstrip()):
            yield record.offence("`intermediate_steps` does not keep the steps of the record before.")


@RUN_RULES.rule("run/separators", f"Steps are separated by `{SEPARATOR}`, and none is empty.", _has_records)
def _separators(stream: Stream) -> Iterator[Offence]:
    for record in stream.records:
        if record.steps and not all(step.strip() for step in record.steps.split(SEPARATOR)):
            yield record.offence(f"there is nothing between two `{SEPARATOR}`, or before or after one.")


@RUN_RULES.rule("run/report-grows", "Each record repeats the answer so far: snapshots, not pieces.", _has_records)
def _report_grows(stream: Stream) -> Iterator[Offence]:
    told = [record for record in stream.records if record.report]
    for before, record in pairwise(told):
        continued = (record.report or "").startswith((before.report or "").rstrip())
        # A model that failed midway is replaced by another one; readers must be told so in the steps.
        if not continued and record.steps == before.steps:
            yield record.offence("`final_report` does not begin with the record before's: each record replaces it.")


@RUN_RULES.rule("run/citations", "`citations` is an array of different URLs.", _cites)
def _citations(stream: Stream) -> Iterator[Offence]:
    for record in stream.records:
        found = record.value.get("citations")
        if found is None:
            continue
        if not isinstance(found, list) or not all(isinstance(url, str) for url in found):
            yield record.offence("`citations` must be an array of strings.")
        elif odd := [url for url in found if not re.match(r"https?://[^\s/]", url)]:
            yield record.offence(f"a citation must be a URL: {shortened(odd[0])!r}.")
        elif len(set(found)) < len(found):
            yield record.offence("a citation stands there twice: clients merge them and renumber the marks.")


@RUN_RULES.rule("run/marks", "Each [n] in the answer is the number of a citation.", _has_records)
def _marks(stream: Stream) -> Iterator[Offence]:
    last = stream.seen_by_client[-1]
    lists = [found for one in stream.seen_by_client if isinstance(found := one.value.get("citations"), list)]
    known = len(lists[-1]) if lists else 0
    for mark in re.findall(r"\[(\d{1,3})\]", last.report or ""):
        if not 1 <= int(mark) <= known:
            yield last.offence(f"[{mark}] stands in the answer, and there are {known} citations.")


@RUN_RULES.rule("run/complete", "The last record is complete and holds the whole answer.", _has_records)
def _complete(stream: Stream) -> Iterator[Offence]:
    last = stream.records[-1]
    if not any(record.value.get("complete") is True for record in stream.records):
        yield last.offence("the stream ends without `complete: true`.")
    for record in stream.records:
        if record.value.get("complete") is True and "error" not in record.value and not (record.report or "").strip():
            yield record.offence("the complete record does not hold the answer.")


@RUN_RULES.rule("run/nothing-after", "Nothing comes after the complete record.", _has_records)
def _nothing_after(stream: Stream) -> Iterator[Offence]:
    for record in stream.records[len(stream.seen_by_client) :]:
        yield record.offence("it comes after the end; clients drop it.")


@RUN_RULES.rule("run/line-size", "No line reaches 128 KiB.", _has_body)
def _line_size(stream: Stream) -> Iterator[Offence]:
    for line in stream.reply.lines:
        if len(line.text) >= MAX_LINE_BYTES:
            yield Offence(f"A line has {len(line.text):,} bytes; clients stop at 128 KiB.", shortened(line.text))


@RUN_RULES.rule("run/time", "An answer takes at most ten minutes.")
def _time(stream: Stream) -> Iterator[Offence]:
    yield from in_time(stream.reply)
