"""Keep a run on disk, so that a kill at any moment costs at most the row being written.

Flow: `asking/` and `scoring/` -> **here** -> `comparing/`, `reporting/`, the baselines. One folder is one run:

    run.json       what was asked, of what: header, written once
    cases.jsonl    the questions, as they were when the run began, without the web pages that came with them
    rows.jsonl     one reply a line, appended
    scores.jsonl   the cells of one row and one family a line, appended

Lines are only ever appended. A torn last line (the writer was killed) is cut off when the folder is opened to write,
and passed over by readers; a torn line anywhere else is damage and said so. One process writes at a time: the lock is
the kernel's, so it ends with its process.
"""

import fcntl
import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from errors import RagError
from eval.cases import Case, case_lines
from eval.cells import Cell
from eval.rows import Row

HEADER, CASES, ROWS, SCORES, LOCK = "run.json", "cases.jsonl", "rows.jsonl", "scores.jsonl", ".lock"
AGAIN = "Run the evaluation again."
AGAIN_ELSEWHERE = "Something else wrote into it: run the evaluation again, into another folder."

Line = TypeVar("Line", bound=BaseModel)


class RunFolderError(RagError):
    """A folder holds no run, a damaged one, or one that cannot be continued."""

    code = "bad_run"


class Header(BaseModel):
    """What a run is of.

    Attributes:
        format: version of this folder's layout.
        started: UTC, ISO 8601.
        questions: name of the file of questions; the path of its folder stays out, runs are passed on.
        target: `in process` or the service's URL.
        corpus: None means the service's default.
        fingerprint: of settings, models and index, as the first reply tells it.
        settings: a snapshot without secrets; empty where the service does not tell.
        versions: Treeline, Python and the packages that scores depend on.
    """

    model_config = ConfigDict(frozen=True)

    format: int = 1
    started: str
    questions: str
    questions_sha256: str
    target: str
    corpus: str | None = None
    fingerprint: str = ""
    settings: dict[str, Any] = {}
    versions: dict[str, str] = {}

    @classmethod
    def of(cls, questions: Path, target: str, **known: Any) -> "Header":
        """Return what a run that begins now is of; the digest of a folder of questions is that of all files in it."""
        digest = hashlib.sha256()
        for path in sorted(questions.rglob("*")) if questions.is_dir() else [questions]:
            if path.is_file():
                with path.open("rb") as file:
                    digest.update(hashlib.file_digest(file, "sha256").digest())
        started = datetime.now(UTC).isoformat(timespec="seconds")
        return cls(
            started=started, questions=questions.name, questions_sha256=digest.hexdigest(), target=target, **known
        )


