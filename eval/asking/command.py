"""What commands that ask have in common: who is asked, how, and where the replies are kept.

Flow: `run_command.py`, `submitting.py` -> **here** -> `asking.py` fills the run's folder. Killed and started
again with the same command it goes on where it was.
"""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

from errors import SettingsError
from eval.argument_types import add_header_argument, seconds, service_url, whole_number
from eval.asking.asking import (
    FirstReplies,
    Keeper,
    RetryPolicy,
    ask_all,
    check_place,
    check_questions,
    check_system,
)
from eval.asking.http import open_service
from eval.asking.target import IN_PROCESS, WrittenByModel
from eval.cases import Case
from eval.progress_bar import AskingProgress, tell
from eval.rows import Row
from eval.run_folder import Header, RunFolder
from index.documents.filters import filter_value, where
from settings import Settings

RUNS = Path("runs")
CALLS_IN_PROCESS, CALLS_BY_URL = 1, 4


def add_asking_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what says who is asked, how, and where the replies are kept."""
    parser.add_argument(
        "--url",
        "--api-url",
        type=service_url,
        help="ask the service at this address (default: the engine in this process)",
    )
    parser.add_argument(
        "--stream", action="store_true", help="ask the service by POST /run, whose stream is read liberally"
    )
    parser.add_argument(
        "--pipeline", type=Path, metavar="FILE", help="ask a pipeline of steps in this process: docs/pipelines.md"
    )
    add_header_argument(parser)
    parser.add_argument("--corpus", help="name of the corpus (default: RAG_INDEX__CORPUS, or the service's)")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="of the run (default: runs/QUESTIONS-CORPUS)")
    parser.add_argument(
        "--concurrency",
        type=whole_number,
        metavar="N",
        help=f"questions at a time (default: {CALLS_IN_PROCESS} in this process, {CALLS_BY_URL} by --url)",
    )
    parser.add_argument(
        "--filter",
        dest="filters",
        type=filter_value,
        metavar="JSON",
        help="search only documents that meet this filter",
    )
    parser.add_argument(
        "--top-k", type=whole_number, metavar="N", help="write each answer from N passages (default: the settings')"
    )
    parser.add_argument("--timeout-s", type=seconds, default=300.0, help="of one call (default: %(default)g)")
    parser.add_argument(
        "--attempts", type=whole_number, default=3, metavar="N", help="calls until a question has failed (3)"
    )
    parser.add_argument("--require-llm", action="store_true", help="answers that no language model wrote have failed")


def folder_of(arguments: argparse.Namespace, settings: Settings) -> RunFolder:
    """Return the run's folder, which need not exist; raises as `check_place`."""
    folder = RunFolder(arguments.out or RUNS / _name(arguments, settings))
    check_place(folder)
    return folder


def ask_questions(arguments: argparse.Namespace, settings: Settings, folder: RunFolder, cases: Sequence[Case]) -> None:
    """Ask what has no reply yet. Only below `folder.writing()`.

    Raises:
        RagError: the folder holds another run, or too little is answered to go on.
    """
    draft = Header.of(arguments.questions, arguments.url or IN_PROCESS)
    _check_options(arguments, cases)
    if folder.exists():
        check_questions(folder, draft, cases)
    try:
        asyncio.run(_ask(arguments, settings, folder, draft, cases))
    except KeyboardInterrupt:
        tell(f"{len(folder.rows()) if folder.exists() else 0} replies are kept; the same command goes on.")
        raise


async def _ask(
    arguments: argparse.Namespace, settings: Settings, folder: RunFolder, draft: Header, cases: Sequence[Case]
) -> None:
    calls = arguments.concurrency or (CALLS_BY_URL if arguments.url else CALLS_IN_PROCESS)
    retry_policy = RetryPolicy(arguments.timeout_s, arguments.attempts)
    options = {"filters": arguments.filters, "top_k": arguments.top_k, "route": "/run" if arguments.stream else None}
    if arguments.url:
        opening = open_service(arguments, draft)
    else:
        from eval.asking.build import open_engine  # noqa: PLC0415  # a service is asked without LlamaIndex

        opening = open_engine(arguments, cases, settings, draft)
    async with opening as (opened, header, warnings):
        target = WrittenByModel(opened) if arguments.require_llm else opened
        header.settings.update({name: value for name, value in options.items() if value is not None})
        for warning in warnings:
            tell(f"warning: {warning}")
        if folder.exists():
            check_system(folder, header)
        keeper = Keeper(folder, header, cases)
        todo = _todo(folder, cases)
        if not todo and not header.fingerprint:
            keeper.check((await retry_policy.ask(target, cases[0])).row)  # the system may have changed since
        of_id, first = {case.id: case for case in cases}, FirstReplies(header.settings.get("llm", {}).get("provider"))
        with closing(AskingProgress(sys.stderr, len(todo))) as progress:

            def show(row: Row) -> None:
                progress.add(row)
                for warning in first.add(of_id[row.id], row):
                    progress.note(f"warning: {warning}")

            await ask_all(todo, target, keeper, retry_policy, concurrency=calls, tell=show)
        keeper.check_begun()


def _todo(folder: RunFolder, cases: Sequence[Case]) -> list[Case]:
    """Return what has no reply: first what was never asked, then what failed."""
    rows = folder.rows() if folder.exists() else {}
    fresh = [case for case in cases if case.id not in rows]
    failed = [case for case in cases if case.id in rows and rows[case.id].outcome == "failed"]
    if rows:
        tell(f"{folder.path}: {len(cases) - len(fresh) - len(failed)} of {len(cases)} questions have a reply already.")
    return fresh + failed


def _check_options(arguments: argparse.Namespace, cases: Sequence[Case]) -> None:
    paged = sum(bool(case.pages) for case in cases)
    for option, value in (("--url", arguments.url), ("--pipeline", arguments.pipeline)):
        if paged and value:
            raise SettingsError(
                f"{paged} of the questions come with their own pages, which {option} cannot be given.",
                f"Leave out {option}: they are answered in this process, each over its pages.",
            )
    if arguments.stream and not arguments.url:
        raise SettingsError("--stream asks a service, and none is named.", "Add --url, or leave it out.")
    given = {"url": arguments.url, "corpus": arguments.corpus, "filter": arguments.filters, "top-k": arguments.top_k}
    others = [name for name, value in given.items() if value]
    if arguments.pipeline and others:
        raise SettingsError(
            f"--pipeline runs in this process, over what its sources name; --{others[0]} is not read.",
            "Write it as a parameter of the pipeline's source, and leave the option out.",
        )
    if arguments.filters is not None:
        where(arguments.filters)  # one that has no meaning fails every question


def _name(arguments: argparse.Namespace, settings: Settings) -> str:
    """Return the folder of a run that was given none: the same command always means the same one."""
    questions = arguments.questions.name.partition(".")[0] or "questions"
    if arguments.pipeline:
        return f"{questions}-{arguments.pipeline.stem}"
    parts = [questions, arguments.corpus or ("" if arguments.url else settings.index.corpus)]
    if arguments.url:
        parts.append(urlsplit(arguments.url).netloc.replace(":", "-"))
    return "-".join(part for part in parts if part)
