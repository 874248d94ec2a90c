"""Read a file or folder of questions in any of the known formats.

Flow: a path -> **here** -> an adapter of this package -> `Case`s, and one line that says what was read.

The format is recognised by content: a folder is BEIR's, a JSON file's first key or a table's columns name its own, and
lines `id TAB question` are TREC's topics. `--format` overrules that.
"""

from collections.abc import Callable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Protocol

from eval.cases import BadCasesError, Case, collect
from eval.progress_bar import tell
from eval.questions import beir, doc2dial, squad, trec
from eval.questions.bedrock import BEDROCK
from eval.questions.browsecomp import BROWSECOMP
from eval.questions.crag import CRAG
from eval.questions.files import Record, check_whole, first_key, records, text_lines
from eval.questions.formats import Format
from eval.questions.mmu_rag import MMU_RAG
from eval.questions.own import OWN
from eval.questions.ragas import RAGAS

FORMATS = (MMU_RAG, CRAG, BEDROCK, RAGAS, OWN, BROWSECOMP)  # the first one whose marks are there


class WholeFormat(Protocol):
    """A module for files that are one JSON value."""

    NAME: str
    TITLE: str
    FIRST_KEYS: frozenset[str]

    def read(self, path: Path) -> Iterator[Case]:
        """Yield the questions."""

    def documents(self, path: Path) -> Iterator[tuple[str, str]]:
        """Yield name and text of each document that they are about."""


_MODULES: tuple[WholeFormat, ...] = (squad, doc2dial)
WHOLE = {module.NAME: module for module in _MODULES}
NAMES = (*(format_.name for format_ in FORMATS), beir.NAME, trec.NAME, *WHOLE)
SHOWN_COLUMNS, SHOWN_CHARS = 12, 40


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
        format_name: one of `NAMES`; None takes it from the content.
        split: of a BEIR folder; `test` if None.
        limit: read this many at most.
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
        raise BadCasesError(f"{path} has no splits: it is not a folder.", "Leave --split out, or name a BEIR folder.")
    if whole := whole_format(path, format_name):
        found_cases = enumerate(WHOLE[whole].read(path), start=1)
        numbered = ((f"Question {number} of {path}", case) for number, case in found_cases)
        cases = collect(numbered, lambda case, _number: case, str(path))
        return cases[:limit], f"{WHOLE[whole].TITLE})."
    if format_name == trec.NAME or (format_name is None and _holds_topics(path)):
        return trec.read_topics(path)[:limit], f"{trec.TITLE})."
    found = records(path)
    first = next(found, None)
    if first is None:
        raise BadCasesError(f"{path} holds no question.", "Name a file with one question a line.")
    format_ = _named(format_name) if format_name else _recognised(first, path)
    unused: set[str] = set()
    rows = _watched(islice(chain([first], found), limit), format_, unused)
    cases = collect(rows, format_.to_case, str(path), _remedy(format_))
    return cases, f"{format_.title}).{_said_of(unused)}"


def whole_format(path: Path, format_name: str | None = None) -> str | None:
    """Return the name of the format of a file that is one JSON value; None for other files."""
    if format_name:
        return format_name if format_name in WHOLE else None
    key = first_key(path)
    return next((name for name, module in WHOLE.items() if key in module.FIRST_KEYS), None)


def documents_of(path: Path, format_name: str | None = None) -> Iterator[tuple[str, str]]:
    """Yield name and text of each document that questions come with.

    Raises:
        BadCasesError: none come with them.
    """
    if whole := whole_format(path, format_name):
        return WHOLE[whole].documents(path)
    raise BadCasesError(f"No documents come with {path}.", "Only SQuAD's and Doc2Dial's files bring them.")


def _holds_topics(path: Path) -> bool:
    _, line = next(text_lines(path), ("", ""))
    return "\t" in line and not line.lstrip().startswith(("{", "["))


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
