"""Tasks, their tables step by step, their chats, and saved pipelines, in one SQLite file.

Flow: `queue.py` adds, claims and ends tasks, and keeps a copy after each step -> **here** -> the same calls work after
a restart. A task ends in exactly one state: every change of state asks for the one before. `chats.py` keeps what is
said in chats.

One process at a time holds the file: two would run the same task twice.
"""

import fcntl
import json
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TextIO
from uuid import uuid4

from errors import RagError, TasksUnavailableError
from index.disk import private_file, private_folder

FILE_NAME, LOCK_NAME = "tasks.sqlite", "lock"
MOST_PIPELINES = 10_000
EXPIRED = "Ended tasks expire after RAG_PIPELINES__TTL_S seconds, or when RAG_PIPELINES__DISK_MB is full."

State = Literal["queued", "running", "finished", "failed", "cancelled"]

_TABLES = """
CREATE TABLE IF NOT EXISTS tasks (
    number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, body TEXT NOT NULL, state TEXT NOT NULL,
    created_s REAL NOT NULL, started_s REAL, ended_s REAL,
    error TEXT NOT NULL DEFAULT '', error_step TEXT NOT NULL DEFAULT '', log TEXT NOT NULL DEFAULT '[]',
    mark TEXT NOT NULL DEFAULT '');
CREATE INDEX IF NOT EXISTS tasks_by_state ON tasks (state, number);
CREATE TABLE IF NOT EXISTS snapshots (
    task_id TEXT NOT NULL, step INTEGER NOT NULL, facts TEXT NOT NULL, documents BLOB NOT NULL,
    PRIMARY KEY (task_id, step));
CREATE TABLE IF NOT EXISTS pipelines (
    number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL, body TEXT NOT NULL,
    created_s REAL NOT NULL, brief TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS chats (
    id TEXT PRIMARY KEY, task_id TEXT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    model TEXT NOT NULL, text_column TEXT NOT NULL, created_s REAL NOT NULL);
CREATE INDEX IF NOT EXISTS chats_by_task ON chats (task_id);
CREATE TABLE IF NOT EXISTS turns (
    number INTEGER PRIMARY KEY AUTOINCREMENT, chat_id TEXT NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    role TEXT NOT NULL, text TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS turns_by_chat ON turns (chat_id, number);
"""


@dataclass(frozen=True, slots=True)
class Task:
    """A task as it stands in the file.

    Attributes:
        id: names it, and cannot be guessed.
        body: its pipeline, plain.
        state: `finished`, `failed` and `cancelled` are final.
        created_s, started_s, ended_s: seconds since 1970; None as long as it has not come to that.
        error: why it failed; empty if it did not.
        error_step: the number of the step that failed.
        log: lines.
        mark: tells whether a key submitted it; empty if every key may open it.
    """

    id: str
    body: dict[str, Any]
    state: State
    created_s: float
    started_s: float | None
    ended_s: float | None
    error: str
    error_step: str
    log: tuple[str, ...]
    mark: str = ""

    @property
    def has_ended(self) -> bool:
        """Whether its state is final."""
        return self.state in {"finished", "failed", "cancelled"}


@dataclass(frozen=True, slots=True)
class SavedPipeline:
    """A pipeline that a client saved, without its body.

    Attributes:
        query: None if it has none.
        steps: their ids.
    """

    id: str
    name: str
    query: str | None
    steps: tuple[str, ...]
    created_s: float


