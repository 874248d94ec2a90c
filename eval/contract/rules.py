"""The rules of the competition's contract, by kind of reply, and the verdict on each rule.

Flow: replies of `exchange.py` -> **here** -> verdicts, which `checking.py` prints. Pure.

Written from the public specification of MMU-RAG's text-to-text track and from what its tools do with a reply. The
arena reads a stream of snapshots that think, then answer, then are complete: each record replaces the one before, the
mere presence of the key `error` takes the answer away, nothing after `complete: true` is read, and a line of more than
128 KiB ends the reader. The tester writes a reply of `/evaluate` as one line of `result.jsonl`, where one empty answer
or one repeated id refuses the file.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

from eval.contract.exchange import Record, Reply, shortened

SEPARATOR = "|||---|||"
LIMIT_S = 600
CONTENT_TYPES = ("text/event-stream", "text/plain")
MAX_LINE_BYTES = 128 * 1024
OTHER_FIELDS = (b":", b"event:", b"id:", b"retry:")
TYPES = {
    "intermediate_steps": (str, type(None)),
    "final_report": (str, type(None)),
    "is_intermediate": (bool,),
    "complete": (bool,),
}


@dataclass(frozen=True, slots=True)
class Offence:
    """How a rule was broken: one sentence, and the offending record or line as it came, shortened."""

    what: str
    record: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one rule over everything that was asked.

    Attributes:
        rule: its stable name, e.g. `run/switch`.
        about: what is right, as one sentence.
        offences: the first one of each reply that the rule applies to; None for one that keeps it.
    """

    rule: str
    about: str
    offences: list[Offence | None]

    @property
    def broken(self) -> list[Offence]:
        """What breaks the rule."""
        return [offence for offence in self.offences if offence is not None]

    @property
    def state(self) -> str:
        """`PASS`, `FAIL`, or `NOT SEEN`: no reply showed what the rule is about."""
        return "FAIL" if self.broken else "PASS" if self.offences else "NOT SEEN"


class Rules(NamedTuple):
    """The rules of one kind of reply.

    Attributes:
        table: the rules by name: what is right, and which replies show anything of it.
        offences: yields the name of a rule and what breaks it in one reply.
    """

    table: Mapping[str, tuple[str, Callable[[Reply], bool]]]
    offences: Callable[[Reply], "Offences"]

    def judge(self, replies: Sequence[Reply]) -> list[Verdict]:
        """Return a verdict on each rule over all replies."""
        found: dict[str, list[Offence | None]] = {rule: [] for rule in self.table}
        for reply in replies:
            first: dict[str, Offence] = {}
            for rule, offence in self.offences(reply):
                first.setdefault(rule, offence)
            for rule, (_, applies) in self.table.items():
                if applies(reply):
                    found[rule].append(first.get(rule))
        return [Verdict(rule, self.table[rule][0], offences) for rule, offences in found.items()]


Offences = Iterator[tuple[str, Offence]]


