"""Read and write BrowseComp-Plus's files: decrypted questions, and folders of runs, one `run_*.json` a question.

Flow: a row -> **here** -> a `Case`; `convert.py` -> **here** -> rows of a run, and back. `docid` names documents:
those that hold the answer are graded 2, others that are needed to find it 1. Topics, qrels and rankings are TREC's.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from eval.cases import BadCasesError, Case, Text
from eval.questions.formats import Format, known
from eval.rows import Row, Seen

RUNS = "run_*.json"
DONE = "completed"


class _Document(BaseModel):
    docid: Text


class _Question(BaseModel):
    query_id: Text
    query: Text
    answer: str | None = None
    gold_docs: tuple[_Document, ...] = ()
    evidence_docs: tuple[_Document, ...] = ()


class _Said(BaseModel):
    type: str
    output: Any = None


class _Run(BaseModel):
    query_id: Text
    status: str = ""
    retrieved_docids: tuple[str, ...] = ()
    result: tuple[_Said, ...] = ()


def _to_case(row_json: str, _number: int) -> Case:
    row = _Question.model_validate_json(row_json)
    grades = {one.docid: 1.0 for one in row.evidence_docs} | {one.docid: 2.0 for one in row.gold_docs}
    return Case(id=row.query_id, question=row.query, **known(answer=row.answer, relevance=grades))


BROWSECOMP = Format(
    "browsecomp-plus",
    "questions of BrowseComp-Plus",
    frozenset({"query_id", "query"}),
    frozenset(_Question.model_fields) | {"negative_docs"},
    _to_case,
)


def question_row(case: Case) -> dict[str, Any]:
    """Return a question as a row of the decrypted file; texts of documents stay out."""
    grades = case.relevance or dict.fromkeys(case.relevant_docs, 2.0)
    gold = [{"docid": doc} for doc, grade in grades.items() if grade >= 2]
    documents = {"gold_docs": gold, "evidence_docs": [{"docid": doc} for doc in grades], "negative_docs": []}
    return {"query_id": case.id, "query": case.question, "answer": case.answer or "", **documents}


def read_runs(folder: Path) -> Iterator[Row]:
    """Yield a row for each question of a folder of runs.

    Raises:
        BadCasesError: there is none, or a file is not a run.
    """
    paths = sorted(folder.glob(RUNS))
    if not paths:
        raise BadCasesError(f"{folder} holds no {RUNS}.", "Name a folder of BrowseComp-Plus runs.")
    for path in paths:
        try:
            run = _Run.model_validate_json(path.read_bytes())
        except (OSError, ValidationError) as error:
            raise BadCasesError(f"{path} is not a run of BrowseComp-Plus.", "It needs query_id and result.") from error
        said = [one.output for one in run.result if one.type == "output_text" and isinstance(one.output, str)]
        ended = run.status == DONE and bool(said)
        seen = tuple(Seen(text="", doc_id=docid) for docid in run.retrieved_docids)
        reason = None if ended else f"the run ended as {run.status or 'unknown'}"
        answer = said[-1] if ended else None
        yield Row(
            id=run.query_id, outcome="answered" if ended else "failed", answer=answer, reason=reason, passages=seen
        )


def run_row(row: Row, documents: list[str]) -> dict[str, Any]:
    """Return a reply as a run, its marks naming documents, as BrowseComp-Plus's scorer reads them."""
    cited = {str(quote.number): quote.doc_id for quote in row.citations}
    answer = re.sub(r"\[(\d+)\]", lambda mark: f"[{cited.get(mark[1]) or mark[1]}]", row.answer or "")
    said = [{"type": "output_text", "tool_name": None, "arguments": None, "output": answer}]
    return {
        "metadata": {"model": row.synthesizer},
        "query_id": row.id,
        "tool_call_counts": {},
        "status": "failed" if row.outcome == "failed" else DONE,
        "retrieved_docids": documents,
        "result": said if answer else [],
    }
