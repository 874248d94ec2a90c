"""`python -m query_engine "question"`: one streamed answer in the terminal, with numbered sources.

The answer goes to stdout, what the engine did to stderr. If a service holds the corpus, that service is asked over
HTTP instead. Exit codes: 0 answered or declined, 1 a foreseen error, 2 usage, 130 stopped.
"""

import missing_packages  # noqa: F401, I001  # first, to tell which package the imports below lack

import argparse
import asyncio
import json
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing, closing

import httpx

from errors import CorpusLockedError, RagError, run_command
from index.corpus import ALL, SEVERAL, check_corpus_name, corpus_names, joined_name, member_names
from index.documents.filters import filter_value, where
from index.layout.lock import check_free
from query_engine.inquiry import Inquiry
from query_engine.loading import loading
from query_engine.schema.answer_warning import DOUBTS
from query_engine.schema.events import Citation, Done, Event, Nearest, Restarted, Step, Token
from query_engine.schema.passage import Passage
from query_engine.steps import DONT_KNOW, QUOTES_NOTE
from query_engine.terminal import GrowingText, PlainTables, with_plain_tables
from settings import Settings, load_settings

SHOWN_CHARS = 300


def main(argv: Sequence[str] | None = None, prog: str = "python -m query_engine") -> int:
    """Parse `argv`, ask, translate errors."""
    parser = argparse.ArgumentParser(prog=prog, description="Ask one question.")
    parser.add_argument("question")
    parser.add_argument(
        "--corpus",
        action="append",
        metavar="NAME",
        help="name of the corpus (default: RAG_INDEX__CORPUS); several times to read several as one, '*' for all",
    )
    parser.add_argument(
        "--filter",
        dest="filters",
        type=filter_value,
        metavar="JSON",
        help="search only documents that meet this filter",
    )
    parser.add_argument("--writer", metavar="NAME", help="who writes: 'quotes', or a name of RAG_LLM__WRITERS")
    parser.add_argument("--retrieve-only", action="store_true", help="print the passages, write no answer")
    arguments = parser.parse_args(argv)
    return run_command(lambda: _ask(arguments, load_settings()))


def _ask(arguments: argparse.Namespace, settings: Settings) -> int:
    if arguments.filters is not None:
        where(arguments.filters)  # before models are loaded, or a service is asked
    corpora = corpus_names(settings.index.dir) if arguments.corpus == [ALL] else _named(arguments, settings)
    try:
        for corpus in corpora:
            check_free(settings.index.dir / corpus)  # likewise: a service has loaded them already
        _ask_here(arguments, joined_name(corpora) or ALL, settings)
    except CorpusLockedError as error:
        if error.url is None:
            raise
        print(f"(asking the service at {error.url}, which holds the corpus)", file=sys.stderr)
        _ask_service(error.url, settings.serve.key_headers(), arguments)
    return 0


def _named(arguments: argparse.Namespace, settings: Settings) -> Sequence[str]:
    """Return the corpora that are asked; raises SettingsError for what cannot name one."""
    corpora = [name for given in arguments.corpus or [settings.index.corpus] for name in member_names(given)]
    for corpus in corpora:
        check_corpus_name(corpus)
    return corpora


def _ask_here(arguments: argparse.Namespace, corpus: str, settings: Settings) -> None:
    with loading(settings.answer):
        from query_engine.build import Engines  # noqa: PLC0415  # slow to import; not needed to ask a service
        from query_engine.synthesis.build import check_writer  # noqa: PLC0415  # likewise
        from research.modes import InMode  # noqa: PLC0415  # likewise

    check_writer(settings.llm, arguments.writer)
    inquiry = Inquiry(arguments.question, arguments.filters)
    with closing(Engines(settings)) as engines:
        engine = engines.get(corpus, writer=arguments.writer)
        if arguments.retrieve_only:
            _print_passages(engine.retrieve(inquiry).passages)
        else:
            asyncio.run(print_answer(InMode(engine, settings).stream(inquiry)))


