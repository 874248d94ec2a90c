"""The narrow door to evaluation runs: what of their files the page may see.

Flow: the folder of the settings -> **here** -> `api/routes/runs.py`. Nothing of `eval` is imported: the figures are
those that `python -m eval report` wrote, and nothing is computed from them.

The files may come from anywhere. Only plain files directly in a plain folder directly below the settings' one are
opened, links are not followed, sizes are limited, and what does not have the expected form is reported as a problem of
its run.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from stat import S_ISREG
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from errors import RagError

HEADER, CASES, SCORES, RESULTS, REPORT = "run.json", "cases.jsonl", "scores.jsonl", "eval_results.json", "report.html"
MOST_RUNS = 200
MOST_HEADER_BYTES = 1_000_000
MOST_BYTES = 64_000_000
CACHED_RUNS = 2 * MOST_RUNS

Word = Annotated[str, StringConstraints(max_length=200)]
Sentence = Annotated[str, StringConstraints(max_length=2000)]
Figure = Annotated[float, Field(allow_inf_nan=False)]


class _Form(BaseModel):
    """What is expected of a file; whatever else stands in it is passed over."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class Header(_Form):
    """Of `run.json`: what was asked, of what."""

    started: Word
    questions: Word
    questions_sha256: Word
    target: Word
    corpus: Word | None = None
    fingerprint: Word = ""


class Mean(_Form):
    """The mean of a metric: of `n` scores, of `of` questions that it applies to."""

    mean: Figure | None
    n: int
    of: int


class Metric(_Form):
    """What a metric is."""

    family: Word
    better: Literal["higher", "lower"]
    about: Sentence = ""


class _Aggregate(_Form):
    answerable: dict[Word, Mean] = Field({}, max_length=500)
    unanswerable: dict[Word, Mean] = Field({}, max_length=500)


class Results(_Form):
    """Of `eval_results.json`: the figures of a run."""

    metrics: dict[Word, Metric] = Field(max_length=500)
    main_metrics: list[Word] = Field([], max_length=20)
    aggregate: _Aggregate

    def means(self) -> dict[str, Mean]:
        """Return the mean of each metric: over the answerable questions, over the others if it is of those alone."""
        parts = self.aggregate
        return {**parts.unanswerable, **{name: mean for name, mean in parts.answerable.items() if mean.n}}


class UnreadableRunFile(Exception):
    """Says in a sentence why a file cannot be shown."""


def list_runs(folder: Path) -> dict[str, Any]:
    """Return the runs of a folder, JSON-ready.

    Returns:
        `runs`, the newest first, each with `name`, `problem` (None, or why it cannot be shown), and where it can:
        `started`, `questions` (the file's name), `questions_sha256`, `asked` (their number; None if unknown), `corpus`,
        `target`, `fingerprint`, `has_report`, `stale` (scored after its report), `main_metrics`, `means` (by metric:
        `mean`, `n`, `of`). `metrics`: what each metric is. `older`: how many runs are left out.

    Raises:
        RagError: the folder cannot be read.
    """
    names = _names(folder)
    found = [_brief(folder, name) for name in names[:MOST_RUNS]]
    found.sort(key=lambda run: (run.get("started", ""), run["name"]), reverse=True)
    metrics: dict[str, Any] = {}
    for run in found:
        for name, about in run.pop("metrics", {}).items():
            metrics.setdefault(name, about)
    return {"runs": found, "metrics": metrics, "older": max(0, len(names) - MOST_RUNS)}


def read_report(folder: Path, name: str) -> bytes:
    """Return the report of a run, HTML.

    Raises:
        RagError: there is no such run, or no report of it that can be shown.
    """
    try:
        return _text(folder, name, REPORT, MOST_BYTES)
    except (OSError, UnreadableRunFile) as error:
        told = str(error) if isinstance(error, UnreadableRunFile) else f"There is no {REPORT} that can be read."
        raise RagError(told, "Write it: python -m eval report RUN.", "unknown_run") from error


def _names(folder: Path) -> list[str]:
    """Return the folders that hold a run, those that changed last first."""
    try:
        with os.scandir(folder) as entries:
            runs = [entry for entry in entries if entry.is_dir(follow_symlinks=False)]
            runs = [entry for entry in runs if os.path.lexists(os.path.join(entry.path, HEADER))]
            changed = {entry.name: _changed_s(entry) for entry in runs}
            return sorted(changed, key=lambda name: -changed[name])
    except OSError as error:
        raise RagError(
            f"The folder of runs cannot be read: {error.strerror}.",
            "Set RAG_SERVE__RUNS to another folder.",
            "unknown_run",
        ) from error


