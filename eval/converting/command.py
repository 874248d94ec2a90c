"""`python -m eval convert SOURCE --to FORMAT --out PATH`: questions and runs in the formats of others, and back.

Flow: questions, or a run's folder -> **here** -> files of others; a run of TREC and its questions -> **here** -> a
run's folder, which `score`, `compare` and `report` take as any other. `OF_RUNS` names the formats of runs.
"""

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from errors import RagError
from eval.cases import BadCasesError, Case, case_lines
from eval.converting.inspect_log import log_json
from eval.converting.trec_rag import answer_lines
from eval.metrics import distinct_docs
from eval.questions import trec
from eval.questions.formats import OWN
from eval.questions.reading import TREC, add_question_arguments, documents_of, questions_of
from eval.rows import Row, Seen
from eval.run_folder import Header, RunFolder, refused_by_disk, replace_file
from settings import Settings

# A ranking has no answers, so nothing is asked of them.
RANKED_FIELDS = {"id", "question", "category", "relevance", "relevant_docs"}


def _rankings(folder: RunFolder) -> str:
    return trec.run_lines(
        {name: [doc for doc in distinct_docs(row.passages) if doc] for name, row in folder.rows().items()}
    )


OF_RUNS: Mapping[str, Callable[[RunFolder], str]] = {TREC: _rankings, "inspect": log_json, "autojudge": answer_lines}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    add_question_arguments(parser, required=False)
    parser.add_argument("--run", type=Path, metavar="PATH", help="a run's folder, or a TREC run")
    parser.add_argument(
        "--to",
        choices=(OWN.name, *OF_RUNS),
        default=OWN.name,
        help=f"what to write: questions as {OWN.name} or {TREC}, a run as any other (default: %(default)s)",
    )
    parser.add_argument("--out", type=Path, required=True, metavar="PATH", help="file or folder")
    parser.add_argument(
        "--documents", type=Path, metavar="FILE", help="also write the documents that come with the questions"
    )


def run(arguments: argparse.Namespace, _settings: Settings) -> int:
    """Convert, and say what was written.

    Raises:
        RagError: something is missing, or cannot be written.
        BadCasesError: a file is not what it should be.
    """
    with refused_by_disk(arguments.out, "Name another path.", "not_converted"):
        written = _run(arguments) if arguments.run else _questions(arguments)
    sys.stdout.write(f"{arguments.out}: {written}\n")
    return 0


def _questions(arguments: argparse.Namespace) -> str:
    if arguments.questions is None:
        raise RagError("There is nothing to convert.", "Name questions, or a run by --run.", "not_converted")
    if arguments.to not in (OWN.name, TREC):
        raise RagError(f"Questions are not written as {arguments.to}.", "Name a run by --run.", "not_converted")
    cases, out = questions_of(arguments), arguments.out
    if arguments.documents:
        rows = documents_of(arguments.questions, arguments.format).items()
        _write_lines(arguments.documents, [{"doc_id": name, "title": name, "text": text} for name, text in rows])
    if arguments.to == TREC:
        out.mkdir(parents=True, exist_ok=True)
        replace_file(out / trec.TOPICS, trec.topic_lines(cases))
        replace_file(out / trec.QRELS, trec.qrel_lines(cases))
    else:
        replace_file(out, case_lines(cases))
    return f"{len(cases)} questions"


def _run(arguments: argparse.Namespace) -> str:
    source = RunFolder(arguments.run)
    if not source.exists():
        if arguments.to != OWN.name or arguments.questions is None:
            raise RagError(
                f"{arguments.run} is a run of another system.",
                "Name its questions, and leave out --to.",
                "not_converted",
            )
        return _foreign(arguments)
    if arguments.to == OWN.name:
        remedy = f"Give --to {', '.join(OF_RUNS)}."
        raise RagError(f"{arguments.run} is a run of Treeline already.", remedy, "not_converted")
    replace_file(arguments.out, OF_RUNS[arguments.to](source))
    return f"{len(source.rows())} replies"


def _foreign(arguments: argparse.Namespace) -> str:
    """Write a TREC run as a run's folder."""
    asked = questions_of(arguments)
    cases = tuple(Case(**case.model_dump(include=RANKED_FIELDS, exclude_unset=True)) for case in asked)
    ranked = trec.read_run(arguments.run)
    rows = [
        Row(id=case.id, outcome="answered", answer="", passages=_seen(ranked[case.id]))
        for case in cases
        if case.id in ranked
    ]
    if not rows:
        raise BadCasesError(f"{arguments.run} answers none of the questions.", "Take both from the same data set.")
    folder = RunFolder(arguments.out)
    folder.create(Header.of(arguments.questions, arguments.run.name), cases)
    with folder.writing():
        for row in rows:
            folder.append_row(row)
    return f"{len(rows)} replies to {len(cases)} questions; score them: python -m eval score {arguments.out}"


def _seen(documents: Sequence[str]) -> tuple[Seen, ...]:
    return tuple(Seen(text="", doc_id=document) for document in documents)


def _write_lines(path: Path, rows: Sequence[object]) -> None:
    replace_file(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
