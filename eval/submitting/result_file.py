"""Write `result.jsonl` as the competition's organisers want it, and judge one by their rules.

Flow: the rows of a run -> **here** -> `result.jsonl`; a file -> **here** -> what is wrong with it.

One JSON object a line with `query_id` and `generated_response`; other keys are allowed. One empty answer or one id
twice makes the whole file invalid. The organisers take a file from 80 % of the questions on; here each has to be
there, unless missing ones are allowed.
"""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from errors import RagError
from eval.questions.files import why_no_json

NEEDED_RATIO = 0.8
MISSING_SHOWN = 5


class SubmissionError(RagError):
    """A file of results cannot be read, or none can be written."""

    code = "bad_submission"


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

    def missing_sentence(self) -> str:
        """Say which questions have no answer."""
        of = self.answered + len(self.missing)
        shown = ", ".join(self.missing[:MISSING_SHOWN])
        more = f" and {len(self.missing) - MISSING_SHOWN} more" if len(self.missing) > MISSING_SHOWN else ""
        return f"{len(self.missing)} of {of} questions have no answer: {shown}{more}."


def judge(path: Path, ids: Sequence[str]) -> Verdict:
    """Judge a file of results.

    Args:
        path: of the file.
        ids: of all questions of the validation file.

    Raises:
        SubmissionError: the file cannot be read.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise SubmissionError(f"{path} cannot be read: {error.strerror}.", "Name a result.jsonl.") from error
    faults: list[str] = []
    answered: dict[str, int] = {}
    known = frozenset(ids)
    for number, line in enumerate(content.removesuffix(b"\n").split(b"\n") if content else [], start=1):
        query_id, fault = _judged(line, answered, known)
        if fault is not None:
            faults.append(f"Line {number} {fault}.")
        elif query_id is not None:
            answered[query_id] = number
    if not content:
        faults = ["The file is empty."]
    missing = tuple(id_ for id_ in ids if id_ not in answered)
    return Verdict(tuple(faults), missing, len(answered))


def _judged(line: bytes, seen: Mapping[str, int], ids: frozenset[str]) -> tuple[str | None, str | None]:
    """Return the id of a line, or what is wrong with it."""
    try:
        found: Any = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError:
        return None, "is no UTF-8"
    except (ValueError, RecursionError) as error:
        return None, "is blank" if not line.strip() else f"is no JSON ({why_no_json(error)})"
    if not isinstance(found, dict):
        return None, "is no JSON object"
    query_id, response = found.get("query_id"), found.get("generated_response")
    if not isinstance(query_id, str):
        return None, "has no `query_id` that is a text"
    if query_id not in ids:
        return None, f"answers {query_id!r}, which is not a question of the validation file"
    if query_id in seen:
        return None, f"answers {query_id!r} a second time, after line {seen[query_id]}"
    if not isinstance(response, str):
        return None, f"answers {query_id!r} without a `generated_response` that is a text"
    return (query_id, None) if response.strip() else (None, f"answers {query_id!r} with nothing")


def write(path: Path, answers: Mapping[str, str], ids: Sequence[str], *, allow_missing: bool) -> Verdict:
    """Write the answers in the order of the questions, if they can be handed in; a file that is there is replaced.

    The file is judged as it stands on disk before it gets its name, so a broken one never has it.

    Args:
        path: `result.jsonl`.
        answers: id -> answer.
        ids: of all questions.
        allow_missing: write from 80 % of the questions on.

    Returns:
        What was judged. If that is not valid, nothing was written.

    Raises:
        SubmissionError: the disk does not take the file.
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