class TaskStore:
    """The file. Safe from many threads of one process.

    Args:
        folder: holds the file, made when missing; None keeps everything in memory.

    Raises:
        TasksUnavailableError: another process holds the file, or the disk refuses. Every method raises it, too.
    """

    def __init__(self, folder: Path | None) -> None:
        self._lock = threading.Lock()
        self._held = None if folder is None else _held(folder)
        with _failures():
            self._database = sqlite3.connect(
                ":memory:" if folder is None else folder / FILE_NAME, check_same_thread=False, isolation_level=None
            )
            self._database.row_factory = sqlite3.Row
            self._database.execute("PRAGMA journal_mode=WAL")
            self._database.execute("PRAGMA synchronous=NORMAL")
            self._database.execute("PRAGMA foreign_keys=ON")  # a chat goes with its task
            self._database.executescript(_TABLES)

    def add(self, body: dict[str, Any], most_queued: int, mark: Callable[[str], str] = lambda _: "") -> str:
        """Put a task in line and return its id.

        Args:
            body: its pipeline, plain.
            most_queued: tasks that may be in line.
            mark: returns the mark of a task with this id.

        Raises:
            RagError: so many are in line already.
        """
        task_id = uuid4().hex
        with self.changing() as database:
            queued = database.execute("SELECT COUNT(*) FROM tasks WHERE state = 'queued'").fetchone()[0]
            if queued >= most_queued:
                raise RagError(
                    f"{queued} tasks are waiting already.", "Try again when some have ended.", "too_many_tasks"
                )
            database.execute(
                "INSERT INTO tasks (id, body, state, created_s, mark) VALUES (?, ?, 'queued', ?, ?)",
                [task_id, json.dumps(body), time.time(), mark(task_id)],
            )
        return task_id

    def claim(self) -> Task | None:
        """Take the first task in line, which now runs; None if there is none."""
        with self.changing() as database:
            row = database.execute("SELECT * FROM tasks WHERE state = 'queued' ORDER BY number LIMIT 1").fetchone()
            if row is None:
                return None
            database.execute(
                "UPDATE tasks SET state = 'running', started_s = COALESCE(started_s, ?) WHERE id = ?",
                [time.time(), row["id"]],
            )
        return _task(row)

    def recover(self) -> int:
        """Put the tasks that ran when the last process ended back in line; return how many wait now."""
        with self.changing() as database:
            database.execute("UPDATE tasks SET state = 'queued' WHERE state = 'running'")
            return int(database.execute("SELECT COUNT(*) FROM tasks WHERE state = 'queued'").fetchone()[0])

    def keep(self, task_id: str, step: int, facts: str, documents: bytes, log: Sequence[str]) -> None:
        """Keep how things stand after a step."""
        with self.changing() as database:
            database.execute("INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?)", [task_id, step, facts, documents])
            database.execute("UPDATE tasks SET log = ? WHERE id = ?", [json.dumps(list(log)), task_id])

    def end(
        self, task_id: str, state: State, error: str = "", step: str = "", log: Sequence[str] | None = None
    ) -> bool:
        """End a task; return False, and change nothing, if it has ended already."""
        with self.changing() as database:
            changed = database.execute(
                "UPDATE tasks SET state = ?, ended_s = ?, error = ?, error_step = ?, log = COALESCE(?, log) "
                "WHERE id = ? AND state IN ('queued', 'running')",
                [state, time.time(), error, step, None if log is None else json.dumps(list(log)), task_id],
            )
            return changed.rowcount == 1

    def get(self, task_id: str) -> Task:
        """Return a task.

        Raises:
            RagError: there is none of this id, or it has expired.
        """
        with self.reading() as database:
            row = database.execute("SELECT * FROM tasks WHERE id = ?", [task_id]).fetchone()
        if row is None:
            raise unknown_task()
        return _task(row)

    def facts(self, task_id: str) -> list[dict[str, Any]]:
        """Return what was kept after each step, in order, without the tables."""
        with self.reading() as database:
            rows = database.execute("SELECT facts FROM snapshots WHERE task_id = ? ORDER BY step", [task_id]).fetchall()
        return [json.loads(row["facts"]) for row in rows]

    def columns_of(self, task_id: str, step: int) -> bytes:
        """Return the columns that are kept with a step, as they were kept.

        Raises:
            RagError: there are none.
        """
        with self.reading() as database:
            row = database.execute(
                "SELECT documents FROM snapshots WHERE task_id = ? AND step = ?", [task_id, step]
            ).fetchone()
        if row is None:  # the task has been deleted meanwhile
            raise unknown_task()
        return bytes(row["documents"])

    def size(self, task_id: str) -> int:
        """Return the bytes that a task's tables take."""
        with self.reading() as database:
            row = database.execute("SELECT SUM(LENGTH(documents)) FROM snapshots WHERE task_id = ?", [task_id])
            return int(row.fetchone()[0] or 0)

    def expire(self, before_s: float, most_bytes: int) -> None:
        """Forget ended tasks and their chats.

        Args:
            before_s: seconds since 1970; all that ended earlier are forgotten.
            most_bytes: that the tables of the others may take; what ended first is forgotten first.
        """
        with self.changing() as database:
            old = [row["id"] for row in database.execute("SELECT id FROM tasks WHERE ended_s < ?", [before_s])]
            sizes = database.execute(
                "SELECT id, SUM(LENGTH(documents)) AS bytes FROM snapshots JOIN tasks ON id = task_id "
                "WHERE ended_s >= ? GROUP BY id ORDER BY ended_s DESC",
                [before_s],
            )
            total = 0
            for row in sizes:
                total += row["bytes"]
                if total > most_bytes:
                    old.append(row["id"])
            for table, name in (("snapshots", "task_id"), ("tasks", "id")):
                database.executemany(f"DELETE FROM {table} WHERE {name} = ?", [[one] for one in old])  # noqa: S608

    def save_pipeline(self, body: dict[str, Any], name: str) -> str:
        """Keep a pipeline and return its id.

        Raises:
            RagError: so many are kept that no other one is.
        """
        pipeline_id = uuid4().hex
        with self.changing() as database:
            if database.execute("SELECT COUNT(*) FROM pipelines").fetchone()[0] >= MOST_PIPELINES:
                raise RagError(
                    f"{MOST_PIPELINES} pipelines are saved.", "Delete one: DELETE /pipeline/ID.", "too_many_tasks"
                )
            database.execute(
                "INSERT INTO pipelines (id, name, body, created_s, brief) VALUES (?, ?, ?, ?, ?)",
                [pipeline_id, name, json.dumps(body), time.time(), _brief(body)],
            )
        return pipeline_id

    def pipeline(self, pipeline_id: str) -> dict[str, Any]:
        """Return the body of a saved pipeline.

        Raises:
            RagError: there is none of this id.
        """
        with self.reading() as database:
            row = database.execute("SELECT body FROM pipelines WHERE id = ?", [pipeline_id]).fetchone()
        if row is None:
            raise _unknown_pipeline()
        body: dict[str, Any] = json.loads(row["body"])
        return body

    def pipelines(self, most: int, after: str | None = None) -> list[SavedPipeline]:
        """Return saved pipelines, the newest first.

        Args:
            most: of them.
            after: id of the one before them; None begins with the newest.

        Raises:
            RagError: there is none of the id `after`.
        """
        with self.reading() as database:
            last = database.execute("SELECT number FROM pipelines WHERE id = ?", [after]).fetchone()
            if after is not None and last is None:
                raise _unknown_pipeline()
            rows = database.execute(
                "SELECT id, name, created_s, brief FROM pipelines WHERE number < ? ORDER BY number DESC LIMIT ?",
                [last["number"] if last else 2**62, most],
            )
            return [
                SavedPipeline(row["id"], row["name"], brief["query"], tuple(brief["steps"]), row["created_s"])
                for row, brief in ((row, json.loads(row["brief"])) for row in rows)
            ]

    def delete_pipeline(self, pipeline_id: str) -> None:
        """Delete a saved pipeline.

        Raises:
            RagError: there is none of this id.
        """
        with self.changing() as database:
            if database.execute("DELETE FROM pipelines WHERE id = ?", [pipeline_id]).rowcount == 0:
                raise _unknown_pipeline()

    def close(self) -> None:
        """Close the file and let others have it."""
        with self._lock:
            self._database.close()
        if self._held is not None:
            self._held.close()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Hold the file to read it."""
        with self._lock, _failures():
            yield self._database

    @contextmanager
    def changing(self) -> Iterator[sqlite3.Connection]:
        """Hold the file for a transaction, which ends with the block."""
        with self._lock, _failures():
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield self._database
                self._database.execute("COMMIT")
            except BaseException:
                self._database.execute("ROLLBACK")
                raise


def _held(folder: Path) -> TextIO:
    """Hold the folder until the process ends or the file is closed."""
    try:
        private_folder(folder)
        private_file(folder / FILE_NAME)
        file = (folder / LOCK_NAME).open("a")
    except OSError as error:
        raise TasksUnavailableError(
            f"{folder} cannot be written: {error.strerror}.", "Set RAG_PIPELINES__DIR."
        ) from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        file.close()
        raise TasksUnavailableError(
            "Another service holds the tasks.", "Set another RAG_PIPELINES__DIR for this one, or stop that one."
        ) from error
    return file


@contextmanager
def _failures() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise TasksUnavailableError(
            f"The tasks cannot be read or kept: {error}.", "Free some space, or set another RAG_PIPELINES__DIR."
        ) from error


def _task(row: sqlite3.Row) -> Task:
    return Task(
        id=row["id"],
        body=json.loads(row["body"]),
        state=row["state"],
        created_s=row["created_s"],
        started_s=row["started_s"],
        ended_s=row["ended_s"],
        error=row["error"],
        error_step=row["error_step"],
        log=tuple(json.loads(row["log"])),
        mark=row["mark"],
    )


def _brief(body: Mapping[str, Any]) -> str:
    """Return what a list says of a pipeline, as JSON."""
    return json.dumps({"query": body.get("query"), "steps": step_ids(body)})


def step_ids(body: Mapping[str, Any]) -> list[str]:
    """Return the ids of the steps of a pipeline, in order."""
    return [body[number]["id"] for number in sorted((name for name in body if name.isdigit()), key=int)]


def unknown_task() -> RagError:
    """Return the refusal of an id that no task has."""
    return RagError("Task id not found.", EXPIRED, "unknown_task")


def _unknown_pipeline() -> RagError:
    return RagError("There is no such pipeline.", "GET /pipeline/list names those that are saved.", "unknown_pipeline")
