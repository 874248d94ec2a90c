"""Read a file or folder of questions in any of the known formats.

Flow: a path -> **here** -> an adapter of this package -> `Case`s, and one line that says what was read.

The format is recognised by content: a folder is BEIR's, a file's columns name its own. `--format` overrules that.
"""

import sys
from collections.abc import Callable, Iterator
from itertools import chain, islice
from pathlib import Path

from eval.cases import BadCasesError, Case, collect
from eval.questions import beir
from eval.questions.bedrock import BEDROCK
from eval.questions.crag import CRAG
from eval.questions.files import Record, check_whole, records
from eval.questions.formats import Format
from eval.questions.mmu_rag import MMU_RAG
from eval.questions.own import OWN
from eval.questions.ragas import RAGAS

FORMATS = (MMU_RAG, CRAG, BEDROCK, RAGAS, OWN)  # the first one whose marks are there
NAMES = (*(format_.name for format_ in FORMATS), beir.NAME)
SHOWN_COLUMNS, SHOWN_CHARS = 12, 40


def tell(line: str) -> None:
    """Write a line to stderr."""
    sys.stderr.write(line + "\n")


def read_questions(
    path: Path,
    *,
    format_name: str | None = None,
    split: str | None = None,
    limit: int | None = None,
    tell: Callable[[str], None] = tell,
) -> tuple[Case, ...]:
    """Return the questions at a path, in their order.

    Args:
        path: a file (JSON lines or CSV, also packed by gzip or bzip2), or a BEIR folder.
        format_name: one of `NAMES`; told by the content if None.
        split: of a BEIR folder; `test` if None.
        limit: read only so many.
        tell: takes the line that says what was read, and which columns are of no use here.

    Raises:
        BadCasesError: there is nothing to read, it is in no known format, or a row of it is wrong: it is named.
    """
    try:
        cases, about = _read(path, format_name, split, limit)
    except BadCasesError:
        if path.is_file():
            check_whole(path)
        raise
    tell(f"{path.name}: {_counted(cases)} ({about}")
    return cases


def _read(path: Path, format_name: str | None, split: str | None, limit: int | None) -> tuple[tuple[Case, ...], str]:
    if path.is_dir() or format_name == beir.NAME:
        return beir.read_beir(path, split, limit), f"{beir.TITLE}, split {split or beir.DEFAULT_SPLIT})."
    if split is not None:
        raise BadCasesError(f"{path} has no splits: it is no folder.", "Leave --split out, or name a BEIR folder.")
    found = records(path)
    first = next(found, None)
    if first is None:
        raise BadCasesError(f"{path} holds no question.", "Name a file with one question a line.")
    format_ = _named(format_name) if format_name else _recognised(first, path)
    unused: set[str] = set()
    rows = _watched(islice(chain([first], found), limit), format_, unused)
    cases = collect(rows, format_.to_case, str(path), _remedy(format_))
    return cases, f"{format_.title}).{_said_of(unused)}"


def _watched(rows: Iterator[Record], format_: Format, unused: set[str]) -> Iterator[tuple[str, str]]:
    for record in rows:
        unused.update(column for column in record.columns if column not in format_.reads)
        yield record.place, record.json


def _named(name: str) -> Format:
    return next(format_ for format_ in FORMATS if format_.name == name)


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


def _remedy(format_: Format) -> str:
    needed = " and ".join(sorted(format_.marks))
    return f"It was read as {format_.title}, each with {needed}; --format chooses another."


def _counted(cases: tuple[Case, ...]) -> str:
    answered = sum(case.answer is not None for case in cases)
    unanswerable = sum(case.unanswerable for case in cases)
    parts = [
        (answered, "with a reference answer"),
        (unanswerable, "without an answer in the corpus"),
        (len(cases) - answered - unanswerable, "whose answer is not given"),
    ]
    told = ", ".join(f"{count} {about}" for count, about in parts if count)
    return f"{len(cases)} question{'s' * (len(cases) != 1)}, {told}"


def _said_of(unused: set[str]) -> str:
    return f" Columns not used: {_listed(sorted(unused))}." if unused else ""


def _listed(columns: tuple[str, ...] | list[str]) -> str:
    shown = [column[:SHOWN_CHARS] or "(one without a name)" for column in columns[:SHOWN_COLUMNS]]
    more = len(columns) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")
