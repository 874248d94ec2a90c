"""The rules of `POST /evaluate` and `GET /health`, and of requests that ask nothing.

Flow: replies of `exchange.py` -> **here** -> verdicts. Pure.

Written from the public specification of MMU-RAG's text-to-text track and what its tester does with a reply: it writes
the whole object as one line of `result.jsonl`, where one empty answer or one repeated id refuses the file.
"""

import json
from collections.abc import Iterator
from typing import Any

from eval.contract.exchange import Reply
from eval.contract.records import object_in
from eval.contract.rules import Offence, Rules, shortened

LIMIT_S = 600
HEALTH_RULES, EVALUATE_RULES, REFUSAL_RULES = Rules[Reply](), Rules[Reply](), Rules[Reply]()


def _is_object(reply: Reply) -> bool:
    return reply.status == 200 and object_in(reply.body) is not None


def _value(reply: Reply) -> dict[str, Any]:
    return object_in(reply.body) or {}


@HEALTH_RULES.rule("health", "GET /health answers 200 with JSON.")
def _healthy(reply: Reply) -> Iterator[Offence]:
    if reply.status != 200:
        yield Offence(f"{reply.outcome()} The organisers' tester gives up before its first question.", reply.shown())
    elif object_in(reply.body) is None:
        yield Offence("The body must be a JSON object.", reply.shown())


@EVALUATE_RULES.rule("evaluate/status", "A body of `query` and `iid`, and nothing else, gets status 200.")
def _status(reply: Reply) -> Iterator[Offence]:
    if reply.status != 200 or reply.broken:
        yield Offence(f"{reply.outcome()} The question was a good one.", reply.shown())


@EVALUATE_RULES.rule("evaluate/json", "The reply is a JSON object.", lambda reply: reply.status == 200)
def _json(reply: Reply) -> Iterator[Offence]:
    if reply.content_type != "application/json":
        yield Offence(f"Content-Type is {reply.content_type or 'missing'!r}.")
    if object_in(reply.body) is None:
        yield Offence("The body must be a JSON object.", reply.shown())


@EVALUATE_RULES.rule("evaluate/keys", "`query_id` and `generated_response` are strings.", _is_object)
def _keys(reply: Reply) -> Iterator[Offence]:
    value = _value(reply)
    for key in ("query_id", "generated_response"):
        if not isinstance(value.get(key), str):
            yield Offence(f"`{key}` is {'of the wrong type' if key in value else 'missing'}.", reply.shown())


@EVALUATE_RULES.rule("evaluate/query-id", "`query_id` is the request's `iid`, unchanged.", _is_object)
def _query_id(reply: Reply) -> Iterator[Offence]:
    sent, found = (reply.sent or {})["iid"], _value(reply).get("query_id")
    if found != sent:
        yield Offence(f"`query_id` is {found!r} for the `iid` {sent!r}.", reply.shown())


@EVALUATE_RULES.rule("evaluate/not-empty", "`generated_response` is never empty.", _is_object)
def _not_empty(reply: Reply) -> Iterator[Offence]:
    said = _value(reply).get("generated_response")
    if isinstance(said, str) and not said.strip():
        yield Offence(f"`generated_response` is empty for {(reply.sent or {})['query']!r}.", reply.shown())


@EVALUATE_RULES.rule("evaluate/one-line", "The reply can be written as one line of JSON, extra keys too.", _is_object)
def _one_line(reply: Reply) -> Iterator[Offence]:
    repeated: list[str] = []

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [name for name, _ in pairs]
        repeated.extend(name for name in set(names) if names.count(name) > 1)
        return dict(pairs)

    try:
        value = json.loads(reply.body, object_pairs_hook=once)
        json.dumps(value, allow_nan=False).encode("utf-8")
    except ValueError as error:
        yield Offence(f"It cannot become a line of result.jsonl: {error}.", reply.shown())
    if repeated:
        yield Offence(f"The key {repeated[0]!r} stands there twice.", reply.shown())


@EVALUATE_RULES.rule("evaluate/time", "An answer takes at most ten minutes.")
def in_time(reply: Reply) -> Iterator[Offence]:
    """Yield an offence if the reply took longer than the competition allows."""
    if reply.seconds > LIMIT_S:
        yield Offence(f"The answer took {reply.seconds:.0f} s; {LIMIT_S} are allowed.")


@REFUSAL_RULES.rule("bad-request", "A body that asks nothing is refused with a status of 400 to 499.")
def _refused(reply: Reply) -> Iterator[Offence]:
    if not 400 <= reply.status < 500:
        yield Offence(f"{reply.outcome()} The body {shortened(json.dumps(reply.sent))} asks nothing.", reply.shown())
