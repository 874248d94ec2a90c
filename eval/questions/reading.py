"""Read a file or folder of questions in any of the known formats.

Flow: a path, or a command's arguments -> **here** -> a format of this package -> `Case`s, and one line that says what
was read.

The format is recognised by content: a folder is BEIR's, a JSON file's first key or a table's columns name its own, and
lines `id TAB question` are TREC's topics. `--format` overrules that.
"""

import argparse
import re
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

from eval.argument_types import whole_number
from eval.cases import BadCasesError, Case
from eval.progress_bar import tell
from eval.questions import trec
from eval.questions.files import Record, beginning, check_whole, collect, records
from eval.questions.formats import FORMATS, Format
from eval.questions.squad import FIRST_KEYS, read_squad
from eval.tables import counted

TREC, BEIR, SQUAD = "trec", "beir", "squad"
NAMES = (*(format_.name for format_ in FORMATS), BEIR, TREC, SQUAD)
SHOWN_COLUMNS, SHOWN_CHARS = 12, 40

Read = tuple[tuple[Case, ...], str, set[str]]
"""The questions, the title of their format, and the columns that are of no use here."""


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
    parser.add_argument("--split", help=f"of a BEIR folder (default: {trec.DEFAULT_SPLIT})")
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


def read_questions(
    path: Path,
    *,
    format_name: str | None = None,
    split: str | None = None,
    limit: int | None = None,
) -> tuple[Case, ...]:
    """Return the questions at a path, in their order; stderr tells what was read, and which columns are not used.

    Args:
        path: a file (JSON lines or CSV, also packed by gzip or bzip2), or a BEIR folder.
        format_name: one of `NAMES`; None takes it from the content.
        split: of a BEIR folder; `test` if None.
        limit: read this many at most.

    Raises:
        BadCasesError: there is nothing to read, it is in no known format, or a row of it is wrong: it is named.
    """
    try:
        cases, title, unused = _read(path, format_name, split, limit)
    except BadCasesError:
        if path.is_file():
            check_whole(path)
        raise
    not_used = f" Columns not used: {_listed(sorted(unused))}." if unused else ""
    tell(f"{path.name}: {_counted(cases)} ({title}).{not_used}")
    return cases


def documents_of(path: Path, format_name: str | None = None) -> dict[str, str]:
    """Return the documents that questions come with, by name.

    Raises:
        BadCasesError: none come with them.
    """
    if not _is_squad(path, format_name):
        raise BadCasesError(f"No documents come with {path}.", "Only SQuAD's files bring them.")
    return read_squad(path)[1]


def _read(path: Path, format_name: str | None, split: str | None, limit: int | None) -> Read:
    if path.is_dir() or format_name == BEIR:
        split = split or trec.DEFAULT_SPLIT
        return trec.read_beir(path, split)[:limit], f"BEIR, split {split}", set()
    if split is not None:
        raise BadCasesError(f"{path} has no splits: it is not a folder.", "Leave --split out, or name a BEIR folder.")
    if _is_squad(path, format_name):
        numbered = ((f"Question {number} of {path}", case) for number, case in enumerate(read_squad(path)[0], start=1))
        return collect(numbered, lambda case: case, str(path))[:limit], "SQuAD", set()
    line = beginning(path).partition("\n")[0]
    if format_name == TREC or (format_name is None and "\t" in line and not line.startswith(("{", "["))):
        return trec.read_topics(path)[:limit], "TREC topics", set()
    return _read_rows(path, format_name, limit)


def _read_rows(path: Path, format_name: str | None, limit: int | None) -> Read:
    found = records(path)
    first = next(found, None)
    if first is None:
        raise BadCasesError(f"{path} holds no question.", "Name a file with one question a line.")
    format_ = next((one for one in FORMATS if one.name == format_name), None) or _recognised(first, path)
    unused: set[str] = set()

    def rows() -> Iterator[tuple[str, tuple[str, int]]]:
        for number, record in enumerate(islice(chain([first], found), limit), start=1):
            unused.update(set(record.columns) - format_.reads)
            yield record.place, (record.json, number)

    needed = " and ".join(sorted(format_.marks))
    remedy = f"It was read as {format_.title}, each with {needed}; --format chooses another."
    return collect(rows(), lambda row: format_.to_case(*row), str(path), remedy), format_.title, unused


def _is_squad(path: Path, format_name: str | None) -> bool:
    if format_name:
        return format_name == SQUAD
    key = re.match(r'\{\s*"(\w+)"', beginning(path))
    return key is not None and key[1] in FIRST_KEYS


def _recognised(first: Record, path: Path) -> Format:
    columns = frozenset(first.columns)
    if format_ := next((format_ for format_ in FORMATS if format_.marks <= columns), None):
        return format_
    if {"_id", "text"} <= columns:
        raise BadCasesError(f"{path} is a part of a BEIR folder.", f"Name the folder: {path.parent}.")
    known = "; ".join(f"{format_.name} ({', '.join(sorted(format_.marks))})" for format_ in FORMATS)
    raise BadCasesError(
        f"The questions in {path} are in no known format; their columns are: {_listed(first.columns)}.",
        f"Known are, by the columns they need: {known}. Or name one by --format.",
    )


def _counted(cases: tuple[Case, ...]) -> str:
    answered = sum(case.answer is not None for case in cases)
    unanswerable = sum(case.unanswerable for case in cases)
    counts = {
        "with a reference answer": answered,
        "without an answer in the corpus": unanswerable,
        "whose answer is not given": len(cases) - answered - unanswerable,
    }
    told = ", ".join(f"{count} {about}" for about, count in counts.items() if count)
    return f"{counted(len(cases), 'question')}, {told}"


def _listed(columns: Sequence[str]) -> str:
    shown = [column[:SHOWN_CHARS] or "(one without a name)" for column in columns[:SHOWN_COLUMNS]]
    more = len(columns) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")