async def print_answer(stream: AsyncGenerator[Event, None]) -> None:
    """Print an answer as its events come; steps within it, its sources and what lowered its quality come after it."""
    answer, tables = "", PlainTables()
    later: list[str] = []  # steps that come while a line of the answer is open
    async with aclosing(stream) as events:
        async for event in events:
            match event:
                case Step(_, text) if answer:
                    later.append(text)
                case Step(_, text):
                    print(text, file=sys.stderr)
                case Token(text):
                    answer += text
                    print(tables.feed(text), end="", flush=True)
                case Restarted(reason):
                    print(f"{tables.finish()}\n[withdrawn: {reason}]\n", flush=True)
                    answer, tables = "", PlainTables()
                case Done():
                    print(tables.finish(), end="")
                    _print_end(event, later)


def _print_end(done: Done, steps: Sequence[str]) -> None:
    # Programs know a declined question by its first sentence, which is English; people are told the reason alone.
    reason = done.message if done.decline_text else done.message.removeprefix(f"{DONT_KNOW} ")
    print("" if done.answer else reason)
    for text in steps:
        print(text, file=sys.stderr)
    for number, title, day, place in dict.fromkeys(
        (c.number, c.title, c.date, c.url or _place(c)) for c in done.citations
    ):
        print(f"  [{number}] {title}{day and f' ({day})'} - {place}")
    if done.nearest:
        print("\nIt may also stand here:" if done.answer else "\nClosest passages:")
    for one in done.nearest:
        where = " › ".join(dict.fromkeys((one.title, *one.headings)))
        print(f"  - {where} - {one.url or _place(one)}: {' '.join(one.quote.split())}")
    for warning in done.warnings:
        if warning.code not in DOUBTS:
            print(f"warning: {warning}", file=sys.stderr)
    if done.synthesizer:
        print(f"(written by {done.synthesizer} in {done.timings_ms['total']:.0f} ms)", file=sys.stderr)
    if done.synthesizer == "extractive" and not done.warnings:
        print(QUOTES_NOTE, file=sys.stderr)


def _place(place: Citation | Nearest) -> str:
    return f"{place.corpus}:{place.doc_id}" if place.corpus else place.doc_id


def _print_passages(passages: Sequence[Passage]) -> None:
    for rank, passage in enumerate(passages, start=1):
        scores = ", ".join(f"{name} {value:.3f}" for name, value in sorted(passage.scores.items()))
        text = " ".join(passage.text.split())
        place = f"{passage.corpus}:{passage.chunk_id}" if passage.corpus else passage.chunk_id
        print(f"{rank:>2}. {place} ({passage.level}; {scores})\n    {text[:SHOWN_CHARS]}")


def _ask_service(url: str, headers: Mapping[str, str], arguments: argparse.Namespace) -> None:
    """Ask the service that holds the corpus, and print what it answers.

    Raises:
        RagError: it cannot be reached, or refuses.
    """
    corpus = SEVERAL.join(arguments.corpus) if arguments.corpus else None
    body = {"question": arguments.question, "corpus": corpus, "filters": arguments.filters}
    try:
        if arguments.retrieve_only:
            reply = httpx.post(f"{url}/retrieve", json=body, headers=headers, timeout=60, trust_env=False)
            _check(reply, url)
            found = reply.json()
            for warning in found["warnings"]:
                print(f"(left out: {warning})", file=sys.stderr)
            _print_passages([Passage(**passage) for passage in found["passages"]])
            return
        # Not through a proxy: the service is on this machine.
        body["writer"] = arguments.writer
        with httpx.stream("POST", f"{url}/run", json=body, headers=headers, timeout=600, trust_env=False) as reply:
            _check(reply, url)
            screen, record = GrowingText(sys.stdout), {}
            for line in reply.iter_lines():
                if line.startswith("data:"):
                    record = json.loads(line.removeprefix("data:"))
                    # A record replaces the one before: a model that failed is followed by quotes.
                    if screen.correctable or record.get("complete"):
                        screen.show(with_plain_tables(record.get("final_report") or ""))
        print()
        for number, link in enumerate(record.get("citations") or [], start=1):
            print(f"  [{number}] {link}")
    except httpx.HTTPError as error:
        raise RagError(f"The service at {url} did not answer: {error}.", "Stop it, or ask it again later.") from error


def _check(reply: httpx.Response, url: str) -> None:
    if reply.is_error:
        body = json.loads(reply.read())
        error = body["error"] if isinstance(body["error"], dict) else {"code": body["code"], "detail": body["error"]}
        raise RagError(f"The service at {url} says {error['code']}:", error["detail"])


if __name__ == "__main__":
    sys.exit(main())
