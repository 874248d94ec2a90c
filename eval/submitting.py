"""`python -m eval submit VALIDATION`: answer a validation file and write `result.jsonl`, or judge one that is there.

Flow: the validation file -> `asking/` fills the run's folder -> **here** -> `result.jsonl` beside it, so that the same
run can be scored and reported as well; killed and started again it goes on. The rehearsal writes such a file too.

One JSON object a line with `query_id` and `generated_response`; other keys are allowed. One empty answer or one id
twice makes the whole file invalid. The organisers take a file from 80 % of the questions on; here each has to be
there, unless missing ones are allowed.

Exit codes: 0 the file can be handed in, 1 it cannot, or a foreseen failure.
"""

import argparse
import json
import os
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from errors import RagError
from eval.asking.command import add_asking_arguments, ask_questions, folder_of
from eval.asking.target import QUOTING
from eval.questions.files import why_no_json
from eval.questions.reading import add_question_arguments, questions_of
from eval.rows import Row
from settings import Settings

RESULT = "result.jsonl"
NEEDED_RATIO = 0.8
MISSING_SHOWN = 5
REASONS_SHOWN = 3


class SubmissionError(RagError):
    """A file of results cannot be read, or none can be written."""

    code = "bad_submission"


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
    lines = [f"{path}: {verdict.counted()}." if valid else f"{path} is not written.", *verdict.told()]
    lines += about(answers, rows) if valid else _why(rows, verdict.missing)
    sys.stdout.write("\n".join(lines) + "\n")
    return int(not valid)


def _validate(arguments: argparse.Namespace) -> int:
    ids = [case.id for case in questions_of(arguments)]
    verdict = judge(arguments.validate, ids)
    valid = verdict.valid(allow_missing=arguments.allow_missing)
    sys.stdout.write("\n".join([f"{arguments.validate}: {verdict.counted()}.", *verdict.told()]) + "\n")
    sys.stdout.write("Valid: it can be handed in.\n" if valid else "Not valid.\n")
    return int(not valid)


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


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a file of results holds.

    Attributes:
        faults: one sentence each, by line; any makes the file invalid.
        missing: ids of questions without an answer, in their order.
        answered: questions with an answer.
    """

    faults: tuple[str, ...]
    missing: tuple[str, ...]
    answered: int

    def valid(self, *, allow_missing: bool) -> bool:
        """Whether the file can be handed in."""
        needed = NEEDED_RATIO if allow_missing else 1.0
        return not self.faults and self.answered >= needed * (self.answered + len(self.missing))

    def counted(self) -> str:
        """Say how many questions are answered."""
        return f"{self.answered} of {self.answered + len(self.missing)} questions are answered"

    def told(self) -> Iterator[str]:
        """Yield what is wrong with the file, a sentence each."""
        yield from self.faults
        if self.missing:
            shown = ", ".join(self.missing[:MISSING_SHOWN])
            more = f" and {len(self.missing) - MISSING_SHOWN} more" if len(self.missing) > MISSING_SHOWN else ""
            of = self.answered + len(self.missing)
            yield f"{len(self.missing)} of {of} questions have no answer: {shown}{more}."


def judge(path: Path, ids: Sequence[str]) -> Verdict:
    """Judge a file of results against the ids of all questions of the validation file."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise SubmissionError(f"{path} cannot be read: {error.strerror}.", "Name a result.jsonl.") from error
    if not content:
        return Verdict(("The file is empty.",), tuple(ids), 0)
    faults: list[str] = []
    lines: dict[str, int] = {}
    known = frozenset(ids)
    for number, line in enumerate(content.removesuffix(b"\n").split(b"\n"), start=1):
        if fault := _keep_id(line, number, lines, known):
            faults.append(f"Line {number} {fault}.")
    return Verdict(tuple(faults), tuple(id_ for id_ in ids if id_ not in lines), len(lines))


def _keep_id(line: bytes, number: int, lines: dict[str, int], ids: frozenset[str]) -> str | None:
    """Keep the number of a line by the id that it answers, or say what is wrong with it."""
    try:
        found: Any = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError:
        return "is not UTF-8"
    except (ValueError, RecursionError) as error:
        return "is blank" if not line.strip() else f"is not JSON ({why_no_json(error)})"
    if not isinstance(found, dict):
        return "is not a JSON object"
    query_id, response = found.get("query_id"), found.get("generated_response")
    if not isinstance(query_id, str):
        return "has no `query_id` that is a text"
    if query_id not in ids:
        return f"answers {query_id!r}, which is not a question of the validation file"
    if query_id in lines:
        return f"answers {query_id!r} a second time, after line {lines[query_id]}"
    if not isinstance(response, str):
        return f"answers {query_id!r} without a `generated_response` that is a text"
    if not response.strip():
        return f"answers {query_id!r} with nothing"
    lines[query_id] = number
    return None


def write(path: Path, answers: Mapping[str, str], ids: Sequence[str], *, allow_missing: bool) -> Verdict:
    """Write the answers in the order of the questions, if they can be handed in; a file that is there is replaced.

    The file is judged as it stands on disk before it gets its name, so a broken one never has it.

    Returns:
        What was judged. If that is not valid, nothing was written.
    """
    draft = path.with_name(f".{path.name}.part")
    # Escaped beyond ASCII: a reader that cuts at every Unicode line end must find one line an answer.
    lines = [json.dumps({"query_id": id_, "generated_response": answers[id_]}) for id_ in ids if id_ in answers]
    try:
        with draft.open("w", encoding="ascii") as file:
            file.writelines(line + "\n" for line in lines)
            file.flush()
            os.fsync(file.fileno())
        verdict = judge(draft, ids)
        if verdict.valid(allow_missing=allow_missing):
            os.replace(draft, path)
    except OSError as error:
        raise SubmissionError(f"{path} cannot be written: {error.strerror}.", "Make room, or name a folder.") from error
    finally:
        draft.unlink(missing_ok=True)
    return verdict