def merged(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """Return one verdict for each rule over all that was judged apart, in the order in which the rules first come."""
    known: dict[str, Verdict] = {}
    for one in verdicts:
        known.setdefault(one.rule, replace(one, offences=[])).offences.extend(one.offences)
    return list(known.values())


def _of_any_answer(route: str, reply: Reply) -> Offences:
    if reply.status != 200 or reply.broken:
        yield f"{route}/status", Offence(f"{reply.outcome()} The question was a good one.", reply.shown())
    if reply.seconds > LIMIT_S:
        yield f"{route}/time", Offence(f"The answer took {reply.seconds:.0f} s; {LIMIT_S} are allowed.")


def _of_run(reply: Reply) -> Offences:
    yield from _of_any_answer("run", reply)
    yield from _of_lines(reply)
    if not reply.records:
        yield "run/lines", Offence("There is no record.", reply.shown())
        return
    found = [(record, fault) for record in reply.records for fault in _of_record(record)]
    for record, (rule, what) in [*found, *_of_order(reply.records), *_of_end(reply.records)]:
        yield rule, Offence(f"Record {record.number}: {what}", shortened(record.line.text))


def _of_lines(reply: Reply) -> Offences:
    if reply.content_type not in CONTENT_TYPES:
        yield "run/content-type", Offence(f"Content-Type is {reply.content_type or 'missing'!r}.")
    records = {record.line for record in reply.records}
    for line in reply.lines:
        text = line.text
        if text.startswith(b"data:") and line not in records:
            yield "run/lines", Offence("A `data:` line does not hold one whole JSON object.", shortened(text))
        elif text and not text.startswith((b"data:", *OTHER_FIELDS)):
            yield "run/lines", Offence("A line is neither `data: {…}` nor a comment.", shortened(text))
        if len(text) >= MAX_LINE_BYTES:
            what = f"A line has {len(text):,} bytes; clients stop at 128 KiB."
            yield "run/line-size", Offence(what, shortened(text))


Fault = tuple[str, str]
"""The name of a rule, and what breaks it in a record, as the end of a sentence."""


def _of_record(record: Record) -> Iterator[Fault]:
    """Yield what is wrong with a record, whatever stands before it."""
    if record.has_error:
        yield from _of_error(record)
    if not (record.has_error and record.is_complete):  # an error record has another shape
        for key, kinds in TYPES.items():
            if not isinstance(record.value.get(key, ...), kinds):
                yield "run/keys", f"`{key}` is {'of the wrong type' if key in record.value else 'missing'}."
    if record.thinks:
        yield from _of_thinking(record)
    if record.answers and record.is_blank("intermediate_steps"):
        yield "run/answering", "the steps are lost when the answer begins."
    if record.answers and record.is_blank("final_report"):
        yield "run/answering", "an answering record has no `final_report`."
    if record.steps and not all(step.strip() for step in record.steps.split(SEPARATOR)):
        yield "run/separators", f"there is nothing between two `{SEPARATOR}`, or before or after one."
    yield from _of_citations(record.value.get("citations"))


def _of_error(record: Record) -> Iterator[Fault]:
    if record.is_blank("error"):
        yield "run/error-key", "`error` is there and says nothing; clients take the mere key for a failure."
    elif not record.is_complete:
        yield "run/error-key", "an `error` must be `complete: true`."
    if record.value["error"]:
        yield "run/answered", "a good question ends in an error, which readers get instead of an answer."


def _of_thinking(record: Record) -> Iterator[Fault]:
    if record.value.get("final_report") is not None:
        yield "run/thinking", "`final_report` must be null while the service thinks."
    if record.value.get("complete") is not False:
        yield "run/thinking", "`complete` must be false while the service thinks."
    if record.is_blank("intermediate_steps"):
        yield "run/thinking", "a thinking record has no `intermediate_steps`."


def _of_citations(found: Any) -> Iterator[Fault]:
    if found is None:
        return
    if not isinstance(found, list) or not all(isinstance(url, str) for url in found):
        yield "run/citations", "`citations` must be an array of strings."
    elif odd := [url for url in found if not re.match(r"https?://[^\s/]", url)]:
        yield "run/citations", f"a citation must be a URL: {shortened(odd[0])!r}."
    elif len(set(found)) < len(found):
        yield "run/citations", "a citation is listed twice: clients merge them and renumber the marks."


def _of_order(records: Sequence[Record]) -> Iterator[tuple[Record, Fault]]:
    """Yield what is wrong between a record and the ones before it."""
    phases = [record for record in records if not record.has_error]
    if phases and not phases[0].thinks:
        yield phases[0], ("run/switch", "the first record does not think: `is_intermediate` is not true.")
    for before, record in pairwise(phases):
        if before.value.get("is_intermediate") is False and record.thinks:
            yield record, ("run/switch", "`is_intermediate` goes back from false to true.")
    if phases and phases[-1] is records[-1] and not phases[-1].answers:
        yield phases[-1], ("run/switch", "`is_intermediate` never becomes false.")
    for before, record in pairwise(record for record in records if record.steps is not None):
        if not (record.steps or "").startswith((before.steps or "").rstrip()):
            yield record, ("run/steps-grow", "`intermediate_steps` does not keep the steps of the record before.")
    for before, record in pairwise(record for record in records if record.report):
        # A model that failed midway is replaced by another one; readers must be told so in the steps.
        if not (record.report or "").startswith((before.report or "").rstrip()) and record.steps == before.steps:
            what = "`final_report` does not begin with the record before's: each record replaces it."
            yield record, ("run/report-grows", what)


def _of_end(records: Sequence[Record]) -> Iterator[tuple[Record, Fault]]:
    """Yield what is wrong with what a client has when it stops: at the first record that is complete, or an error."""
    ends = (number for number, one in enumerate(records, start=1) if one.is_complete or one.has_error)
    seen = records[: next(ends, len(records))]
    for record in records[len(seen) :]:
        yield record, ("run/nothing-after", "it comes after the end; clients drop it.")
    if not any(record.is_complete for record in records):
        yield records[-1], ("run/complete", "the stream ends without `complete: true`.")
    for record in records:
        if record.is_complete and not record.has_error and record.is_blank("final_report"):
            yield record, ("run/complete", "the complete record does not hold the answer.")
    lists = [found for one in seen if isinstance(found := one.value.get("citations"), list)]
    known = len(lists[-1]) if lists else 0
    for mark in re.findall(r"\[(\d{1,3})\]", seen[-1].report or ""):
        if not 1 <= int(mark) <= known:
            yield seen[-1], ("run/marks", f"[{mark}] stands in the answer, and there are {known} citations.")


def _of_evaluate(reply: Reply) -> Offences:
    yield from _of_any_answer("evaluate", reply)
    if reply.content_type != "application/json":
        yield "evaluate/json", Offence(f"Content-Type is {reply.content_type or 'missing'!r}.")
    value, sent, shown = reply.value, reply.sent or {}, reply.shown()
    if value is None:
        yield "evaluate/json", Offence("The body must be a JSON object.", shown)
        return
    for key in ("query_id", "generated_response"):
        if not isinstance(value.get(key), str):
            missing = "of the wrong type" if key in value else "missing"
            yield "evaluate/keys", Offence(f"`{key}` is {missing}.", shown)
    if value.get("query_id") != sent["iid"]:
        what = f"`query_id` is {value.get('query_id')!r} for the `iid` {sent['iid']!r}."
        yield "evaluate/query-id", Offence(what, shown)
    said = value.get("generated_response")
    if isinstance(said, str) and not said.strip():
        yield "evaluate/not-empty", Offence(f"`generated_response` is empty for {sent['query']!r}.", shown)
    if fault := _unwritable(reply.body):
        yield "evaluate/one-line", Offence(fault, shown)


def _unwritable(body: bytes) -> str | None:
    """Say why a JSON object cannot become one line of `result.jsonl`; None if it can."""
    repeated: list[str] = []

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [name for name, _ in pairs]
        repeated.extend(name for name in set(names) if names.count(name) > 1)
        return dict(pairs)

    try:
        json.dumps(json.loads(body, object_pairs_hook=once), allow_nan=False).encode("utf-8")
    except ValueError as error:
        return f"It cannot become a line of result.jsonl: {error}."
    return f"The key {repeated[0]!r} is repeated." if repeated else None


def _of_health(reply: Reply) -> Offences:
    if reply.status != 200:
        what = f"{reply.outcome()} The organisers' tester gives up before its first question."
        yield "health", Offence(what, reply.shown())
    elif reply.value is None:
        yield "health", Offence("The body must be a JSON object.", reply.shown())


def _refusal_rules(route: str) -> Rules:
    rule = f"{route}/bad-request"

    def offences(reply: Reply) -> Offences:
        if not 400 <= reply.status < 500:
            asked = shortened(json.dumps(reply.sent))
            yield rule, Offence(f"{reply.outcome()} The body {asked} asks nothing.", reply.shown())

    return Rules({rule: ("A body that asks nothing is refused with a status of 400 to 499.", _any)}, offences)


def _any(_: Reply) -> bool:
    return True


def _has_body(reply: Reply) -> bool:
    return reply.status == 200


def _has_records(reply: Reply) -> bool:
    return bool(reply.records)


def _is_object(reply: Reply) -> bool:
    return reply.status == 200 and reply.value is not None


RUN_RULES = Rules(
    {
        "run/status": ("A good question gets status 200 and a whole stream.", _any),
        "run/content-type": ("The type is text/event-stream or text/plain.", _has_body),
        "run/lines": ("Every record is one line `data: {…}`.", _has_body),
        "run/keys": ("Every record has the four required keys, with their types.", _has_records),
        "run/error-key": ("`error` stands only in a last record, and then says why.", _has_records),
        "run/answered": ("A good question is answered, not failed.", _has_records),
        "run/thinking": ("Thinking records hold steps, and no answer.", _has_records),
        "run/answering": (
            "Answering records hold the steps and the answer so far.",
            lambda reply: any(record.answers for record in reply.records),
        ),
        "run/switch": ("`is_intermediate` begins true and becomes false exactly once.", _has_records),
        "run/steps-grow": ("Each record repeats the steps of the one before and adds to them.", _has_records),
        "run/separators": (f"Steps are separated by `{SEPARATOR}`, and none is empty.", _has_records),
        "run/report-grows": ("Each record repeats the answer so far: snapshots, not pieces.", _has_records),
        "run/citations": (
            "`citations` is an array of different URLs.",
            lambda reply: any(record.value.get("citations") for record in reply.records),
        ),
        "run/marks": ("Each [n] in the answer is the number of a citation.", _has_records),
        "run/complete": ("The last record is complete and holds the whole answer.", _has_records),
        "run/nothing-after": ("Nothing comes after the complete record.", _has_records),
        "run/line-size": ("No line reaches 128 KiB.", _has_body),
        "run/time": ("An answer takes at most ten minutes.", _any),
    },
    _of_run,
)
EVALUATE_RULES = Rules(
    {
        "evaluate/status": ("A body of `query` and `iid`, and nothing else, gets status 200.", _any),
        "evaluate/json": ("The reply is a JSON object.", _has_body),
        "evaluate/keys": ("`query_id` and `generated_response` are strings.", _is_object),
        "evaluate/query-id": ("`query_id` is the request's `iid`, unchanged.", _is_object),
        "evaluate/not-empty": ("`generated_response` is never empty.", _is_object),
        "evaluate/one-line": ("The reply can be written as one line of JSON, extra keys too.", _is_object),
        "evaluate/time": ("An answer takes at most ten minutes.", _any),
    },
    _of_evaluate,
)
RULES = {
    "health": Rules({"health": ("GET /health answers 200 with JSON.", _any)}, _of_health),
    "run": RUN_RULES,
    "bad run": _refusal_rules("run"),
    "evaluate": EVALUATE_RULES,
    "bad evaluate": _refusal_rules("evaluate"),
}
"""By the kind of request."""
