"""`python -m eval convert SOURCE --to FORMAT --out PATH`: questions and runs in the formats of others, and back.

Flow: questions, or a run's folder -> **here** -> files of TREC or BrowseComp-Plus; a run of theirs and its questions ->
**here** -> a run's folder, which `score`, `compare` and `report` take as any other.

A run of BrowseComp-Plus is a folder with one `run_*.json` a question. Its topics, qrels and rankings are TREC's.
"""

import argparse
import hashlib
import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from errors import RagError
from eval.cases import BadCasesError, Case, Text, case_lines
from eval.metrics import distinct_docs
from eval.questions import trec
from eval.questions.formats import BROWSECOMP, OWN
from eval.questions.reading import TREC, add_question_arguments, documents_of, questions_of
from eval.rows import Row, Seen
from eval.run_folder import Header, RunFolder, replace_file
from settings import Settings

RUNS = "run_*.json"
DONE = "completed"
# A ranking has no answers, so nothing is asked of them.
RANKED_FIELDS = {"id", "question", "category", "relevance", "relevant_docs"}


class NotConvertedError(RagError):
    """The wish makes no sense, or a file cannot be written."""

    code = "not_converted"


class _Said(BaseModel):
    type: str
    output: Any = None


class _Run(BaseModel):
    query_id: Text
    status: str = ""
    retrieved_docids: tuple[str, ...] = ()
    result: tuple[_Said, ...] = ()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    add_question_arguments(parser, required=False)
    parser.add_argument(
        "--run", type=Path, metavar="PATH", help="a run's folder, a TREC run or BrowseComp-Plus's folder"
    )
    targets = (OWN.name, TREC, BROWSECOMP.name)
    parser.add_argument("--to", choices=targets, default=OWN.name, help="what to write (default: %(default)s)")
    parser.add_argument("--out", type=Path, required=True, metavar="PATH", help="file or folder")
    parser.add_argument(
        "--documents", type=Path, metavar="FILE", help="also write the documents that come with the questions"
    )


def run(arguments: argparse.Namespace, _settings: Settings) -> int:
    """Convert, and say what was written.

    Raises:
        NotConvertedError: something is missing, or cannot be written.
        BadCasesError: a file is not what it should be.
    """
    try:
        written = _run(arguments) if arguments.run else _questions(arguments)
    except OSError as error:
        raise NotConvertedError(
            f"{arguments.out} cannot be written: {error.strerror}.", "Name another path."
        ) from error
    sys.stdout.write(f"{arguments.out}: {written}\n")
    return 0


def _questions(arguments: argparse.Namespace) -> str:
    if arguments.questions is None:
        raise NotConvertedError("There is nothing to convert.", "Name questions, or a run by --run.")
    cases, out = questions_of(arguments), arguments.out
    if arguments.documents:
        rows = documents_of(arguments.questions, arguments.format).items()
        _write_lines(arguments.documents, [{"doc_id": name, "title": name, "text": text} for name, text in rows])
    if arguments.to == TREC:
        out.mkdir(parents=True, exist_ok=True)
        replace_file(out / trec.TOPICS, trec.topic_lines(cases))
        replace_file(out / trec.QRELS, trec.qrel_lines(cases))
    elif arguments.to == OWN.name:
        replace_file(out, case_lines(cases))
    else:
        _write_lines(out, [_browsecomp_question(case) for case in cases])
    return f"{len(cases)} questions"


def _run(arguments: argparse.Namespace) -> str:
    source = RunFolder(arguments.run)
    if not source.exists():
        if arguments.to != OWN.name or arguments.questions is None:
            raise NotConvertedError(
                f"{arguments.run} is a run of another system.", "Name its questions, and leave out --to."
            )
        return _foreign(arguments)
    rows = source.rows()
    documents = {name: [doc for doc in distinct_docs(row.passages) if doc] for name, row in rows.items()}
    if arguments.to == TREC:
        replace_file(arguments.out, trec.run_lines(documents))
    elif arguments.to == OWN.name:
        raise NotConvertedError(f"{arguments.run} is a run of Treeline already.", "Name another format by --to.")
    else:
        arguments.out.mkdir(parents=True, exist_ok=True)
        for name, row in rows.items():
            file = f"run_{hashlib.sha256(name.encode()).hexdigest()[:12]}.json"
            replace_file(arguments.out / file, json.dumps(_browsecomp_run(row, documents[name]), indent=2))
    return f"{len(rows)} replies"


def _foreign(arguments: argparse.Namespace) -> str:
    """Write a run of another system as a run's folder."""
    cases = questions_of(arguments)
    if arguments.run.is_dir():
        found = {row.id: row for row in _browsecomp_rows(arguments.run)}
    else:
        cases = tuple(Case(**case.model_dump(include=RANKED_FIELDS, exclude_unset=True)) for case in cases)
        rankings = trec.read_run(arguments.run)
        found = {name: Row(id=name, outcome="answered", answer="", passages=_seen(rankings[name])) for name in rankings}
    rows = [found[case.id] for case in cases if case.id in found]
    if not rows:
        raise BadCasesError(f"{arguments.run} answers none of the questions.", "Take both from the same data set.")
    folder = RunFolder(arguments.out)
    folder.create(Header.of(arguments.questions, arguments.run.name), cases)
    with folder.writing():
        for row in rows:
            folder.append_row(row)
    return f"{len(rows)} replies to {len(cases)} questions; score them: python -m eval score {arguments.out}"


def _browsecomp_question(case: Case) -> dict[str, Any]:
    """Return a question as a row of the decrypted file; texts of documents stay out."""
    grades = case.relevance or dict.fromkeys(case.relevant_docs, 2.0)
    gold = [{"docid": doc} for doc, grade in grades.items() if grade >= 2]
    documents = {"gold_docs": gold, "evidence_docs": [{"docid": doc} for doc in grades], "negative_docs": []}
    return {"query_id": case.id, "query": case.question, "answer": case.answer or "", **documents}


def _browsecomp_run(row: Row, documents: list[str]) -> dict[str, Any]:
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


def _browsecomp_rows(folder: Path) -> Iterator[Row]:
    paths = sorted(folder.glob(RUNS))
    if not paths:
        raise BadCasesError(f"{folder} holds no {RUNS}.", "Name a folder of BrowseComp-Plus runs.")
    for path in paths:
        try:
            run = _Run.model_validate_json(path.read_bytes())
        except (OSError, ValidationError) as error:
            raise BadCasesError(f"{path} is not a run of BrowseComp-Plus.", "It needs query_id and result.") from error
        said = [one.output for one in run.result if one.type == "output_text" and isinstance(one.output, str)]
        if run.status == DONE and said:
            about: dict[str, Any] = {"outcome": "answered", "answer": said[-1]}
        else:
            about = {"outcome": "failed", "answer": None, "reason": f"the run ended as {run.status or 'unknown'}"}
        yield Row(id=run.query_id, passages=_seen(run.retrieved_docids), **about)


def _seen(documents: Sequence[str]) -> tuple[Seen, ...]:
    return tuple(Seen(text="", doc_id=document) for document in documents)


def _write_lines(path: Path, rows: Sequence[object]) -> None:
    replace_file(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
