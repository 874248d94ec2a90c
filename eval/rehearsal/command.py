"""`python -m eval rehearse [QUESTIONS]`: the competition's whole course, and what its ranking would see, in one table.

Flow: a service that runs, or is started here on a free port -> `contract/` checks it -> `recorder.py` puts the
questions through `/run` and `/evaluate` -> `submitting.py` writes and judges `result.jsonl` -> `scoring/` -> stdout.

Exit codes: 0 all is well; 1 the contract is broken, an answer is empty or late, the result file cannot be handed in, or
a foreseen failure.
"""

import argparse
import asyncio
import math
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from datetime import UTC, datetime
from pathlib import Path

import httpx

from errors import RagError
from eval.argument_types import add_header_argument, seconds, service_url, whole_number
from eval.asking.asking import Keeper, OutageError, RetryPolicy, ask_all
from eval.asking.command import RUNS
from eval.cases import Case
from eval.contract import command as contract
from eval.contract.exchange import Exchange, client_of
from eval.contract.rules import Verdict, merged
from eval.progress_bar import AskingProgress
from eval.questions.reading import add_question_arguments, questions_of
from eval.rehearsal.recorder import Recorder, failures, table
from eval.run_folder import Header, RunFolderError
from eval.scoring.build import offline_scorers
from eval.scoring.judge_option import Judging, add_judge_arguments
from eval.scoring.stage import score_run
from eval.submitting import RESULT, write
from settings import Settings

ROOT = Path(__file__).parents[2]
SAMPLE, SAMPLE_CORPUS = ROOT / "data" / "questions.jsonl", ROOT / "data" / "corpus"
QUESTIONS = 150
# As many as the workers that the competition's template starts.
CONCURRENCY = 4
ROUTES = ("/run", "/evaluate")
POLL_S = 0.2
STOP_S = 60
FAMILIES = {"answer", "bert_score"}


class ServiceEndedError(RagError):
    """The service ended before it answered."""

    code = "service_ended"


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


def _service(url: str | None, out: Path, *, sample: bool) -> AbstractContextManager[str]:
    if url:
        return nullcontext(url)
    program, log = ROOT / "main.py", out / "service.log"
    # As `make run`: the sample goes into the corpus `default`, and no other is asked about it.
    if sample:
        return started([program, "--ingest", SAMPLE_CORPUS], log, RAG_INDEX__CORPUS="default")
    return started([program], log)


@contextmanager
def started(program: Sequence[str | Path], log: Path, **variables: str) -> Iterator[str]:
    """Start a service and yield its address once `/health` answers; stop it at the end. Only in the main thread.

    The variables are set beside those of this process. What the service writes goes to `log`.

    Raises:
        ServiceEndedError: it ended before it answered.
    """
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    settings = {**os.environ, **variables, "RAG_SERVE__HOST": "127.0.0.1", "RAG_SERVE__PORT": str(port)}
    with (
        log.open("wb") as file,
        subprocess.Popen([sys.executable, *program], env=settings, stdout=file, stderr=file) as run,  # noqa: S603
    ):
        # A caller that is asked to stop must not leave the service behind.
        before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
        try:
            while not _answers(url):
                if run.poll() is not None:
                    lines = log.read_text(encoding="utf-8", errors="replace").splitlines() or ["without a word"]
                    fact = f"The service ended with exit code {run.returncode}: {lines[-1]}."
                    raise ServiceEndedError(fact, f"Mend that, or name one that runs by --url; its log is {log}.")
                time.sleep(POLL_S)
            yield url
        finally:
            run.terminate()
            with suppress(subprocess.TimeoutExpired):
                run.wait(STOP_S)
            run.kill()
            signal.signal(signal.SIGTERM, before)


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/health", trust_env=False).status_code == httpx.codes.OK
    except httpx.TransportError:
        return False


async def _course(
    arguments: argparse.Namespace, url: str, cases: Sequence[Case], out: Path
) -> tuple[list[Verdict], list[Recorder]]:
    """Check the contract, then put the questions through each route; where nothing replies, the rest is not asked."""
    once = RetryPolicy(timeout_s=math.inf, attempts=1)  # the exchange limits the time
    async with client_of(url, arguments.headers) as client:
        exchange = Exchange(client, arguments.timeout_s)
        verdicts = contract.judge_all(await contract.ask(exchange, url, contract.QUESTIONS))
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
