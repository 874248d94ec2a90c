"""Put to a service what shows whether it keeps the competition's contract, and tell the verdicts rule by rule.

Flow: questions -> `exchange.py` asks -> the rules judge -> **here**, a table with the offending record, for
`rehearsal/command.py`.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from errors import RagError
from eval.contract.exchange import Exchange, Reply, shortened
from eval.contract.rules import RULES, Verdict

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
SIGNS = {"PASS": "PASS", "FAIL": "FAIL", "NOT SEEN": "--  "}


Replies = Mapping[str, Sequence[Reply]]
"""All that the service said, by the kind of request: the keys are those of `RULES`."""


async def ask(exchange: Exchange, url: str, questions: Sequence[str]) -> Replies:
    """Put every question and every body that asks nothing to the service, one after another.

    Raises:
        RagError: nothing listens there.
    """
    health = await exchange.get("/health")
    if health.status == 0:
        raise RagError(
            f"{url} does not answer ({health.broken}).", "Start the service, or name another address.", "no_service"
        )
    bodies = [{"query": questions[i % len(questions)], "iid": iid} for i, iid in enumerate(IIDS)]
    bodies += [{"query": question, "iid": str(number)} for number, question in enumerate(questions[len(IIDS) :])]
    requests: dict[str, tuple[str, Sequence[Mapping[str, object]]]] = {
        "run": ("/run", [{"question": question} for question in questions]),
        "evaluate": ("/evaluate", bodies),
        "bad run": ("/run", RUN_REFUSALS),
        "bad evaluate": ("/evaluate", EVALUATE_REFUSALS),
    }
    replies = {kind: [await exchange.post(path, body) for body in some] for kind, (path, some) in requests.items()}
    return {"health": [health], **replies}


def judge_all(replies: Replies) -> list[Verdict]:
    """Return the verdict on every rule, in the order of the table."""
    return [verdict for kind, rules in RULES.items() for verdict in rules.judge(replies[kind])]


def table(replies: Replies, verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Yield the lines of the report: every rule, the offending record below a broken one, the count at the end."""
    yield from rule_lines(verdicts)
    yield ""
    for reply in replies["run"]:
        first = f", first record {reply.records[0].line.at_s:.2f} s" if reply.records else ""
        yield f"/run       {reply.seconds:6.2f} s{first}  {shortened(str((reply.sent or {})['question']))}"
    for reply in replies["evaluate"]:
        yield f"/evaluate  {reply.seconds:6.2f} s  {shortened(str((reply.sent or {})['query']))}"
    yield ""
    yield count_line(verdicts)


def rule_lines(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Yield a line for each rule, and the offending record below a broken one."""
    width = max((len(verdict.rule) for verdict in verdicts), default=0)
    for verdict in verdicts:
        broken, of = verdict.broken, len(verdict.offences)
        count = f" ({len(broken)} of {of} replies)" if broken and of > 1 else ""
        yield f"{SIGNS[verdict.state]}  {verdict.rule:<{width}}  {verdict.about}{count}"
        if broken:
            yield f"      {shortened(broken[0].what)}"
            if broken[0].record:
                yield f"      > {broken[0].record}"


def count_line(verdicts: Sequence[Verdict]) -> str:
    """Say how many rules were kept, broken, not seen."""
    states = Counter(verdict.state for verdict in verdicts)
    unseen = f", {states['NOT SEEN']} not seen (no reply showed what they are about)" if states["NOT SEEN"] else ""
    return f"{states['PASS']} rules kept, {states['FAIL']} broken{unseen}."
