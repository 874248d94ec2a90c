"""Chats over the results of a task: which documents, which model, and what was said.

Flow: `GET /task/chat/new` -> **here**, in the tasks' file -> `GET /task/chat/{chat_id}` takes the documents and the
turns so far to `sources/given_pages.py`, which answers, and brings back what was said. A chat lives as its task does.
"""

import re
import time
from dataclasses import dataclass
from uuid import uuid4

from errors import RagError
from pipelines.parameters import unknown
from pipelines.state import CHAT_DOCUMENTS, PipelineState
from pipelines.tasks.store import TaskStore
from pipelines.tasks.tables import read_state
from query_engine.schema.turn import Turn
from sources.given_pages import GivenPage

MOST_CHATS = 10_000
# Of one chat, the last ones; no more are read.
MOST_TURNS = 100
TITLE = "title"
_MARK = re.compile(r"\s?\[Doc \d{1,6}\]")


@dataclass(frozen=True, slots=True)
class Chat:
    """A chat as it stands in the file.

    Attributes:
        id: names it, and cannot be guessed.
        task_id: whose documents are talked about.
        column: whose text is read.
        model: who writes, see `query_engine.synthesis.build.writer_names`.
        turns: what was said, oldest first, without marks of documents.
    """

    id: str
    task_id: str
    column: str
    model: str
    turns: tuple[Turn, ...]


class Chats:
    """The chats of one service. Calls block for the time of a look into the file; safe from many threads.

    Args:
        store: of the tasks.
        documents: that a chat reads, at most: the first of the table.
    """

    def __init__(self, store: TaskStore) -> None:
        self._store = store

    def begin(self, task_id: str, column: str, model: str) -> str:
        """Begin a chat and return its id.

        Raises:
            RagError: there is no such task, or it has expired; or it has no results.
            PipelineError: its table has no such column.
            RagError: so many chats are kept that no other one is.
        """
        task = self._store.get(task_id)
        if task.state != "finished":
            raise RagError(
                f"The task is {task.state}: it has no results.",
                "Ask GET /task/progress until it has finished.",
                "task_unfinished",
            )
        if column not in read_state(self._store, task_id, "", columns={column}).columns:
            table = read_state(self._store, task_id, "")
            if table.count:
                raise unknown("The results have no column", column, table.columns)
        chat_id = uuid4().hex
        with self._store.changing() as database:
            if database.execute("SELECT COUNT(*) FROM chats").fetchone()[0] >= MOST_CHATS:
                raise RagError(
                    f"{MOST_CHATS} chats are kept.", "They go with their tasks: try again later.", "too_many_tasks"
                )
            database.execute(
                "INSERT INTO chats (id, task_id, model, text_column, created_s) VALUES (?, ?, ?, ?, ?)",
                [chat_id, task_id, model, column, time.time()],
            )
        return chat_id

    def get(self, chat_id: str, task_id: str | None = None) -> Chat:
        """Return a chat.

        Args:
            chat_id: of the chat.
            task_id: that it must be of; None for any.

        Raises:
            RagError: there is none of this id, or its task has expired or is another one.
        """
        with self._store.reading() as database:
            row = database.execute("SELECT * FROM chats WHERE id = ?", [chat_id]).fetchone()
            turns = database.execute("SELECT role, text FROM turns WHERE chat_id = ? ORDER BY number", [chat_id])
            said = tuple(Turn(turn["role"], _MARK.sub("", turn["text"])) for turn in turns)
        if row is None or task_id not in {None, row["task_id"]}:
            raise unknown_chat()
        return Chat(chat_id, row["task_id"], row["text_column"], row["model"], said)

    def add(self, chat_id: str, message: str, reply: str) -> None:
        """Keep a message and its reply, if the chat is still there."""
        with self._store.changing() as database:
            if database.execute("SELECT 1 FROM chats WHERE id = ?", [chat_id]).fetchone() is None:
                return
            database.executemany(
                "INSERT INTO turns (chat_id, role, text) VALUES (?, ?, ?)",
                [[chat_id, "user", message], [chat_id, "assistant", reply]],
            )
            database.execute(
                "DELETE FROM turns WHERE chat_id = ? AND number NOT IN "
                "(SELECT number FROM turns WHERE chat_id = ? ORDER BY number DESC LIMIT ?)",
                [chat_id, chat_id, MOST_TURNS],
            )

    def pages(self, chat: Chat) -> list[GivenPage]:
        """Return the documents, named `Doc 1` and so on by their place in the table; rows without text are left out."""
        table = read_state(self._store, chat.task_id, "", columns={chat.column, TITLE})
        return pages_of(table, chat.column, CHAT_DOCUMENTS)


def unknown_chat() -> RagError:
    """Return the refusal of an id that no chat has."""
    return RagError(
        "There is no such chat.", "Begin one by GET /task/chat/new; it expires with its task.", "unknown_chat"
    )


def pages_of(state: PipelineState, column: str, most: int) -> list[GivenPage]:
    """Return the first rows of a table as pages, named by their place from 1; see `Chats.pages`."""
    first = state.take(range(min(most, state.count)))
    if column not in first.columns:
        return []
    texts = first.texts(column)
    titles = first.texts(TITLE) if TITLE in first.columns else [""] * len(texts)
    return [
        GivenPage(page_name(number), title or None, text=text)
        for number, (title, text) in enumerate(zip(titles, texts, strict=True), start=1)
        if text.strip()
    ]


def page_name(number: int) -> str:
    """Return what the document of a row is called, rows counted from 1."""
    return f"Doc {number}"
