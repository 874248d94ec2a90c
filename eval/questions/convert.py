"""`python -m eval convert SOURCE --to FORMAT --out PATH`: questions and runs in the formats of others, and back.

Flow: questions, or a run's folder -> **here** -> files of TREC or BrowseComp-Plus; a run of theirs and its questions ->
**here** -> a run's folder, which `score`, `compare` and `report` take as any other.
"""

import argparse
import hashlib
import json
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from errors import RagError
from eval.cases import BadCasesError, Case, case_lines
from eval.metrics import distinct_docs
from eval.questions import browsecomp, trec
from eval.questions.arguments import add_question_arguments, questions_of
from eval.questions.own import OWN
from eval.questions.reading import documents_of
from eval.rows import Row, Seen
from eval.run_folder import Header, RunFolder, replace_file
from settings import Settings

TARGETS = (OWN.name, trec.NAME, browsecomp.BROWSECOMP.name)


class NotConvertedError(RagError):
    """The wish makes no sense, or a file cannot be written."""

    code = "not_converted"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    add_question_arguments(parser, required=False)
    parser.add_argument(
        "--run", type=Path, metavar="PATH", help="a run's folder, a TREC run or BrowseComp-Plus's folder"
    )
    parser.add_argument("--to", choices=TARGETS, default=OWN.name, help="what to write (default: %(default)s)")
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
        rows = documents_of(arguments.questions, arguments.format)
        _write_lines(arguments.documents, [{"doc_id": name, "title": name, "text": text} for name, text in rows])
    if arguments.to == trec.NAME:
        out.mkdir(parents=True, exist_ok=True)
        replace_file(out / trec.TOPICS, trec.topic_lines(cases))
        replace_file(out / trec.QRELS, trec.qrel_lines(cases))
    elif arguments.to == OWN.name:
        replace_file(out, case_lines(cases))
    else:
        _write_lines(out, [browsecomp.question_row(case) for case in cases])
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
    if arguments.to == trec.NAME:
        replace_file(arguments.out, trec.run_lines(documents))
    elif arguments.to == OWN.name:
        raise NotConvertedError(f"{arguments.run} is a run of Treeline already.", "Name another format by --to.")
    else:
        arguments.out.mkdir(parents=True, exist_ok=True)
        for name, row in rows.items():
            file = f"run_{hashlib.sha256(name.encode()).hexdigest()[:12]}.json"
            replace_file(arguments.out / file, json.dumps(browsecomp.run_row(row, documents[name]), indent=2))
    return f"{len(rows)} replies"


def _foreign(arguments: argparse.Namespace) -> str:
    """Write a run of another system as a run's folder."""
    cases = questions_of(arguments)
    if arguments.run.is_dir():
        found = {row.id: row for row in browsecomp.read_runs(arguments.run)}
    else:
        # It has no answers, so nothing is asked of them.
        cases = tuple(_ranking_only(case) for case in cases)
        found = {name: _ranked(name, ranking) for name, ranking in trec.read_run(arguments.run).items()}
    rows = [found[case.id] for case in cases if case.id in found]
    if not rows:
        raise BadCasesError(f"{arguments.run} answers none of the questions.", "Take both from the same data set.")
    folder = RunFolder(arguments.out)
    digest = hashlib.sha256(arguments.questions.read_bytes()).hexdigest() if arguments.questions.is_file() else ""
    started = datetime.now(UTC).isoformat(timespec="seconds")
    header = Header(
        started=started, questions=arguments.questions.name, questions_sha256=digest, target=arguments.run.name
    )
    folder.create(header, tuple(cases))
    with folder.writing():
        for row in rows:
            folder.append_row(row)
    return f"{len(rows)} replies to {len(cases)} questions; score them: python -m eval score {arguments.out}"


def _ranking_only(case: Case) -> Case:
    kept = case.model_dump(include={"id", "question", "category", "relevance", "relevant_docs"}, exclude_unset=True)
    return Case(**kept)


def _ranked(name: str, ranking: Sequence[str]) -> Row:
    passages = tuple(Seen(text="", doc_id=document) for document in ranking)
    return Row(id=name, outcome="answered", answer="", passages=passages)


def _write_lines(path: Path, rows: Sequence[object]) -> None:
    replace_file(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
