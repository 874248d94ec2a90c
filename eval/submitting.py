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
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from errors import RagError
from eval.asking.command import add_asking_arguments, ask_questions, folder_of
from eval.asking.target import QUOTING
from eval.questions.files import first_fault
from eval.questions.reading import add_question_arguments, questions_of
from eval.rows import Row
from eval.run_folder import refused_by_disk, replace_file
from settings import Settings

RESULT = "result.jsonl"
NEEDED_RATIO = 0.8
MISSING_SHOWN = 5
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
        help=f"accept answers to {NEEDED_RATIO * 100:.0f} %% of the questions, as the organisers do",
    )


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Ask what has no answer yet and write the file, or judge one; 1 if it cannot be handed in."""
    result: Path | None = arguments.validate
    if result:
        verdict = judge(_read(result), [case.id for case in questions_of(arguments)])
        valid = verdict.valid(allow_missing=arguments.allow_missing)
        lines = [f"{result}: {verdict.counted()}.", *verdict.told()]
        lines.append("Valid: it can be handed in." if valid else "Not valid.")
    else:
        folder = folder_of(arguments, settings)
        cases = questions_of(arguments)
        with folder.writing():
            ask_questions(arguments, settings, folder, cases)
            rows, ids = folder.rows(), [case.id for case in cases]
            verdict, lines = write(folder.path / RESULT, rows, ids, allow_missing=arguments.allow_missing)
        valid = verdict.valid(allow_missing=arguments.allow_missing)
        if not valid:
            lines += _why(rows, verdict.missing)
            lines.append("The same command asks again what failed; --allow-missing accepts answers to 80 %.")
    sys.stdout.write("\n".join(lines) + "\n")
    return int(not valid)


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


class _Result(BaseModel):
    model_config = ConfigDict(strict=True)

    query_id: str
    generated_response: str


def judge(content: bytes, ids: Sequence[str]) -> Verdict:
    """Judge a file of results against the ids of all questions of the validation file."""
    if not content:
        return Verdict(("The file is empty.",), tuple(ids), 0)
    known, faults, lines = frozenset(ids), list[str](), dict[str, int]()
    for number, line in enumerate(content.removesuffix(b"\n").split(b"\n"), start=1):
        try:
            result = _Result.model_validate_json(line)
        except ValidationError as error:
            faults.append(f"Line {number} is {f'not a result ({first_fault(error)})' if line.strip() else 'blank'}.")
            continue
        answers = f"Line {number} answers {result.query_id!r}"
        if result.query_id not in known:
            faults.append(f"{answers}, which is not a question of the validation file.")
        elif result.query_id in lines:
            faults.append(f"{answers} a second time, after line {lines[result.query_id]}.")
        elif not result.generated_response.strip():
            faults.append(f"{answers} with nothing.")
        else:
            lines[result.query_id] = number
    return Verdict(tuple(faults), tuple(id_ for id_ in ids if id_ not in lines), len(lines))


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise RagError(f"{path} cannot be read: {error.strerror}.", "Name a result.jsonl.", "bad_submission") from error


def write(path: Path, rows: Mapping[str, Row], ids: Sequence[str], *, allow_missing: bool) -> tuple[Verdict, list[str]]:
    """Write the answers in the order of the questions, if they can be handed in; a file that is there is replaced.

    Returns:
        What was judged, and what a person should know of it before it is handed in. If it is not valid, nothing was
        written.
    """
    answered = [row for id_ in ids if (row := rows.get(id_)) and row.answer and row.answer.strip()]
    # Escaped beyond ASCII: a reader that cuts at every Unicode line end must find one line an answer.
    results = ({"query_id": row.id, "generated_response": row.answer} for row in answered)
    text = "".join(json.dumps(result) + "\n" for result in results)
    verdict = judge(text.encode(), ids)
    if not verdict.valid(allow_missing=allow_missing):
        return verdict, [f"{path} is not written.", *verdict.told()]
    with refused_by_disk(path, "Make room, or name a folder.", "bad_submission"):
        replace_file(path, text)
    return verdict, [f"{path}: {verdict.counted()}.", *verdict.told(), *_about(answered)]


def _about(answered: Sequence[Row]) -> Iterator[str]:
    chars = sorted(len(row.answer or "") for row in answered)
    yield f"Answers of {chars[0]:,} to {chars[-1]:,} characters, median {statistics.median(chars):,.0f}."
    if declined := [row.id for row in answered if row.outcome == "declined"]:
        many = "warning: " if len(declined) > len(answered) / 2 else ""
        yield f"{many}{len(declined)} of them say that the answer is not known, e.g. {declined[0]}."
    if quoted := [row.id for row in answered if row.synthesizer == QUOTING]:
        yield (
            f"warning: {len(quoted)} answers are quotes that no language model wrote, e.g. {quoted[0]}; the "
            "competition wants generated ones. `submit --require-llm` accepts nothing else."
        )


def _why(rows: Mapping[str, Row], missing: Sequence[str]) -> Iterator[str]:
    for id_ in missing[:REASONS_SHOWN]:
        row = rows.get(id_)
        yield f"  {id_}: {'it was not asked.' if row is None else row.reason or 'the reply holds no text.'}"
