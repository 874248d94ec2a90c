"""`python -m eval rehearse [QUESTIONS]`: the competition's whole course, and what its ranking would see, in one table.

Flow: a service that runs, or `service.py` starts one -> `contract/` checks it -> `recorder.py` puts the questions
through `/run` and `/evaluate` -> `submitting/` writes and judges `result.jsonl` -> `scoring/` -> `table.py` on stdout.

Exit codes: 0 all is well; 1 the contract is broken, an answer is empty or late, the result file cannot be handed in, or
a foreseen failure.
"""

import argparse
import asyncio
import math
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from datetime import UTC, datetime
from pathlib import Path

import httpx

from eval.argument_types import add_header_argument, seconds, service_url, whole_number
from eval.asking.asking import OutageError, RetryPolicy, ask_all
from eval.asking.command import RUNS, digest_of
from eval.asking.run_writer import Keeper
from eval.cases import Case
from eval.contract import command as contract
from eval.contract.exchange import Exchange
from eval.contract.rules import Verdict, merged
from eval.progress_bar import AskingProgress
from eval.questions.arguments import add_question_arguments, questions_of
from eval.rehearsal.recorder import Recorder
from eval.rehearsal.service import ROOT, started
from eval.rehearsal.table import Column, failures, table
from eval.run_folder import Header, RunFolder, RunFolderError
from eval.scoring.build import offline_scorers
from eval.scoring.judge_option import Judging, add_judge_arguments
from eval.scoring.stage import score_run
from eval.submitting.command import RESULT, about, counted, told
from eval.submitting.result_file import write
from loopback import may_use_proxy
from settings import Settings

