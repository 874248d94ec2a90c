"""`python -m eval check-run URL [QUESTIONS]`: does a service keep the competition's contract; what would a ranking see?

Flow: a URL -> `contract/` checks it -> with questions `recorder.py` puts them through `/run` and `/evaluate` ->
`submitting.py` writes and judges `result.jsonl` -> `scoring/`, with the judge of the settings -> stdout.

Exit codes: 0 all is well; 1 the contract is broken, an answer is empty or late, the result file cannot be handed in, or
a foreseen failure.
"""

import argparse
import asyncio
import math
import sys
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from eval.argument_types import add_header_argument, seconds, service_url, whole_number
from eval.asking.asking import Keeper, OutageError, RetryPolicy, ask_all
from eval.asking.command import RUNS
from eval.cases import Case
from eval.contract import checking as contract
from eval.contract.exchange import Exchange, client_of
from eval.contract.rules import Verdict, merged
from eval.progress_bar import AskingProgress
from eval.questions.reading import add_question_arguments, questions_of
from eval.rehearsal.recorder import Recorder, failures, table
from eval.run_folder import Header, RunFolderError
from eval.scoring.build import judged_scorers, offline_scorers, open_judge
from eval.scoring.judge_option import DEFAULT, Judging
from eval.scoring.stage import score_run
from eval.submitting import RESULT, write
from settings import Settings

QUESTIONS = 150
# As many as the workers that the competition's template starts.
CONCURRENCY = 4
TIMEOUT_S = 610.0
ROUTES = ("/run", "/evaluate")
FAMILIES = {"answer", "bert_score"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `check-run`."""
    parser.add_argument("url", type=service_url, metavar="URL", help="base of the service, e.g. http://127.0.0.1:8000")
    parser.add_argument(
        "--question", action="append", dest="asked", metavar="TEXT", help="check with this instead; may be repeated"
    )
    add_header_argument(parser)
    parser.add_argument("--timeout-s", type=seconds, default=TIMEOUT_S, help="for one reply (default: %(default)g)")
    course = parser.add_argument_group("the whole course", "put a file of questions through both routes as well")
    add_question_arguments(parser, required=False)
    parser.set_defaults(limit=QUESTIONS)
    course.add_argument(
        "--concurrency", type=whole_number, default=CONCURRENCY, metavar="N", help="questions at a time (%(default)s)"
    )
    course.add_argument(
        "--out", type=Path, metavar="FOLDER", help="new, for the replies (default: runs/rehearsal-TIME)"
    )


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Check the service, with questions by the whole course; 1 if anything is broken, empty, late or missing."""
    if arguments.questions:
        return _rehearse(arguments, settings)

    async def check() -> contract.Replies:
        async with client_of(arguments.url, arguments.headers) as client:
            exchange = Exchange(client, arguments.timeout_s)
            return await contract.ask(exchange, arguments.url, arguments.asked or contract.QUESTIONS)

    replies = asyncio.run(check())
    verdicts = contract.judge_all(replies)
    sys.stdout.write("\n".join(contract.table(replies, verdicts)) + "\n")
    return int(any(verdict.state == "FAIL" for verdict in verdicts))


def _rehearse(arguments: argparse.Namespace, settings: Settings) -> int:
    judging = None
    if settings.judge.base_url or settings.judge.model:  # half a judge is refused
        judge = open_judge(settings)
        judging = Judging(judge, judged_scorers(settings, judge, DEFAULT, None), repeats=1)
    cases, url = questions_of(arguments), arguments.url
    out = _new_folder(arguments.out)
    verdicts, recorders = asyncio.run(_course(arguments, url, cases, out))
    scorers = [one for one in offline_scorers(settings) if one.family in FAMILIES]
    by_evaluate = recorders[-1].folder
    for folder in (recorder.folder for recorder in recorders if recorder.folder.exists()):
        with folder.writing():
            score_run(folder, scorers)
            if judging and folder is by_evaluate:  # whose passages the judge needs
                judging.score(folder, sys.stderr)
    seen = [one for recorder in recorders for one in recorder.observed.values()]
    rules = merged([*verdicts, *(verdict for one in seen for verdict in one.verdicts)])
    broken = [verdict for verdict in rules if verdict.state == "FAIL"]
    submission, submitted = write(out / RESULT, by_evaluate.rows(), [case.id for case in cases], allow_missing=False)
    faults = {
        "rules broken": len(broken),
        "answers empty": sum(one.empty for one in seen),
        "answers late": sum(one.late for one in seen),
        "questions not asked": len(cases) * len(recorders) - len(seen),
        f"{RESULT} not valid": int(not submission.valid(allow_missing=False)),
        "judge given up": int(judging is not None and judging.given_up),
    }
    ready = not any(faults.values())
    parts = [
        f"# {url}: {len(cases)} questions of {arguments.questions.name}, {arguments.concurrency} at a time",
        table(recorders, len(cases)),
        judging.describe(by_evaluate) if judging and by_evaluate.exists() else "",
        "\n".join(failures(recorders, len(cases))),
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


async def _course(
    arguments: argparse.Namespace, url: str, cases: Sequence[Case], out: Path
) -> tuple[list[Verdict], list[Recorder]]:
    """Check the contract, then put the questions through each route; where nothing replies, the rest is not asked."""
    once = RetryPolicy(timeout_s=math.inf, attempts=1)  # the exchange limits the time
    async with client_of(url, arguments.headers) as client:
        exchange = Exchange(client, arguments.timeout_s)
        verdicts = contract.judge_all(await contract.ask(exchange, url, arguments.asked or contract.QUESTIONS))
        recorders = [Recorder(exchange, route, out) for route in ROUTES]
        for recorder in recorders:
            sys.stderr.write(f"{recorder.route}:\n")
            header = Header.of(arguments.questions, url, settings={"route": recorder.route})
            keeper = Keeper(recorder.folder, header, cases)
            with recorder.folder.writing(), closing(AskingProgress(sys.stderr, len(cases))) as progress:
                try:
                    await ask_all(cases, recorder, keeper, once, concurrency=arguments.concurrency, tell=progress.add)
                except OutageError as error:
                    progress.note(f"{recorder.route}: {error.fact} The rest is not asked.")
    return verdicts, recorders
