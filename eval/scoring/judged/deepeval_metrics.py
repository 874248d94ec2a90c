"""DeepEval's metrics that a judge decides, computed by DeepEval in a separate environment.

Flow: `build.py` -> **here** -> `scorer.py`, and `deepeval_worker.py` in another process, whose questions to the judge
come back **here** -> `scoring/judge_client.py`.
"""

import asyncio
import itertools
import json
import subprocess
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from errors import RagError
from eval.scoring.judge_client import Judge, JudgeUnusableError, json_in
from eval.scoring.judged.scorer import Ask, Judged, JudgedScorer, Material

WORKER = Path(__file__).absolute().with_name("deepeval_worker.py")
MAX_LINE_BYTES = 256 * 2**20
LOADING_S = 120.0
JUDGED = (
    Judged("deepeval_faithfulness", ("answer", "passages"), questions=3),
    Judged("deepeval_answer_relevancy", ("answer",), questions=2),
    Judged("deepeval_contextual_precision", ("reference", "passages"), questions=1),
    Judged("deepeval_contextual_recall", ("reference", "passages"), questions=1),
)


def _missing(python: Path, why: str) -> RagError:
    return RagError(
        f"DeepEval cannot be run by {python}: {why}.",
        "Make a separate environment: python3.11 -m venv DIR && DIR/bin/pip install -r requirements-deepeval.txt"
        " and give --deepeval-python DIR/bin/python.",
        "deepeval_missing",
    )


def deepeval_scorer(judge: Judge, python: Path) -> JudgedScorer:
    """Return the scorer of this family, for `python` of the environment that holds DeepEval.

    Raises:
        RagError: it is not a Python, or has no DeepEval.
    """
    # Not `resolve`: the Python of a virtual environment is a link, and knows its environment by the link's place.
    python = python.absolute()
    _check(python)

    @asynccontextmanager
    async def asker(repeat: int) -> AsyncIterator[Ask]:
        # DeepEval keeps notes in the home and the working folder, and reads settings there: these are empty.
        with tempfile.TemporaryDirectory() as home:
            process = await _start(python, home)
            try:
                await _wait_ready(process, python)
                worker = _Worker(process, judge, repeat)
                reading = asyncio.create_task(worker.read())
                yield worker.score
                reading.cancel()
            finally:
                with suppress(ProcessLookupError):
                    process.kill()
                await process.wait()

    return JudgedScorer("deepeval", JUDGED, judge, asker)


def _check(python: Path) -> None:
    """Look for DeepEval without loading it: before anything is judged, which may take hours."""
    look = "import importlib.util; print(importlib.util.find_spec('deepeval') is not None)"
    try:
        found = subprocess.run(  # noqa: S603  # the user named the program
            [python, "-c", look], capture_output=True, text=True, check=False, timeout=LOADING_S
        ).stdout.strip()
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _missing(python, getattr(error, "strerror", None) or str(error)) from error
    if found != "True":
        raise _missing(python, "it is not installed there" if found == "False" else "this is not a Python")


async def _start(python: Path, home: str) -> asyncio.subprocess.Process:
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(
        python,
        WORKER,
        stdin=pipe,
        stdout=pipe,
        stderr=asyncio.subprocess.DEVNULL,
        cwd=home,
        env={"HOME": home, "DEEPEVAL_TELEMETRY_OPT_OUT": "1", "DEEPEVAL_DISABLE_DOTENV": "1"},
        limit=MAX_LINE_BYTES,
    )


async def _wait_ready(process: asyncio.subprocess.Process, python: Path) -> None:
    """Wait until DeepEval is loaded."""
    assert process.stdout is not None
    try:
        async with asyncio.timeout(LOADING_S):
            line = await process.stdout.readline()
    except TimeoutError:
        raise _missing(python, f"it was not loaded within {LOADING_S:g} s") from None
    broken = json.loads(line).get("broken") if line else "it ended at once"
    if broken is not None:
        raise _missing(python, broken)


