"""`python -m eval submit VALIDATION`: answer a validation file and write `result.jsonl`, or judge one that is there.

Flow: the validation file -> `asking/` fills the run's folder -> **here** -> `result_file.py`. The file stands in the
run's folder, so that the same run can be scored and reported as well; killed and started again it goes on.

Exit codes: 0 the file can be handed in, 1 it cannot, or a foreseen failure.
"""

import argparse
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from eval.asking.command import add_asking_arguments, ask_questions, folder_of
from eval.asking.target import QUOTING
from eval.questions.reading import add_question_arguments, questions_of
from eval.rows import Row
from eval.submitting.result_file import NEEDED_RATIO, Verdict, judge, write
from settings import Settings

RESULT = "result.jsonl"
REASONS_SHOWN = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `submit`."""
    add_question_arguments(parser, limit=False)
    add_asking_arguments(parser)
    parser.add_argument(
        "--validate", type=Path, metavar="RESULT", help="ask nothing: judge this file of results against QUESTIONS"
    )
    parser.add_argument(
        "--allow-missing",
        action="store_true",
        help=f"be content with answers to {NEEDED_RATIO * 100:.0f} %% of the questions, as the organisers are",
    )


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Ask what has no answer yet and write the file, or judge one; 1 if it cannot be handed in."""
    if arguments.validate is not None:
        return _validate(arguments)
    folder = folder_of(arguments, settings)
    path = folder.path / RESULT
    cases = questions_of(arguments)
    ids = [case.id for case in cases]
    with folder.writing():
        ask_questions(arguments, settings, folder, cases)
        rows = folder.rows()
        answers = {id_: row.answer for id_, row in rows.items() if row.answer is not None and row.answer.strip()}
        verdict = write(path, answers, ids, allow_missing=arguments.allow_missing)
    valid = verdict.valid(allow_missing=arguments.allow_missing)
    lines = [f"{path}: {counted(verdict)}." if valid else f"{path} is not written.", *told(verdict)]
    lines += about(answers, rows) if valid else _why(rows, verdict.missing)
    sys.stdout.write("\n".join(lines) + "\n")
    return int(not valid)


def _validate(arguments: argparse.Namespace) -> int:
    ids = [case.id for case in questions_of(arguments)]
    verdict = judge(arguments.validate, ids)
    valid = verdict.valid(allow_missing=arguments.allow_missing)
    sys.stdout.write("\n".join([f"{arguments.validate}: {counted(verdict)}.", *told(verdict)]) + "\n")
    sys.stdout.write("Valid: it can be handed in.\n" if valid else "Not valid.\n")
    return int(not valid)


def counted(verdict: Verdict) -> str:
    """Say how many questions are answered."""
    return f"{verdict.answered} of {verdict.answered + len(verdict.missing)} questions are answered"


def told(verdict: Verdict) -> Iterator[str]:
    """Yield what is wrong with a file, a sentence each."""
    yield from verdict.faults
    if verdict.missing:
        yield verdict.missing_sentence()


def about(answers: Mapping[str, str], rows: Mapping[str, Row]) -> Iterator[str]:
    """Say what a person should know before the file is handed in."""
    lengths = sorted(len(answer) for answer in answers.values())
    yield f"Answers of {lengths[0]:,} to {lengths[-1]:,} characters, median {statistics.median(lengths):,.0f}."
    if declined := [id_ for id_ in answers if rows[id_].outcome == "declined"]:
        many = "warning: " if len(declined) > len(answers) / 2 else ""
        yield f"{many}{len(declined)} of them say that the answer is not known, e.g. {declined[0]}."
    if quoted := [id_ for id_ in answers if rows[id_].synthesizer == QUOTING]:
        yield (
            f"warning: {len(quoted)} answers are quotes that no language model wrote, e.g. {quoted[0]}; the "
            "competition wants generated ones. `submit --require-llm` asks for nothing else."
        )


def _why(rows: Mapping[str, Row], missing: Sequence[str]) -> Iterator[str]:
    for id_ in missing[:REASONS_SHOWN]:
        row = rows.get(id_)
        yield f"  {id_}: {'it was not asked.' if row is None else row.reason or 'the reply holds no text.'}"
    yield "The same command asks again what failed; --allow-missing is content with 80 % of the answers."
