"""The arguments that name a command's questions.

Flow: `run`, `submit` and `rehearse` -> **here** -> `reading.py`.
"""

import argparse
from pathlib import Path

from eval.argument_types import whole_number
from eval.cases import Case
from eval.questions import beir, trec
from eval.questions.reading import NAMES, read_questions


def add_question_arguments(parser: argparse.ArgumentParser, *, limit: bool = True, required: bool = True) -> None:
    """Add `questions`, `--format`, `--split` and, for commands that may ask a part of them, `--limit`."""
    named = parser.add_mutually_exclusive_group(required=required)
    named.add_argument(
        "questions",
        type=Path,
        nargs="?",
        action=_Given,
        metavar="QUESTIONS",
        help="a file of questions, or a BEIR folder",
    )
    named.add_argument("--dataset", dest="questions", type=Path, metavar="QUESTIONS", help="the same")
    parser.add_argument("--format", choices=NAMES, help="of the questions (default: by their columns)")
    parser.add_argument("--split", help=f"of a BEIR folder (default: {beir.DEFAULT_SPLIT})")
    parser.add_argument("--qrels", type=Path, metavar="FILE", help="TREC's judgements: only judged questions are taken")
    parser.set_defaults(limit=None)
    if limit:
        parser.add_argument("--limit", type=whole_number, metavar="N", help="ask only the first N questions")


class _Given(argparse.Action):
    """Store what was given: where nothing was, argparse would put None over the value of `--dataset`."""

    def __call__(self, _parser: object, namespace: argparse.Namespace, value: object, _option: object = None) -> None:
        if value is not None:
            setattr(namespace, self.dest, value)


def questions_of(arguments: argparse.Namespace) -> tuple[Case, ...]:
    """Return the questions that the arguments name; see `read_questions`."""
    path, qrels = arguments.questions, arguments.qrels
    limit = None if qrels else arguments.limit
    cases = read_questions(path, format_name=arguments.format, split=arguments.split, limit=limit)
    return trec.with_qrels(cases, trec.read_qrels(qrels), qrels)[: arguments.limit] if qrels else cases
