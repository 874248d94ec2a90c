"""The rules of `POST /evaluate` and `GET /health`, and of requests that ask nothing.

Flow: replies of `exchange.py` -> **here** -> verdicts. Pure.

Written from the public specification of MMU-RAG's text-to-text track and what its tester does with a reply: it writes
the whole object as one line of `result.jsonl`, where one empty answer or one repeated id refuses the file.
"""

import json
from collections.abc import Iterator
from typing import Any

from eval.contract.exchange import Reply
from eval.contract.rules import Offence, Rule, shortened

REQUIRED = ("query_id", "generated_response")
LIMIT_S = 600


def _status(reply: Reply) -> Iterator[Offence]:
    if reply.status != 200 or reply.broken:
        told = f"the status is {reply.status}" if reply.status else "there is no reply"
        why = f" ({reply.broken})" if reply.broken else ""
        yield Offence(f"For a good question {told}{why}.", shortened(reply.body))


def _parsed(reply: Reply) -> dict[str, Any] | None:
    try:
        value = json.loads(reply.body)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _json(reply: Reply) -> Iterator[Offence]:
    if reply.content_type != "application/json":
        yield Offence(f"Content-Type is {reply.content_type or 'missing'!r}.")
    if _parsed(reply) is None:
        yield Offence("The body is no JSON object.", shortened(reply.body))


def _keys(reply: Reply) -> Iterator[Offence]:
    value = _parsed(reply) or {}
    for key in REQUIRED:
        if not isinstance(value.get(key), str):
            yield Offence(f"`{key}` is {'of the wrong type' if key in value else 'missing'}.", shortened(reply.body))


def _query_id(reply: Reply) -> Iterator[Offence]:
    sent, found = (reply.sent or {})["iid"], (_parsed(reply) or {}).get("query_id")
    if found != sent:
        yield Offence(f"`query_id` is {found!r} for the `iid` {sent!r}.", shortened(reply.body))


def _not_empty(reply: Reply) -> Iterator[Offence]:
    said = (_parsed(reply) or {}).get("generated_response")
    if isinstance(said, str) and not said.strip():
        yield Offence(f"`generated_response` is empty for {(reply.sent or {})['query']!r}.", shortened(reply.body))


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
        yield Offence(f"It cannot become a line of result.jsonl: {error}.", shortened(reply.body))
    if repeated:
        yield Offence(f"The key {repeated[0]!r} stands there twice.", shortened(reply.body))


def _time(reply: Reply) -> Iterator[Offence]:
    if reply.seconds > LIMIT_S:
        yield Offence(f"The answer took {reply.seconds:.0f} s; {LIMIT_S} are allowed.")


def _refused(reply: Reply) -> Iterator[Offence]:
    if not 400 <= reply.status < 500:
        told = f"The status is {reply.status}" if reply.status else f"There is no reply ({reply.broken})"
        yield Offence(f"{told} for the body {json.dumps(reply.sent)}; it asks nothing.", shortened(reply.body))


def _healthy(reply: Reply) -> Iterator[Offence]:
    if reply.status != 200:
        told = f"The status is {reply.status}." if reply.status else f"There is no reply ({reply.broken})."
        yield Offence(f"{told} The organisers' tester gives up before its first question.", shortened(reply.body))
    elif _parsed(reply) is None:
        yield Offence("The body is no JSON object.", shortened(reply.body))


def _always(_: Reply) -> bool:
    return True


def _is_object(reply: Reply) -> bool:
    return reply.status == 200 and _parsed(reply) is not None


HEALTH_RULES: tuple[Rule[Reply], ...] = (Rule("health", "GET /health answers 200 with JSON.", _healthy, _always),)

EVALUATE_RULES: tuple[Rule[Reply], ...] = (
    Rule("evaluate/status", "A body of `query` and `iid`, and nothing else, gets status 200.", _status, _always),
    Rule("evaluate/json", "The reply is a JSON object.", _json, lambda reply: reply.status == 200),
    Rule("evaluate/keys", "`query_id` and `generated_response` are strings.", _keys, _is_object),
    Rule("evaluate/query-id", "`query_id` is the request's `iid`, unchanged.", _query_id, _is_object),
    Rule("evaluate/not-empty", "`generated_response` is never empty.", _not_empty, _is_object),
    Rule("evaluate/one-line", "The reply can be written as one line of JSON, extra keys too.", _one_line, _is_object),
    Rule("evaluate/time", "An answer takes at most ten minutes.", _time, _always),
)

REFUSAL_RULES: tuple[Rule[Reply], ...] = (
    Rule("bad-request", "A body that asks nothing is refused with a status of 400 to 499.", _refused, _always),
)
