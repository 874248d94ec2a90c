"""Read the questions of a BEIR folder: `queries.jsonl` and the judgements of one split, `qrels/SPLIT.tsv`.

Flow: a folder -> **here** -> `Case`s with graded relevance. Only questions that the split judges are taken, as BEIR
does. Grades below 1 say "not relevant" and are left out. The corpus is not read: `python -m ingestion corpus.jsonl`
names each document by its `_id`, which is what the judgements name.
"""

import math
from itertools import islice
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from eval.cases import BadCasesError, Case, Text, collect
from eval.questions.files import records, text_lines

QUERIES, JUDGEMENTS = ("queries.jsonl", "queries.jsonl.gz"), "qrels"
DEFAULT_SPLIT = "test"
NAME, TITLE = "beir", "BEIR"

Judged = dict[str, dict[str, float]]


class _Query(BaseModel):
    model_config = ConfigDict(strict=True)

    id: Text = Field(alias="_id")
    text: Text


def read_beir(folder: Path, split: str | None = None, limit: int | None = None) -> tuple[Case, ...]:
    """Return the questions that a split judges, in the order of `queries.jsonl`.

    Args:
        folder: holds the queries and `qrels/`.
        split: `test` if None.
        limit: take only the first.

    Raises:
        BadCasesError: the folder is no BEIR folder, has no such split, or a line of its files is wrong.
    """
    queries = next((folder / name for name in QUERIES if (folder / name).is_file()), None)
    if queries is None or not (folder / JUDGEMENTS).is_dir():
        lacks = QUERIES[0] if queries is None else f"{JUDGEMENTS}/"
        fact = f"The folder {folder} is no BEIR folder: it has no {lacks}."
        remedy = "Name a folder with queries.jsonl and qrels/test.tsv, or a file of questions"
        raise BadCasesError(fact, f"{remedy}{_files_in(folder)}.")
    judged = _judgements(_split_file(folder / JUDGEMENTS, split))

    def to_case(row_json: str, _number: int) -> Case | None:
        query = _Query.model_validate_json(row_json)
        grades = judged.get(query.id)
        return None if grades is None else Case(id=query.id, question=query.text, relevance=grades)

    rows = ((record.place, record.json) for record in records(queries))
    cases = collect(rows, to_case, str(queries), "A query is a JSON object with `_id` and `text`.")
    if missing := judged.keys() - {case.id for case in cases}:
        fact = f"{folder / JUDGEMENTS} judges {len(missing)} queries that are not in {queries.name}: {min(missing)!r}."
        raise BadCasesError(fact, "Take both from the same data set.")
    return tuple(islice(cases, limit))


def _files_in(folder: Path) -> str:
    found = sorted(path for pattern in ("*.jsonl*", "*.csv*") for path in folder.glob(pattern) if path.is_file())
    return f", e.g. {found[0]}" if found else ""


def _split_file(folder: Path, split: str | None) -> Path:
    path = folder / f"{split or DEFAULT_SPLIT}.tsv"
    if not path.is_file():
        there = ", ".join(sorted(found.stem for found in folder.glob("*.tsv"))) or "none"
        raise BadCasesError(f"There is no split {path.stem!r}: {path}.", f"Choose one by --split; there are: {there}.")
    return path


def _judgements(path: Path) -> Judged:
    judged: Judged = {}
    for number, (place, line) in enumerate(text_lines(path)):
        cells = line.split("\t")
        grade = _grade(cells)
        if grade is not None:
            grades = judged.setdefault(cells[0], {})
            if grade > 0:
                grades[cells[1]] = grade
        elif number > 0:  # the first line names the columns
            fact = f"{place} is not a judgement: {line[:80]!r}."
            raise BadCasesError(fact, "A judgement is a query's id, a document's id and a grade, between tabs.")
    if not judged:
        raise BadCasesError(f"{path} holds no judgement.", "Choose another split by --split.")
    return judged


def _grade(cells: list[str]) -> float | None:
    try:
        query, document, grade = cells[0].strip(), cells[1].strip(), float(cells[2])
    except (ValueError, IndexError):
        return None
    return grade if query and document and len(cells) == 3 and math.isfinite(grade) else None