class Scored(BaseModel):
    """The cells of one row and one family.

    Attributes:
        id: of the row.
        of: digest of the row's content; cells of another content are out of date.
        family: see `cells.Metric`.
        repeat: 0 for the first scoring; judges are asked several times.
        by: the judge's model; empty where no judge decides.
        cells: by metric.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    of: str
    family: str
    repeat: int = 0
    by: str = ""
    cells: dict[str, Cell]


class RunFolder:
    """A run on disk; the folder need not exist until `create`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def exists(self) -> bool:
        """Whether a run was begun here."""
        return (self.path / HEADER).exists()

    def create(self, header: Header, cases: tuple[Case, ...]) -> None:
        """Begin a run; the header is written last, so a folder without one was never begun."""
        if self.exists():
            raise RunFolderError(f"{self.path} holds a run already.", "Go on with it, or name another folder.")
        self.path.mkdir(parents=True, exist_ok=True)
        replace_file(self.path / CASES, case_lines(cases, without=frozenset({"pages"})))
        replace_file(self.path / HEADER, header.model_dump_json(indent=2) + "\n")

    def header(self) -> Header:
        """Return what the run is of.

        Raises:
            RunFolderError: the folder holds no run, or one of another version of Treeline.
        """
        try:
            header = Header.model_validate_json((self.path / HEADER).read_bytes())
        except FileNotFoundError as error:
            remedy = "Make one: python -m eval run QUESTIONS --out FOLDER."
            raise RunFolderError(f"{self.path} holds no run.", remedy) from error
        except (OSError, ValidationError) as error:
            raise RunFolderError(f"{self.path / HEADER} cannot be read: {error}.", AGAIN) from error
        if header.format != 1:
            raise RunFolderError(f"{self.path} was written by another version (format {header.format}).", AGAIN)
        return header

    def cases(self) -> tuple[Case, ...]:
        """Return the questions in their order."""
        return tuple(_read(self.path / CASES, Case))

    def rows(self) -> dict[str, Row]:
        """Return the last row of each id, in the order of `cases`; rows of no case are damage.

        A reply that failed is replaced by a later one; a later failure replaces nothing.
        """
        known: dict[str, Row | None] = dict.fromkeys(case.id for case in self.cases())
        for row in _read(self.path / ROWS, Row):
            if row.id not in known:
                raise RunFolderError(f"{self.path / ROWS} has a row {row.id!r} without a question.", AGAIN_ELSEWHERE)
            before = known[row.id]
            if before is None or before.outcome == "failed":
                known[row.id] = row
        return {id_: row for id_, row in known.items() if row is not None}

    def scores(self, rows: Mapping[str, Row] | None = None) -> list[Scored]:
        """Return the cells that belong to the rows as they are, later ones replacing earlier ones of their kind.

        Callers that already have the rows give them. A family has one judge: the one of its last score.
        """
        digests = {id_: row.digest() for id_, row in (self.rows() if rows is None else rows).items()}
        lines = [line for line in _read(self.path / SCORES, Scored) if digests.get(line.id) == line.of]
        judge = {line.family: line.by for line in lines if any(cell.score is not None for cell in line.cells.values())}
        found = {
            (line.id, line.family, line.repeat): line for line in lines if line.by == judge.get(line.family, line.by)
        }
        return list(found.values())

    def cells(self) -> dict[str, dict[str, Cell]]:
        """Return for each row its cells by metric; callers that already have the scores use `cells_of`."""
        return cells_of(self.scores())

    def append_row(self, row: Row) -> None:
        """Keep a reply; it is on disk when this returns. Only below `writing`."""
        _append(self.path / ROWS, row)

    def append_scores(self, line: Scored, *, sync: bool = True) -> None:
        """Keep cells; a kill of this process loses none, and with `sync` a power cut neither. Only below `writing`."""
        _append(self.path / SCORES, line, sync=sync)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the run's lock, and cut off what a killed writer left half written.

        Raises:
            RagError: another process holds it.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        with (self.path / LOCK).open("a+") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                remedy = "Wait for it, or name another folder with --out."
                raise RagError(f"Another process is writing into {self.path}.", remedy, "run_busy") from error
            for path in (self.path / ROWS, self.path / SCORES):
                if path.exists():
                    os.truncate(path, path.read_bytes().rfind(b"\n") + 1)
            yield


def cells_of(scores: Iterable[Scored]) -> dict[str, dict[str, Cell]]:
    """Return for each row its cells by metric; several repeats are averaged, failed ones left out if one worked."""
    gathered: dict[str, dict[str, list[Cell]]] = {}
    for line in scores:
        for name, cell in line.cells.items():
            gathered.setdefault(line.id, {}).setdefault(name, []).append(cell)

    def average(cells: list[Cell]) -> Cell:
        values = [cell.score for cell in cells if cell.score is not None]
        return Cell(score=sum(values) / len(values)) if values else cells[-1]

    return {id_: {name: average(cells) for name, cells in metrics.items()} for id_, metrics in gathered.items()}


def _append(path: Path, line: BaseModel, *, sync: bool = True) -> None:
    with path.open("ab") as file:
        file.write(line.model_dump_json(exclude_defaults=True).encode() + b"\n")
        file.flush()
        if sync:
            os.fsync(file.fileno())


@contextmanager
def refused_by_disk(path: Path, remedy: str, code: str) -> Iterator[None]:
    """Raise RagError with `remedy` and `code` if the disk refuses to have `path` written."""
    try:
        yield
    except OSError as error:
        raise RagError(f"{path} cannot be written: {error.strerror}.", remedy, code) from error


def replace_file(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    draft = path.with_suffix(".part")
    draft.write_text(text, encoding="utf-8")
    os.replace(draft, path)


def _read(path: Path, kind: type[Line]) -> Iterator[Line]:
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return
    for number, line in enumerate(lines[:-1], start=1):  # what follows the last line's end is torn, or nothing
        try:
            yield kind.model_validate_json(line)
        except ValidationError as error:
            raise RunFolderError(f"Line {number} of {path} is damaged.", AGAIN_ELSEWHERE) from error
