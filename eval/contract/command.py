"""`python -m eval check-run URL`: does the service keep the competition's contract, rule by rule.

Flow: a URL -> `exchange.py` asks -> the rules judge -> **here**, a table on stdout with the offending record. Exit
code 1 if a rule is broken.
"""

import argparse
import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import httpx

from errors import RagError
from eval.argument_types import add_header_argument, seconds, service_url
from eval.contract.evaluate_rules import EVALUATE_RULES, HEALTH_RULES, REFUSAL_RULES
from eval.contract.exchange import Exchange, Reply
from eval.contract.records import Stream, read_stream
from eval.contract.rules import Verdict, shortened
from eval.contract.run_rules import RUN_RULES
from settings import Settings

# A plain question, one that no collection answers, one in another script, and Markdown with quotes.
QUESTIONS = (
    "What are these documents about?",
    "What did Qxzv Wplk say to the seventh moon of Trappist-9?",
    "这些文件讲的是什么？",
    'Which of them explains "why", and | how | `in detail`?',
)
# Ids of any characters come back unchanged.
IIDS = ("1", "V_0522", "a b/c?d=é&日本\u2028", '"\\ \t')
RUN_REFUSALS: tuple[dict[str, object], ...] = ({}, {"question": None}, {"query": "What is it?"})
EVALUATE_REFUSALS: tuple[dict[str, object], ...] = ({}, {"iid": "1"}, {"query": "What is it?"})
TIMEOUT_S = 610.0
SIGNS = {"PASS": "PASS", "FAIL": "FAIL", "NOT SEEN": "--  "}


class NoServiceError(RagError):
    """Nothing answers at the URL."""

    code = "no_service"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument("url", type=service_url, metavar="URL", help="base of the service, e.g. http://127.0.0.1:8000")
    parser.add_argument(
        "--question", action="append", dest="questions", metavar="TEXT", help="ask this instead; may be repeated"
    )
    add_header_argument(parser)
    parser.add_argument("--timeout-s", type=seconds, default=TIMEOUT_S, help="for one reply (default: %(default)g)")


def run(arguments: argparse.Namespace, settings: Settings) -> int:  # noqa: ARG001  # another's service, not ours
    """Ask, judge, print; return 1 if a rule is broken."""

    async def check() -> Replies:
        async with httpx.AsyncClient(
            base_url=arguments.url,
            headers=arguments.headers,
            timeout=None,  # noqa: S113  # the exchange has one
            trust_env=False,
        ) as client:
            exchange = Exchange(client, arguments.timeout_s)
            return await ask(exchange, arguments.url, arguments.questions or QUESTIONS)

    replies = asyncio.run(check())
    verdicts = judge_all(replies)
    print("\n".join(table(replies, verdicts)))
    return int(any(verdict.state == "FAIL" for verdict in verdicts))


@dataclass(frozen=True, slots=True)
class Replies:
    """All that the service said.

    Attributes:
        health: to `GET /health`.
        run, evaluate: one a question.
        run_refusals, evaluate_refusals: one a body that asks nothing.
    """

    health: Reply
    run: tuple[Stream, ...]
    evaluate: tuple[Reply, ...]
    run_refusals: tuple[Reply, ...]
    evaluate_refusals: tuple[Reply, ...]


async def ask(exchange: Exchange, url: str, questions: Sequence[str]) -> Replies:
    """Put every question and every body that asks nothing to the service, one after another.

    Raises:
        NoServiceError: nothing listens there.
    """
    health = await exchange.get("/health")
    if health.status == 0:
        raise NoServiceError(f"{url} does not answer ({health.broken}).", "Start the service, or name another address.")
    bodies = [{"query": questions[i % len(questions)], "iid": iid} for i, iid in enumerate(IIDS)]
    bodies += [{"query": question, "iid": str(number)} for number, question in enumerate(questions[len(IIDS) :])]
    return Replies(
        health,
        tuple([read_stream(await exchange.post("/run", {"question": question})) for question in questions]),
        tuple([await exchange.post("/evaluate", body) for body in bodies]),
        tuple([await exchange.post("/run", body) for body in RUN_REFUSALS]),
        tuple([await exchange.post("/evaluate", body) for body in EVALUATE_REFUSALS]),
    )


def judge_all(replies: Replies) -> list[Verdict]:
    """Return the verdict on every rule, in the order of the table."""
    refusals = {"run": replies.run_refusals, "evaluate": replies.evaluate_refusals}
    run, evaluate = (
        [replace(verdict, rule=f"{route}/{verdict.rule}") for verdict in REFUSAL_RULES.judge(bodies)]
        for route, bodies in refusals.items()
    )
    return [
        *HEALTH_RULES.judge([replies.health]),
        *RUN_RULES.judge(replies.run),
        *run,
        *EVALUATE_RULES.judge(replies.evaluate),
        *evaluate,
    ]


def table(replies: Replies, verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Yield the lines of the report: every rule, the offending record below a broken one, the count at the end."""
    yield from rule_lines(verdicts)
    yield ""
    for stream in replies.run:
        first = f", first record {stream.records[0].line.at_s:.2f} s" if stream.records else ""
        asked = shortened(str((stream.reply.sent or {})["question"]))
        yield f"/run       {stream.reply.seconds:6.2f} s{first}  {asked}"
    for reply in replies.evaluate:
        yield f"/evaluate  {reply.seconds:6.2f} s  {shortened(str((reply.sent or {})['query']))}"
    yield ""
    yield count_line(verdicts)


def rule_lines(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Yield a line for each rule, and the offending record below a broken one."""
    width = max((len(verdict.rule) for verdict in verdicts), default=0)
    for verdict in verdicts:
        count = f" ({verdict.offenders} of {verdict.of} replies)" if verdict.state == "FAIL" and verdict.of > 1 else ""
        yield f"{SIGNS[verdict.state]}  {verdict.rule:<{width}}  {verdict.about}{count}"
        if verdict.offence is not None:
            yield f"      {shortened(verdict.offence.what)}"
            if verdict.offence.record:
                yield f"      > {verdict.offence.record}"


def count_line(verdicts: Sequence[Verdict]) -> str:
    """Say how many rules were kept, broken, not seen."""
    states = Counter(verdict.state for verdict in verdicts)
    unseen = f", {states['NOT SEEN']} not seen (no reply showed what they are about)" if states["NOT SEEN"] else ""
    return f"{states['PASS']} rules kept, {states['FAIL']} broken{unseen}."