def _changed_s(entry: os.DirEntry[str]) -> float:
    try:
        return entry.stat(follow_symlinks=False).st_mtime
    except OSError:  # deleted meanwhile
        return 0.0


def _brief(folder: Path, name: str) -> dict[str, Any]:
    shown = os.fsencode(name).decode("utf-8", "replace")
    if shown != name:
        return {"name": shown, "problem": "The folder's name is not UTF-8."}
    try:
        header = Header.model_validate_json(_text(folder, name, HEADER, MOST_HEADER_BYTES))
    except (OSError, UnreadableRunFile, ValidationError) as error:
        return {"name": name, "problem": _told(HEADER, error)}
    told: dict[str, Any] = {
        "name": name,
        "problem": None,
        **header.model_dump(),
        "asked": _asked(folder, name),
        "has_report": _facts(folder, name, REPORT) is not None,
        "stale": False,
        "main_metrics": [],
        "means": {},
    }
    written = _facts(folder, name, RESULTS)
    if written is None:
        return told
    scored = _facts(folder, name, SCORES)
    told["stale"] = scored is not None and scored[1] > written[1]
    try:
        results = _results(folder, name, *written)
    except (OSError, UnreadableRunFile, ValidationError) as error:
        return {**told, "problem": _told(RESULTS, error)}
    told["means"] = {metric: mean.model_dump() for metric, mean in results.means().items() if metric in results.metrics}
    told["main_metrics"] = [metric for metric in results.main_metrics if metric in told["means"]]
    told["metrics"] = {metric: about.model_dump() for metric, about in results.metrics.items()}
    return told


@lru_cache(maxsize=CACHED_RUNS)
def _results(folder: Path, name: str, _inode: int, _changed_ns: int, _bytes: int) -> Results:
    """Read the figures; they stand in the cache until the file is another one."""
    return Results.model_validate_json(_text(folder, name, RESULTS, MOST_BYTES))


def _asked(folder: Path, name: str) -> int | None:
    """Return how many questions a run has; None if its file cannot be read."""
    facts = _facts(folder, name, CASES)
    try:
        return None if facts is None else _lines(folder, name, *facts)
    except (OSError, UnreadableRunFile):
        return None


@lru_cache(maxsize=CACHED_RUNS)
def _lines(folder: Path, name: str, _inode: int, _changed_ns: int, _bytes: int) -> int:
    return _text(folder, name, CASES, MOST_BYTES).count(b"\n")


def _facts(folder: Path, name: str, file_name: str) -> tuple[int, int, int] | None:
    """Return inode, time of the last change in ns and size in bytes of a plain file; None if there is none."""
    try:
        with _opened(folder, name, file_name) as file:
            facts = os.fstat(file)
    except (OSError, UnreadableRunFile):
        return None
    return facts.st_ino, facts.st_mtime_ns, facts.st_size


def _text(folder: Path, name: str, file_name: str, most_bytes: int) -> bytes:
    with _opened(folder, name, file_name) as file:
        size = os.fstat(file).st_size
        if size > most_bytes:
            raise UnreadableRunFile(f"The file has {size:,} bytes; at most {most_bytes:,} are read.")
        with os.fdopen(os.dup(file), "rb") as stream:
            return stream.read(most_bytes)


@contextmanager
def _opened(folder: Path, name: str, file_name: str) -> Iterator[int]:
    """Open a plain file of a run by its descriptor; neither the run's folder nor the file may be a link.

    Raises:
        UnreadableRunFile: the name leads elsewhere, or it is not a plain file.
        OSError: there is none, or the system refuses.
    """
    if name in {"", ".", ".."} or "/" in name or "\0" in name:
        raise UnreadableRunFile("There is no such run.")
    try:
        run = os.open(folder / name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except (OSError, ValueError) as error:
        raise UnreadableRunFile("There is no such run.") from error
    try:
        # A pipe would make the reader wait for a writer.
        file = os.open(file_name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=run)
    finally:
        os.close(run)
    try:
        if not S_ISREG(os.fstat(file).st_mode):
            raise UnreadableRunFile(f"{file_name} is not a plain file.")
        yield file
    finally:
        os.close(file)


def _told(file_name: str, error: Exception) -> str:
    """Say what is wrong with a file, without its content."""
    match error:
        case ValidationError():
            first = error.errors(include_url=False, include_input=False, include_context=False)[0]
            place = ".".join(str(part)[:60] for part in first["loc"])
            return f"{file_name} is not what an evaluation writes: {place + ': ' if place else ''}{first['msg']}."
        case OSError():
            return f"{file_name} cannot be read: {error.strerror}."
        case _:
            return f"{file_name}: {error}"
