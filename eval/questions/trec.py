"""Questions whose documents are judged: BEIR's folders, and TREC's topics, qrels and runs, which are written too.

Flow: `reading.py`, `convert.py` -> **here**. TREC separates columns by blanks, so blanks in names are written as
`%20`; scores of a run are made from ranks, since only the order of passages means something.

A BEIR folder holds `queries.jsonl` and the judgements of each split, `qrels/SPLIT.tsv`. Only questions that the split
judges are taken, as BEIR does. The corpus is not read: `python -m ingestion corpus.jsonl` names each document by its
`_id`, which is what the judgements name. A file or line that is not what it should be raises BadCasesError.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from eval.cases import BadCasesError, Case, Text
from eval.questions.files import collect, records, text_lines

TAG = "treeline"
QRELS, TOPICS = "qrels.txt", "queries.tsv"
BEIR_QUERIES, BEIR_QRELS = ("queries.jsonl", "queries.jsonl.gz"), "qrels"
DEFAULT_SPLIT = "test"

Judged = dict[str, dict[str, float]]


class Layout(NamedTuple):
    """The columns of a question, a document and a number; `between` separates columns, blanks do if it is None."""

    between: str | None
    columns: int
    places: tuple[int, int, int]
    kind: str
    needed: str


_QREL = Layout(None, 4, (0, 2, 3), "a judgement", "4 columns, the last a number")
_RUN = Layout(None, 6, (0, 2, 4), "a run's line", "6 columns, the 5th a number")
_BEIR = Layout("\t", 3, (0, 1, 2), "a judgement", "3 columns between tabs, the last a number")


class _Query(BaseModel):
    model_config = ConfigDict(strict=True)

    id: Text = Field(alias="_id")
    text: Text


def read_topics(path: Path) -> tuple[Case, ...]:
    """Return the questions of a file of lines `id TAB question`."""

    def to_case(line: str) -> Case:
        name, _, question = line.partition("\t")
        return Case(id=name, question=question)

    return collect(text_lines(path), to_case, str(path), "A topic is an id and a question with a tab between.")


def read_qrels(path: Path, layout: Layout = _QREL, *, header: bool = False) -> Judged:
    """Return for each judged question the grade of each relevant document; grades below 1 say "not relevant"."""
    judged: Judged = {}
    for question, document, grade in _numbered(path, layout, header=header):
        judged.setdefault(question, {}).update({document: grade} if grade > 0 else {})
    return judged


def with_qrels(cases: Iterable[Case], judged: Judged, path: Path) -> tuple[Case, ...]:
    """Return the judged questions with their grades, as trec_eval averages only over those."""
    found = tuple(case.model_copy(update={"relevance": judged[case.id]}) for case in cases if judged.get(case.id))
    if not found:
        raise BadCasesError(f"{path} judges none of the questions.", "Take both from the same data set.")
    return found


def read_run(path: Path) -> dict[str, list[str]]:
    """Return for each question its documents, best first: by score, as trec_eval ranks them."""
    ranked: dict[str, list[str]] = {}
    for question, document, _ in sorted(_numbered(path, _RUN), key=lambda line: -line[2]):
        ranked.setdefault(question, []).append(document)
    return ranked


def read_beir(folder: Path, split: str) -> tuple[Case, ...]:
    """Return the questions that a split judges, in the order of `queries.jsonl`."""
    queries = next((folder / name for name in BEIR_QUERIES if (folder / name).is_file()), None)
    if queries is None or not (folder / BEIR_QRELS).is_dir():
        lacks = BEIR_QUERIES[0] if queries is None else f"{BEIR_QRELS}/"
        files = sorted(path for pattern in ("*.jsonl*", "*.csv*") for path in folder.glob(pattern) if path.is_file())
        raise BadCasesError(
            f"The folder {folder} is not a BEIR folder: it has no {lacks}.",
            "Name a folder with queries.jsonl and qrels/test.tsv, or a file of questions"
            f"{f', e.g. {files[0]}' if files else ''}.",
        )
    judgements = folder / BEIR_QRELS / f"{split}.tsv"
    if not judgements.is_file():
        there = ", ".join(sorted(found.stem for found in judgements.parent.glob("*.tsv"))) or "none"
        raise BadCasesError(f"There is no split {split!r}: {judgements}.", f"Choose by --split; there are: {there}.")
    judged = read_qrels(judgements, _BEIR, header=True)
    if not judged:
        raise BadCasesError(f"{judgements} holds no judgement.", "Choose another split by --split.")

    def to_case(row_json: str) -> Case | None:
        query = _Query.model_validate_json(row_json)
        return Case(id=query.id, question=query.text, relevance=judged[query.id]) if query.id in judged else None

    rows = ((record.place, record.json) for record in records(queries))
    cases = collect(rows, to_case, str(queries), "A query is a JSON object with `_id` and `text`.")
    if missing := judged.keys() - {case.id for case in cases}:
        fact = f"{judgements} judges {len(missing)} queries that are not in {queries.name}: {min(missing)!r}."
        raise BadCasesError(fact, "Take both from the same data set.")
    return cases


def topic_lines(cases: Iterable[Case]) -> str:
    """Return questions as topics."""
    return "".join(f"{_name(case.id)}\t{' '.join(case.question.split())}\n" for case in cases)


def qrel_lines(cases: Iterable[Case]) -> str:
    """Return what is relevant to questions as qrels; documents without a grade have 1."""
    graded = ((case.id, case.relevance or dict.fromkeys(case.relevant_docs, 1)) for case in cases)
    return "".join(f"{_name(id_)} 0 {_name(doc)} {grade:g}\n" for id_, docs in graded for doc, grade in docs.items())


def run_lines(rankings: Mapping[str, Sequence[str]]) -> str:
    """Return each question's documents, best first, as a run."""
    return "".join(
        f"{_name(id_)} Q0 {_name(document)} {rank} {len(documents) + 1 - rank} {TAG}\n"
        for id_, documents in rankings.items()
        for rank, document in enumerate(documents, start=1)
    )


def _name(text: str) -> str:
    return "%20".join(text.split())


def _numbered(path: Path, layout: Layout, *, header: bool = False) -> Iterator[tuple[str, str, float]]:
    """Yield question, document and number of each line; the first one may be a `header` that names the columns."""
    for place, line in text_lines(path):
        columns = [column.strip() for column in line.split(layout.between)]
        question, document, number = (columns[at] if at < len(columns) else "" for at in layout.places)
        value = _finite(number)
        if len(columns) == layout.columns and all(columns) and value is not None:
            yield question, document, value
        elif not header:
            raise BadCasesError(f"{place} is not {layout.kind}: {line[:80]!r}.", f"It needs {layout.needed}.")
        header = False


def _finite(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
