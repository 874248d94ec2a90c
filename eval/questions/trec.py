"""Read and write TREC's files: topics (`id TAB question`), qrels (4 columns) and runs (6 columns).

Flow: `arguments.py`, `convert.py` -> **here**. Columns are parted by blanks, so blanks in names are written as
`%20`; scores of a run are made from ranks, since only the order of passages means something.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from eval.cases import BadCasesError, Case, collect
from eval.questions.files import text_lines

NAME, TITLE = "trec", "TREC topics"
TAG = "treeline"
QRELS, TOPICS = "qrels.txt", "queries.tsv"


def read_topics(path: Path) -> tuple[Case, ...]:
    """Return the questions of a file of lines `id TAB question`.

    Raises:
        BadCasesError: the file cannot be read, or a line has no tab.
    """

    def to_case(line: str, _number: int) -> Case:
        name, _, question = line.partition("\t")
        return Case(id=name, question=question)

    return collect(text_lines(path), to_case, str(path), "A topic is an id and a question with a tab between.")


def read_qrels(path: Path) -> dict[str, dict[str, float]]:
    """Return for each question the grade of each relevant document; grades below 1 say "not relevant".

    Raises:
        BadCasesError: the file cannot be read, or a line is not a judgement.
    """
    judged: dict[str, dict[str, float]] = {}
    for place, line in text_lines(path):
        question, _, document, grade = _columns(place, line, 4)
        grades = judged.setdefault(question, {})
        if (value := _number(place, grade)) > 0:
            grades[document] = value
    return judged


def with_qrels(cases: Iterable[Case], judged: Mapping[str, Mapping[str, float]], path: Path) -> tuple[Case, ...]:
    """Return the judged questions with their grades, as trec_eval averages only over those.

    Raises:
        BadCasesError: none is judged.
    """
    found = tuple(case.model_copy(update={"relevance": dict(judged[case.id])}) for case in cases if judged.get(case.id))
    if not found:
        raise BadCasesError(f"{path} judges none of the questions.", "Take both from the same data set.")
    return found


def read_run(path: Path) -> dict[str, list[str]]:
    """Return for each question its documents, best first: by score, as trec_eval ranks them.

    Raises:
        BadCasesError: the file cannot be read, or a line is not one of a run.
    """
    scored: dict[str, list[tuple[float, str]]] = {}
    for place, line in text_lines(path):
        question, _, document, _, score, _ = _columns(place, line, 6)
        scored.setdefault(question, []).append((_number(place, score), document))
    ranked = {question: sorted(found, key=lambda one: -one[0]) for question, found in scored.items()}
    return {question: [document for _, document in found] for question, found in ranked.items()}


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


def _columns(place: str, line: str, count: int) -> list[str]:
    columns = line.split()
    if len(columns) != count:
        raise BadCasesError(
            f"{place} has {len(columns)} columns: {line[:80]!r}.", f"It needs {count}, as TREC's files."
        )
    return columns


def _number(place: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise BadCasesError(f"{place} has {text!r} in place of a number.", "Correct the line.")
    return value