SAMPLE, SAMPLE_CORPUS = ROOT / "data" / "questions.jsonl", ROOT / "data" / "corpus"
QUESTIONS = 150
# As many as the workers that the competition's template starts.
CONCURRENCY = 4
ROUTES = ("/run", "/evaluate")
FAMILIES = {"answer", "bert_score"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `rehearse`."""
    add_question_arguments(parser, required=False)
    parser.set_defaults(limit=QUESTIONS)
    parser.add_argument(
        "--url",
        type=service_url,
        help="of a service that runs, e.g. in its image (default: start this checkout's; without QUESTIONS, over the "
        "sample documents)",
    )
    add_header_argument(parser)
    parser.add_argument(
        "--concurrency", type=whole_number, default=CONCURRENCY, metavar="N", help="questions at a time (%(default)s)"
    )
    parser.add_argument(
        "--timeout-s", type=seconds, default=contract.TIMEOUT_S, help="for one reply (default: %(default)g)"
    )
    parser.add_argument(
        "--out", type=Path, metavar="FOLDER", help="new, for the replies (default: runs/rehearsal-TIME)"
    )
    add_judge_arguments(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Go through the course and tell; 1 if anything is broken, empty, late or missing."""
    arguments.judge |= bool(settings.judge.base_url or settings.judge.model)  # half a judge is refused below
    judging = Judging.of(arguments, settings)
    sample = arguments.questions is None
    arguments.questions = arguments.questions or SAMPLE
    cases = questions_of(arguments)
    out = _new_folder(arguments.out)
    with _service(arguments.url, out, sample=sample) as url:
        verdicts, recorders = asyncio.run(_course(arguments, url, cases, out))
    columns = [_column(out, recorder, cases, settings, judging) for recorder in recorders]
    seen = [one for column in columns for one in column.observed.values()]
    rules = merged([*verdicts, *(verdict for one in seen for verdict in one.verdicts)])
    broken = [verdict for verdict in rules if verdict.state == "FAIL"]
    valid, submitted = _submitted(out, cases, columns[-1])
    faults = {
        "rules broken": len(broken),
        "answers empty": sum(one.empty for one in seen),
        "answers late": sum(one.late for one in seen),
        "questions not asked": len(cases) * len(columns) - len(seen),
        f"{RESULT} not valid": int(not valid),
        "judge given up": int(judging is not None and judging.given_up),
    }
    ready = not any(faults.values())
    parts = [
        f"# {url}: {len(cases)} questions of {arguments.questions.name}, {arguments.concurrency} at a time",
        table(columns),
        judging.describe(_folder(out, ROUTES[-1])) if judging and columns[-1].rows else "",
        "\n".join(failures(columns)),
        "\n".join([*contract.rule_lines(broken), contract.count_line(rules)]),
        "\n".join(submitted),
        "Ready: the contract is kept, and every answer is there in time."
        if ready
        else f"Not ready: {', '.join(f'{count} {what}' for what, count in faults.items() if count)}.",
    ]
    sys.stdout.write("\n\n".join(part for part in parts if part) + "\n")
    return int(not ready)


def _new_folder(given: Path | None) -> Path:
    out = given or RUNS / f"rehearsal-{datetime.now(UTC):%Y%m%d-%H%M%S}"
    if out.is_file() or (out.exists() and any(out.iterdir())):
        raise RunFolderError(f"{out} holds something already.", "Name a folder that does not exist yet: --out FOLDER.")
    out.mkdir(parents=True, exist_ok=True)
    return out


def _folder(out: Path, route: str) -> RunFolder:
    return RunFolder(out / route.strip("/"))


def _service(url: str | None, out: Path, *, sample: bool) -> AbstractContextManager[str]:
    if url:
        return nullcontext(url)
    program, log = ROOT / "main.py", out / "service.log"
    # As `make run`: the sample goes into the corpus `default`, and no other is asked about it.
    if sample:
        return started([program, "--ingest", SAMPLE_CORPUS], log, RAG_INDEX__CORPUS="default")
    return started([program], log)


async def _course(
    arguments: argparse.Namespace, url: str, cases: Sequence[Case], out: Path
) -> tuple[list[Verdict], list[Recorder]]:
    async with httpx.AsyncClient(
        base_url=url,
        headers=arguments.headers,
        timeout=None,  # noqa: S113  # the exchange has one
        trust_env=may_use_proxy(url),
    ) as client:
        exchange = Exchange(client, arguments.timeout_s)
        verdicts = contract.judge_all(await contract.ask(exchange, url, contract.QUESTIONS))
        recorders = [Recorder(exchange, route) for route in ROUTES]
        for recorder in recorders:
            draft = Header(
                started=datetime.now(UTC).isoformat(timespec="seconds"),
                questions=arguments.questions.name,
                questions_sha256=digest_of(arguments.questions),
                target=url,
                settings={"route": recorder.route},
            )
            await _put(recorder, _folder(out, recorder.route), draft, cases, arguments.concurrency)
    return verdicts, recorders


async def _put(recorder: Recorder, folder: RunFolder, draft: Header, cases: Sequence[Case], concurrency: int) -> None:
    """Put the questions through one route; where nothing replies any more, the rest is not asked."""
    sys.stderr.write(f"{recorder.route}:\n")
    once = RetryPolicy(timeout_s=math.inf, attempts=1)  # the exchange limits the time
    with folder.writing(), closing(AskingProgress(sys.stderr, len(cases))) as progress:
        keeper = Keeper(folder, draft, cases)
        try:
            await ask_all(cases, recorder, keeper, once, concurrency=concurrency, tell=progress.add)
        except OutageError as error:
            progress.note(f"{recorder.route}: {error.fact} The rest is not asked.")


def _column(
    out: Path, recorder: Recorder, cases: Sequence[Case], settings: Settings, judging: Judging | None
) -> Column:
    """Score what a route replied; the judge reads what `/evaluate` says, whose passages it needs."""
    folder = _folder(out, recorder.route)
    if not folder.exists():  # there was no reply at all
        return Column(recorder.route, len(cases), recorder.observed, {}, {})
    with folder.writing():
        score_run(folder, [one for one in offline_scorers(settings) if one.family in FAMILIES])
        if judging and recorder.route == ROUTES[-1]:
            judging.score(folder, sys.stderr)
    return Column(recorder.route, len(cases), recorder.observed, folder.rows(), folder.cells())


def _submitted(out: Path, cases: Sequence[Case], column: Column) -> tuple[bool, list[str]]:
    """Write the result file and judge it; return whether it can be handed in, and what is to be said of it."""
    answers = {id_: row.answer for id_, row in column.rows.items() if row.answer and row.answer.strip()}
    verdict = write(out / RESULT, answers, [case.id for case in cases], allow_missing=False)
    valid = verdict.valid(allow_missing=False)
    place = out / RESULT
    first = f"{place}: {counted(verdict)}." if valid else f"{place} is not written: {counted(verdict)}."
    return valid, [first, *told(verdict), *(about(answers, column.rows) if answers else ())]