class _Cell:
    """A score that is under way, and how often each prompt was asked for it."""

    def __init__(self) -> None:
        self.score: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        self.asked: Counter[str] = Counter()

    def fail(self, error: RagError) -> None:
        """Settle it, unless it is settled."""
        if not self.score.done():
            self.score.set_exception(error)


class _Worker:
    """The other process, and what is under way in it."""

    def __init__(self, process: asyncio.subprocess.Process, judge: Judge, repeat: int) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._stdin, self._stdout = process.stdin, process.stdout
        self._judge = judge
        self._repeat = repeat
        self._limit_s = 5 * judge.settings.timeout_s  # a cell may take as long as all of its questions
        self._numbers = itertools.count(1)
        self._cells: dict[int, _Cell] = {}
        self._answers: set[asyncio.Task[None]] = set()
        self._ended = False

    async def score(self, name: str, material: Material) -> float:
        """Have one metric computed; JudgeError if there is no judgement, or one that DeepEval cannot compute with."""
        if self._ended:
            raise _ended()
        number, cell = next(self._numbers), _Cell()
        self._cells[number] = cell
        case = {
            "input": material.question,
            "actual_output": material.answer,
            "expected_output": material.reference,
            "retrieval_context": list(material.passages),
        }
        try:
            await self._send({"score": number, "metric": name, "case": case})
            async with asyncio.timeout(self._limit_s):
                return await cell.score
        except TimeoutError as error:
            raise JudgeUnusableError(
                f"DeepEval did not finish within {self._limit_s:g} s.", "Set RAG_JUDGE__TIMEOUT_S higher."
            ) from error
        finally:
            del self._cells[number]

    async def read(self) -> None:
        """Take in what the process says, until it ends."""
        while line := await self._stdout.readline():
            message = json.loads(line)
            if "ask" in message:
                task = asyncio.create_task(self._answer(message))
                self._answers.add(task)
                task.add_done_callback(self._answers.discard)
            elif cell := self._cells.get(message["done"]):
                if "failed" in message:
                    fact = f"DeepEval cannot compute it: {message['failed']}."
                    cell.fail(JudgeUnusableError(fact, "Take another model."))
                elif not cell.score.done():
                    cell.score.set_result(message["score"])
        self._ended = True
        for cell in self._cells.values():
            cell.fail(_ended())

    async def _answer(self, question: Mapping[str, Any]) -> None:
        prompt, schema, cell = question["prompt"], question["schema"], self._cells.get(question["of"])
        if cell is None:  # given up meanwhile
            return
        nth = f"{self._repeat}.{cell.asked[prompt]}"
        cell.asked[prompt] += 1
        try:
            text = await self._judge.ask(prompt, schema, nth, lambda said: _judgement(schema, said))
            await self._send({"reply": question["ask"], "text": text})
        except RagError as error:
            cell.fail(error)
            await self._send({"reply": question["ask"], "failed": True})

    async def _send(self, message: Mapping[str, Any]) -> None:
        with suppress(ConnectionError):  # `read` notices the end
            self._stdin.write(json.dumps(message).encode() + b"\n")
            await self._stdin.drain()


def _ended() -> JudgeUnusableError:
    return JudgeUnusableError("DeepEval's process ended.", "Run the same command again.")


def _judgement(schema: Mapping[str, Any], text: str) -> str:
    """Return the JSON of a reply that follows the schema and judges something: DeepEval takes nothing for perfect."""
    import jsonschema  # noqa: PLC0415  # of the extra `eval`

    found = json_in(text)
    judgement = json.loads(found)
    try:
        jsonschema.validate(judgement, schema)
    except jsonschema.ValidationError as error:
        place = ".".join(map(str, error.absolute_path)) or "it"
        raise JudgeUnusableError.of(
            f"The judge's reply is not what was asked for ({place}: {error.message})", text
        ) from error
    lists = [value for value in judgement.values() if isinstance(value, list)]
    if lists and not any(lists):
        raise JudgeUnusableError.of("The judge's reply judges nothing", text)
    return found
