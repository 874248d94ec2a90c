"""A good service passes every rule; for every rule there is a broken service that fails it."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import httpx
import pytest

from eval.__main__ import main
from eval.contract.checking import RUN_REFUSALS, Replies, ask, judge_all
from eval.contract.exchange import Exchange
from eval.contract.rules import RUN_RULES
from tests.servers.contestant import (
    Contestant,
    Record,
    Sent,
    good_evaluate,
    good_records,
    good_run,
    record,
    stream_of,
)

STEPS = "**Searching**."


def run_of(records: list[Record]) -> Callable[[Record], Sent]:
    """Return a `/run` that streams these records."""
    return lambda body: Sent(stream_of(records)) if body.get("question") else good_run(body)


def changed(at: int, **keys: object) -> Callable[[Record], Sent]:
    """Return a `/run` whose record number `at` has other values."""
    records = good_records()
    records[at].update(keys)
    return run_of(records)


def without(at: int, key: str) -> Callable[[Record], Sent]:
    """Return a `/run` whose record number `at` lacks a key."""
    records = good_records()
    del records[at][key]
    return run_of(records)


def sent(body: bytes, **more: Any) -> Callable[[Record], Sent]:
    """Return a `/run` that sends just this to a question."""
    return lambda asked: Sent(body, **more) if asked.get("question") else good_run(asked)


def reply(**keys: object) -> Callable[[Record], Sent]:
    """Return an `/evaluate` whose reply has other values."""

    def evaluate(body: Record) -> Sent:
        good = good_evaluate(body)
        return (
            good
            if good.status != 200
            else Sent(json.dumps({**json.loads(good.body), **keys}).encode(), content_type="application/json")
        )

    return evaluate


def raw(body: bytes, status: int = 200, content_type: str = "application/json") -> Callable[[Record], Sent]:
    """Return an `/evaluate` that sends just this to a question."""
    return lambda asked: (
        Sent(body, status, content_type) if "iid" in asked and "query" in asked else good_evaluate(asked)
    )


GOOD = stream_of(good_records())
ERROR = record(STEPS, None, thinks=True, complete=True, error="The model broke.")
DELTAS = [
    record(STEPS, None, thinks=True),
    record(STEPS, "Heat ", thinks=False),
    record(STEPS, "pumps.", thinks=False, complete=True),
]

BROKEN_RUNS = [
    ("run/status", sent(b"{}", status=500)),
    ("run/status", sent(GOOD, declared=len(GOOD) + 10)),
    ("run/content-type", sent(GOOD, content_type="application/json")),
    ("run/lines", sent(b'{"final_report": "no stream"}')),
    ("run/lines", sent(GOOD + b"data: [1, 2]\n\n")),
    ("run/lines", sent(GOOD.replace(b'"is_intermediate"', b'\n"is_intermediate"', 1))),
    ("run/lines", sent(b"")),
    ("run/lines", sent(GOOD + b"data: " + b"[" * 100_000 + b"\n\n")),
    ("run/line-size", changed(1, intermediate_steps=STEPS + "|||---|||" + "x" * 128 * 1024)),
    ("run/keys", without(0, "final_report")),
    ("run/keys", without(2, "complete")),
    ("run/keys", changed(0, is_intermediate="true")),
    ("run/error-key", changed(0, error=None)),
    ("run/error-key", changed(2, error="The model broke.")),
    ("run/answered", run_of([record(STEPS, None, thinks=True), ERROR])),
    ("run/thinking", changed(1, final_report="Too early.")),
    ("run/thinking", changed(0, intermediate_steps="  ")),
    ("run/thinking", changed(0, complete=True)),
    ("run/answering", changed(3, intermediate_steps=None)),
    ("run/answering", changed(2, final_report="")),
    ("run/switch", changed(3, is_intermediate=True)),
    ("run/switch", run_of(good_records()[2:])),
    ("run/switch", run_of(good_records()[:2])),
    ("run/steps-grow", changed(1, intermediate_steps="**Found** 2 passages.")),
    ("run/separators", changed(1, intermediate_steps=STEPS + "|||---||||||---|||**Found**.")),
    ("run/report-grows", run_of(DELTAS)),
    ("run/citations", changed(4, citations=[{"url": "http://localhost/heat.md"}])),
    ("run/citations", changed(4, citations=["heat.md"])),
    ("run/citations", changed(4, citations=["http://localhost/heat.md"] * 2)),
    ("run/marks", changed(4, citations=[])),
    ("run/complete", run_of(good_records()[:4])),
    ("run/complete", changed(4, final_report=None)),
    ("run/nothing-after", run_of([*good_records(), good_records()[-1]])),
    ("run/bad-request", lambda _: Sent(GOOD)),
]  # fmt: skip

BROKEN_EVALUATES = [
    ("evaluate/status", raw(b"{}", status=503)),
    ("evaluate/json", raw(b"The answer is 42.")),
    ("evaluate/json", raw(b'["a", "b"]')),
    ("evaluate/json", raw(b"[" * 100_000)),
    ("evaluate/keys", raw(b'{"query_id": "1"}')),
    ("evaluate/keys", reply(generated_response=None)),
    ("evaluate/query-id", reply(query_id="another")),
    ("evaluate/not-empty", reply(generated_response=" \n")),
    ("evaluate/one-line", reply(score=float("nan"))),
    ("evaluate/one-line", raw(b'{"query_id": "1", "query_id": "1", "generated_response": "a"}')),
    ("evaluate/bad-request", lambda body: good_evaluate({"query": "", "iid": "", **body})),
]  # fmt: skip

TIMES = {"run/time", "evaluate/time"}


def replies_of(server: Contestant) -> Replies:
    """Ask the service all that `check-run` asks, with one good question."""

    async def check() -> Replies:
        async with httpx.AsyncClient(base_url=server.url, trust_env=False) as client:
            return await ask(Exchange(client, 10), server.url, ["What do heat pumps do?"])

    return asyncio.run(check())


def failed_rules(server: Contestant) -> set[str]:
    """Return the names of the rules that the service breaks."""
    return {verdict.rule for verdict in judge_all(replies_of(server)) if verdict.state == "FAIL"}


@pytest.mark.promise("G26")
def test_a_service_that_keeps_the_contract_passes_every_rule(capsys: pytest.CaptureFixture[str]) -> None:
    with Contestant() as server:
        assert main(["check-run", server.url]) == 0

    printed = capsys.readouterr().out
    assert "FAIL" not in printed
    assert "28 rules kept, 0 broken." in printed


@pytest.mark.promise("A54")
@pytest.mark.parametrize(("rule", "run"), BROKEN_RUNS)
def test_a_broken_run_fails_its_rule(rule: str, run: Callable[[Record], Sent]) -> None:
    with Contestant(run=run) as server:
        assert rule in failed_rules(server)


@pytest.mark.parametrize(("rule", "evaluate"), BROKEN_EVALUATES)
def test_a_broken_evaluate_fails_its_rule(rule: str, evaluate: Callable[[Record], Sent]) -> None:
    with Contestant(evaluate=evaluate) as server:
        assert rule in failed_rules(server)


@pytest.mark.promise("A54", "G26")
def test_every_rule_is_broken_by_some_service() -> None:
    with Contestant() as server:
        rules = {verdict.rule for verdict in judge_all(replies_of(server))}

    assert rules - TIMES - {"health"} == {rule for rule, _ in [*BROKEN_RUNS, *BROKEN_EVALUATES]}


def test_a_service_without_health_is_refused_by_the_testers() -> None:
    with Contestant(health=lambda: Sent(b"not here", 404, "text/plain")) as server:
        assert failed_rules(server) == {"health"}


@pytest.mark.promise("A44")
def test_an_answer_after_ten_minutes_is_too_late() -> None:
    with Contestant() as server:
        slow = replies_of(server)["run"][0]

    assert "run/time" not in dict(RUN_RULES.offences(slow))
    assert "601 s" in dict(RUN_RULES.offences(replace(slow, seconds=601.0)))["run/time"].what


def test_the_offending_record_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with Contestant(run=changed(3, error=None)) as server:
        assert main(["check-run", server.url, "--question", "Why?"]) == 1

    printed = capsys.readouterr().out
    assert "FAIL  run/error-key" in printed
    assert "Record 4: `error` is there and says nothing" in printed
    assert '"error": null' in printed


def test_hostile_replies_reach_the_terminal_as_text(capsys: pytest.CaptureFixture[str]) -> None:
    with Contestant(run=sent(b"\x1b]0;owned\x07\x1b[2J" * 10)) as server:
        assert main(["check-run", server.url, "--question", "Why?"]) == 1

    assert "\x1b" not in capsys.readouterr().out


def test_a_model_that_was_replaced_midway_is_no_offence_if_the_steps_say_so() -> None:
    told = STEPS + "|||---|||**The model failed**; another one writes."
    records = [
        record(STEPS, None, thinks=True),
        record(STEPS, "Heat pu", thinks=False),
        record(told, "Heat is moved.", thinks=False, complete=True),
    ]
    with Contestant(run=run_of(records)) as server:
        assert failed_rules(server) == set()


def test_what_no_reply_showed_is_not_called_kept(capsys: pytest.CaptureFixture[str]) -> None:
    records = [record(STEPS, None, thinks=True), record(STEPS, "I don't know.", thinks=False, complete=True)]
    with Contestant(run=run_of(records)) as server:
        assert main(["check-run", server.url]) == 0

    assert "1 not seen" in capsys.readouterr().out


def test_nothing_listening_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    with Contestant() as server:
        url = server.url

    assert main(["check-run", url]) == 1
    assert "does not answer" in capsys.readouterr().err


@pytest.mark.parametrize("url", ["localhost", "ftp://localhost", "http://"])
def test_what_is_no_address_is_refused(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["check-run", url])

    assert "is not an address" in capsys.readouterr().err


@pytest.mark.fault("B10")
def test_a_stream_that_breaks_off_is_judged_by_what_came() -> None:
    endless = b"".join(stream_of(good_records()[:1]) for _ in range(50))
    with Contestant(run=sent(endless, declared=10**9)) as server:
        assert "run/complete" in failed_rules(server)


def test_bodies_that_ask_nothing_are_really_without_a_question() -> None:
    assert not any(isinstance(body.get("question"), str) for body in RUN_REFUSALS)
