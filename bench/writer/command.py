"""`python -m bench writer`: how much of what a language model writes reaches the reader?

Flow: `quality/helpful/sets.py` (questions) -> **here** starts our service with the model of `oracle.py`, asks, and has
`scoring.py` compare -> table, JSON, and the answers themselves.

The service has its defaults, but for the address of the model and what `--set` says. Questions are asked one after the
other, so that each request to the model belongs to a question.
"""

import argparse
import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict
from typing import Any

from bench.arguments import names_in
from bench.build import CORPUS, STOCK, open_engine, open_stock, service_variables
from bench.datasets import DataSet
from bench.figures import keep, made, made_on
from bench.quality.helpful.command import add_natural_sets, naturally_asked
from bench.quality.helpful.nuggets import NuggetCase
from bench.speed.process import MAIN, serving
from bench.writer.oracle import SHAPES, Oracle
from bench.writer.scoring import MEASURES, Shown, scores
from eval.asking.replies import StreamReply, read_reply
from eval.asking.target import NoReplyError
from eval.contract.exchange import Exchange, client_of
from eval.progress_bar import tell
from eval.rows import Quote, Row, says_unknown
from eval.tables import aligned, figure
from settings import Settings
from tests.servers.scripted_llm import Script, ScriptedLLM

PATHS = {"query": "/query", "run": "/run", "evaluate": "/evaluate", "v1": "/v1/chat/completions"}
REPLY_LIMIT_S = 300


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `python -m bench writer`."""
    parser.description = (
        "Ask our service, whose language model knows every answer, and compare what the model replied with what is "
        "shown. Sets are those of `helpful` that name vital facts."
    )
    add_natural_sets(parser)
    parser.set_defaults(sets="realdocs,office")
    parser.add_argument("--shape", choices=SHAPES, default="plain", help="of the replies (default: plain)")
    parser.add_argument(
        "--routes", default=["query"], type=_routes, help=f"comma-separated, of {', '.join(PATHS)} (default: query)"
    )
    parser.add_argument("--stock", action="store_true", help="also the stock recipe, its words as they are")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        type=_variable,
        dest="variables",
        metavar="RAG_X__Y=VALUE",
        help="a setting of the service, not of its index; may be repeated",
    )


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Ask, and print one table."""
    shown: dict[str, dict[str, list[Shown]]] = {}
    for corpus in naturally_asked(arguments):
        for name, places in corpus.cases.items():
            cases = [case for _, case in places if isinstance(case, NuggetCase)]
            if not cases:
                tell(f"{name}: skipped, its questions name no facts")
                continue
            oracle, routes = Oracle(cases, arguments.shape), shown.setdefault(name, {})
            if arguments.stock:
                routes.setdefault(STOCK, []).extend(ask_stock(corpus.data_set, settings, oracle, cases))
            if not arguments.routes:
                continue
            with open_engine(corpus.data_set, settings):  # for the service to find it up to date
                variables = service_variables(settings, corpus.data_set.name) | dict(arguments.variables)
            for route, rows in asyncio.run(ask_service(variables, oracle, cases, arguments.routes)).items():
                routes.setdefault(route, []).extend(rows)
    for name, routes in shown.items():
        for route, rows in routes.items():
            path = made(settings.bench.dir / "writer" / name) / f"{route}.jsonl"
            path.write_text("".join(json.dumps(to_dict(row), ensure_ascii=False) + "\n" for row in rows))
            tell(f"answers: {path}")
    figures = {name: {route: scores(rows) for route, rows in routes.items()} for name, routes in shown.items()}
    print(f"{table(figures)}\n\nReplies: {arguments.shape}. {made_on()}")
    keep("writer", figures, settings)
    return 0


async def ask_service(
    variables: Mapping[str, str], oracle: Oracle, cases: Sequence[NuggetCase], routes: Sequence[str]
) -> dict[str, list[Shown]]:
    """Start a service whose model is `oracle`, and return what each route, a key of `PATHS`, shows.

    Raises:
        RagError: the service did not start, or did not answer.
    """
    shown: dict[str, list[Shown]] = {}
    with ScriptedLLM(Script(text=lambda request: oracle.reply(request["messages"]).text)) as model:
        own = {"RAG_LLM__PROVIDER": "openai", "RAG_LLM__BASE_URL": model.base_url, "RAG_LLM__MODEL": model.model}
        with serving([str(MAIN)], {**variables, **own}) as url:
            async with client_of(url, ()) as client:
                exchange = Exchange(client, REPLY_LIMIT_S)
                for route in routes:
                    await exchange.post("/cache/clear", {})  # another route may have answered the same questions
                    for case in cases:
                        before = len(model.requests)
                        row, marked = await ask(exchange, route, case)
                        replies = tuple(oracle.reply(request["messages"]) for request in model.requests[before:])
                        shown.setdefault(route, []).append(Shown(case, row, replies, marked))
                    tell(f"{route}: {len(cases)} questions asked")
    return shown


