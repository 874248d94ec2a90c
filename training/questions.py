"""Read questions to learn from: any format of `eval/questions`, or rows of `question`, `doc` and `quotes`.

Flow: a file -> **here** -> `Case`s -> `embedder.py`, `gate/`. The second form is that of `training/reader/data`: a
document's file name, and the verbatim passages that answer; none where it has no answer. Which documents are held out
to measure on is decided here, too.
"""

import hashlib
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from eval.cases import Case, Text
from eval.progress_bar import tell
from eval.questions.files import collect, records
from eval.questions.reading import read_questions

QUOTED = {"question", "doc", "quotes"}
HELD_OUT_PERCENT = 15


class _Quoted(BaseModel):
    model_config = ConfigDict(strict=True)

    question: Text
    doc: Text
    quotes: tuple[Text, ...]


def read_training_questions(path: Path) -> tuple[Case, ...]:
    """Return the questions of a file or of a BEIR folder.

    Raises:
        BadCasesError: there is nothing to read, it is in no known format, or a row of it is wrong: it is named.
    """
    if path.is_file() and (first := next(records(path), None)) and set(first.columns) >= QUOTED:
        rows = ((one.place, (number, one.json)) for number, one in enumerate(records(path), start=1))
        cases = collect(rows, _to_case, str(path), "It was read as rows of `question`, `doc` and `quotes`.")
        tell(f"{path.name}: {len(cases)} questions with quotes of their documents.")
        return cases
    return read_questions(path)


def _to_case(numbered: tuple[int, str]) -> Case:
    number, row_json = numbered
    row = _Quoted.model_validate_json(row_json)
    if not row.quotes:
        return Case(id=f"row-{number}", question=row.question, answer=None)
    return Case(
        id=f"row-{number}", question=row.question, relevant_docs=(row.doc,), reference_contexts=tuple(row.quotes)
    )


def is_held_out(name: str) -> bool:
    """Whether nothing is learnt from what has this name, e.g. the questions to one document."""
    return int(hashlib.md5(name.encode(), usedforsecurity=False).hexdigest(), 16) % 100 < HELD_OUT_PERCENT