async def ask(exchange: Exchange, route: str, case: NuggetCase) -> tuple[Row, tuple[str, ...]]:
    """Return what a route shows for a question, and what of it is marked; raise NoReplyError if that is not an answer.

    `/run` marks nothing: a step says it.
    """
    bodies: dict[str, dict[str, Any]] = {
        "evaluate": {"query": case.question, "iid": case.id},
        "v1": {"model": CORPUS, "messages": [{"role": "user", "content": case.question}]},
    }
    reply = await exchange.post(PATHS[route], bodies.get(route, {"question": case.question}))
    if not 200 <= reply.status < 300 or reply.broken:
        fact = f"POST {PATHS[route]} did not answer the question {case.id!r}. {reply.outcome()} {reply.shown()}"
        raise NoReplyError(fact, "Ask it by hand, with the same settings.")
    if route == "run":
        stream = StreamReply()
        for line in reply.lines:
            stream.take(line.text.decode())
        return stream.row(case.id, reply.seconds, reply.first_record_s), ()
    found = {"query_id": case.id, **(reply.value or {})}
    if route == "query":
        found["generated_response"] = found["message"]
    elif route == "v1":
        found |= {**found["treeline"], "generated_response": found["choices"][0]["message"]["content"]}
    marked = tuple(one["text"] if isinstance(one, dict) else one for one in found.get("unsupported") or ())
    return read_reply(json.dumps(found).encode(), case.id, reply.seconds), marked


def ask_stock(data_set: DataSet, settings: Settings, oracle: Oracle, cases: Sequence[NuggetCase]) -> list[Shown]:
    """Return what the model replies to the passages of the stock recipe, numbered as CitationQueryEngine does."""
    shown = []
    with open_engine(data_set, settings) as engine, closing(open_stock(data_set, engine, settings)) as stock:
        for case in cases:
            passages = stock.retrieve(case.question)
            listed = "\n".join(f"Source {number}:\n{one.text}\n" for number, one in enumerate(passages, start=1))
            reply = oracle.reply([{"role": "user", "content": f"{listed}\nQuery: {case.question}\nAnswer: "}])
            quotes = tuple(Quote(number=number, doc_id=passages[number - 1].doc_id) for number in reply.cited)
            outcome = "declined" if says_unknown(reply.text) else "answered"
            row = Row(id=case.id, outcome=outcome, answer=reply.text, citations=quotes)
            shown.append(Shown(case, row, (reply,)))
    return shown


def table(figures: Mapping[str, Mapping[str, Mapping[str, float | None]]]) -> str:
    """Return the measures of each set and route as a table."""
    lines = [
        [name, route, *(figure(found[measure], digits) for measure, digits in MEASURES.items())]
        for name, routes in figures.items()
        for route, found in routes.items()
    ]
    return aligned(["set", "route", *MEASURES], lines, left=(0, 1))


def to_dict(shown: Shown) -> dict[str, Any]:
    """Return a question with what was replied and what is shown as JSON-ready values."""
    row, verdicts = shown.row, ("unchanged", "arrived", "cited_right")
    return {
        **row.model_dump(mode="json", include={"id", "outcome", "answer", "synthesizer", "warnings"}),
        "citations": [one.model_dump(include={"number", "doc_id", "url"}) for one in row.citations],
        **{verdict: getattr(shown, verdict) for verdict in verdicts},
        "marked": shown.marked,
        "replies": [asdict(reply) for reply in shown.replies],
    }


def _routes(text: str) -> list[str]:
    if not set(names_in(text)) <= set(PATHS):
        raise argparse.ArgumentTypeError(f"it must name some of {', '.join(PATHS)}")
    return names_in(text)


def _variable(text: str) -> tuple[str, str]:
    if not re.match(r"RAG_\w+=", text):
        raise argparse.ArgumentTypeError("it must read RAG_X__Y=VALUE")
    name, _, value = text.partition("=")
    return name, value
