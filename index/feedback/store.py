"""Answers and retrievals as they were returned, and the verdicts on them, in one SQLite file beside the corpora.

Flow: `api/recorder.py` notes each answer, and later a verdict on it -> **here** -> `GET /feedback`, `python -m eval
cases`. Who asked is not kept, only a mark by which the key that asked is known again. Records without a verdict expire
after some days, others later; the oldest are deleted first when the file is full. Blocks; used by one thread of a
process, while others may read the file.
"""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from errors import RagError, StorageError, UnknownAnswerError
from index.disk import is_locked, is_refusal, private_file, private_folder

FILE_NAME = "feedback.sqlite"
DAY_S = 86_400
MB = 1_000_000
# Of one answer: a client that rates every span would fill the file.
MAX_VERDICTS = 200
# A larger record loses the text of its passages.
MAX_RECORD_BYTES = 256_000
SWEEP_EVERY = 100
PAGE_ROWS = 200
BUSY_TIMEOUT_S = 5

Kind = Literal["answer", "retrieval"]
Verdict = Literal["good", "bad", "relevant", "irrelevant"]

_tables = sa.MetaData()
_given = sa.Table(
    "given",
    _tables,
    sa.Column("id", sa.String, primary_key=True),
    sa.Column("kind", sa.String, nullable=False),
    sa.Column("corpus", sa.String, nullable=False),
    sa.Column("at", sa.Float, nullable=False, index=True),
    sa.Column("bytes", sa.Integer, nullable=False),
    sa.Column("body", sa.Text, nullable=False),
)
_verdicts = sa.Table(
    "verdicts",
    _tables,
    sa.Column("id", sa.String, sa.ForeignKey("given.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("target", sa.String, primary_key=True),
    sa.Column("verdict", sa.String, nullable=False),
    # As JSON in ASCII, like `body`: UTF-8 cannot carry every text.
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("at", sa.Float, nullable=False),
)


@dataclass(frozen=True, slots=True)
class Given:
    """What somebody was given.

    Attributes:
        id: unguessable; names it in a verdict.
        kind: an answer, or a retrieval without one.
        corpus: it comes from; `a+b` of several.
        question: as it was asked.
        filters: which documents could be found; None for all.
        turns: messages of the conversation before the question.
        answer: with `[n]` marks; None if the question was declined, and for a retrieval.
        message: what the person read; empty for a retrieval.
        steps: that were told, in order.
        citations, passages: JSON-ready; each with `doc_id`, `chunk_id`, `start` and `end`, passages with `node_id`; of
            several corpora each with its `corpus`.
        synthesizer: who wrote the answer.
        fingerprint: of settings, models and documents.
        mark: by which the key that it was given to is known again; empty if there was none. It is told nobody.
    """

    id: str
    kind: Kind
    corpus: str
    question: str
    filters: Any = None
    turns: int = 0
    answer: str | None = None
    message: str = ""
    steps: tuple[str, ...] = ()
    citations: tuple[dict[str, Any], ...] = ()
    passages: tuple[dict[str, Any], ...] = ()
    synthesizer: str | None = None
    fingerprint: str = ""
    mark: str = ""


@dataclass(frozen=True, slots=True)
class Target:
    """What a verdict is about; the whole answer or retrieval if nothing is set.

    Attributes:
        node_id: of a passage, or its chunk_id.
        step: number of a step, from 0.
        span: offsets `(start, end)` in what the person read.
    """

    node_id: str | None = None
    step: int | None = None
    span: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is kept.

    Attributes:
        keep_days: what nobody judged.
        keep_rated_days: what was judged.
        max_mb: all together.
    """

    keep_days: float
    keep_rated_days: float = 365
    max_mb: float = 100


class FeedbackStore:
    """The records of one index folder. The file is made when the first record is written.

    Args:
        folder: the index folder.
        limits: how much is kept.
        clock: Unix time in seconds.
    """

    def __init__(self, folder: Path, limits: Limits, clock: Callable[[], float] = time.time) -> None:
        self.path = folder / FILE_NAME
        self._limits = limits
        self._clock = clock
        self._engine: sa.Engine | None = None
        self._noted = 0

    def note(self, given: Given) -> None:
        """Keep what was given.

        Raises:
            StorageError: the file cannot be written.
            RagError: it is damaged.
        """
        body = _body(given)
        row = {"id": given.id, "kind": given.kind, "corpus": given.corpus, "at": self._clock()}
        with self._writing() as connection:
            connection.execute(sa.insert(_given).values(**row, bytes=len(body), body=body))
            if self._noted % SWEEP_EVERY == 0:
                self._sweep(connection)
        self._noted += 1

    def judge(  # noqa: PLR0917  # names match at every call
        self,
        id_: str,
        kind: Kind,
        target: Target,
        verdict: Verdict,
        text: str | None,
        opens: Callable[[str, str], bool] = lambda _mark, _corpus: True,
    ) -> None:
        """Keep a verdict; one on the same target is replaced.

        Args:
            id_: of what is judged.
            kind: of it.
            target: the part that is judged.
            verdict: on it.
            text: a remark.
            opens: given the mark and the corpus of what has the id, says whether it is there for the one who judges.

        Raises:
            UnknownAnswerError: nothing of this kind has the id, or not any more or not for the one who judges, or it
                has no such part.
            RagError: there are `MAX_VERDICTS` on other parts of it; or the file is damaged.
            StorageError: the file cannot be written.
        """
        if not self.path.is_file():
            raise _unknown(kind)
        with self._writing() as connection:
            query = sa.select(_given.c.body, _given.c.corpus).where(_given.c.id == id_, _given.c.kind == kind)
            row = connection.execute(query).one_or_none()
            given = {} if row is None else json.loads(row.body)
            if row is None or not opens(given.get("mark", ""), row.corpus):
                raise _unknown(kind)
            target = _within(given, target)
            new = {"id": id_, "target": json.dumps(asdict(target)), "verdict": verdict, "text": json.dumps(text)}
            same = (_verdicts.c.id == id_) & (_verdicts.c.target == new["target"])
            connection.execute(sa.delete(_verdicts).where(same))
            count = sa.select(sa.func.count()).where(_verdicts.c.id == id_)
            if connection.execute(count).scalar_one() >= MAX_VERDICTS:
                raise RagError(
                    f"This {kind} has {MAX_VERDICTS} verdicts already.",
                    "Replace one by sending it with its target.",
                    "too_much_feedback",
                )
            connection.execute(sa.insert(_verdicts).values(**new, at=self._clock()))

    def judged(self, corpus: str | None = None) -> Iterator[dict[str, Any]]:
        """Yield everything that was judged, oldest first, as JSON-ready values: `Given`, `at` and `feedback`.

        Args:
            corpus: only what came from it.

        Raises:
            RagError: the file is damaged.
        """
        if not self.path.is_file():
            return
        after: tuple[float, str] = (0.0, "")
        while True:
            place = sa.tuple_(_given.c.at, _given.c.id)
            query = sa.select(_given).where(place > sa.tuple_(*map(sa.literal, after)))
            query = query.where(sa.exists().where(_verdicts.c.id == _given.c.id))
            if corpus is not None:
                query = query.where(_given.c.corpus == corpus)
            with self._reading() as connection:
                rows = connection.execute(query.order_by(_given.c.at, _given.c.id).limit(PAGE_ROWS)).all()
                found = [_exported(row, self._feedback(connection, row.id)) for row in rows]
            yield from found
            if len(rows) < PAGE_ROWS:
                return
            after = rows[-1].at, rows[-1].id

    def close(self) -> None:
        """Let go of the file."""
        if self._engine is not None:
            self._engine.dispose()
            self._engine = None

    def _feedback(self, connection: sa.Connection, id_: str) -> list[dict[str, Any]]:
        query = sa.select(_verdicts).where(_verdicts.c.id == id_).order_by(_verdicts.c.at)
        return [
            {**json.loads(row.target), "verdict": row.verdict, "text": json.loads(row.text), "at": row.at}
            for row in connection.execute(query)
        ]

    def _sweep(self, connection: sa.Connection) -> None:
        """Delete what is too old; then, while there is too much, the oldest, what nobody judged first."""
        now, rated = self._clock(), _given.c.id.in_(sa.select(_verdicts.c.id))
        old = _given.c.at < now - self._limits.keep_days * DAY_S
        very_old = _given.c.at < now - self._limits.keep_rated_days * DAY_S
        connection.execute(sa.delete(_given).where(sa.or_(very_old, sa.and_(old, ~rated))))
        excess = connection.execute(sa.select(sa.func.sum(_given.c.bytes))).scalar_one() or 0
        excess -= int(self._limits.max_mb * MB)
        if excess <= 0:
            return
        doomed = []
        for row in connection.execute(sa.select(_given.c.id, _given.c.bytes).order_by(rated, _given.c.at)):
            if excess <= 0:
                break
            doomed.append(row.id)
            excess -= row.bytes
        for start in range(0, len(doomed), PAGE_ROWS):
            connection.execute(sa.delete(_given).where(_given.c.id.in_(doomed[start : start + PAGE_ROWS])))

    @contextmanager
    def _writing(self) -> Iterator[sa.Connection]:
        with _failures_named(self.path), self._opened().begin() as connection:
            yield connection

    @contextmanager
    def _reading(self) -> Iterator[sa.Connection]:
        with _failures_named(self.path), self._opened().connect() as connection:
            yield connection

    def _opened(self) -> sa.Engine:
        if self._engine is None:
            private_folder(self.path.parent)
            private_file(self.path)
            engine = sa.create_engine(f"sqlite:///{self.path}", connect_args={"timeout": BUSY_TIMEOUT_S})
            sa.event.listen(engine, "connect", _configure)
            _tables.create_all(engine)
            self._engine = engine
        return self._engine


def _body(given: Given) -> str:
    """Return a record as JSON in ASCII, which no lone surrogate can break."""
    values = {name: value for name, value in asdict(given).items() if name not in ("id", "kind", "corpus")}
    body = json.dumps(values)
    if len(body) > MAX_RECORD_BYTES:
        cut = [{name: value for name, value in passage.items() if name != "text"} for passage in given.passages]
        body = json.dumps({**values, "passages": cut})
    return body


def _exported(row: Any, feedback: list[dict[str, Any]]) -> dict[str, Any]:
    head = {"id": row.id, "kind": row.kind, "corpus": row.corpus, "at": row.at}
    body = json.loads(row.body)
    body.pop("mark", None)  # earlier releases kept none
    return {**head, **body, "feedback": feedback}


def _within(given: dict[str, Any], target: Target) -> Target:
    """Return the target with the passage's own node_id, if it is a part of what was given.

    Raises:
        UnknownAnswerError: it is not.
    """
    if target.node_id is not None:
        for passage in given["passages"]:
            if target.node_id in (passage["node_id"], passage["chunk_id"]):
                return Target(node_id=passage["node_id"])
        raise _no_part("passage", "Send the `node_id` or `chunk_id` of one of its passages or citations.")
    # A view may add a step to those of the engine.
    if target.step is not None and target.step > len(given["steps"]):
        raise _no_part("step", f"It had {len(given['steps'])}, counted from 0.")
    if target.span is not None and not 0 <= target.span[0] < target.span[1] <= len(given["message"]):
        raise _no_part("span", f"Its text has {len(given['message'])} characters.")
    return target


def _no_part(part: str, remedy: str) -> UnknownAnswerError:
    return UnknownAnswerError(f"What you judge has no such {part}.", remedy)


def _unknown(kind: Kind) -> UnknownAnswerError:
    return UnknownAnswerError(
        f"There is no {kind} with this id, or it is kept no longer.",
        f"Send the `{kind}_id` of a reply soon after it came; RAG_FEEDBACK__KEEP_DAYS says how long it is kept.",
    )


@contextmanager
def _failures_named(path: Path) -> Iterator[None]:
    try:
        yield
    except (DBAPIError, OSError) as error:
        raise _failure(path, error) from error


def _failure(path: Path, error: Exception) -> RagError:
    cause = str(error.orig if isinstance(error, DBAPIError) else error).rstrip(".")
    if isinstance(error, OSError) or is_refusal(cause) or is_locked(cause):
        return StorageError(
            f"Feedback cannot be kept in {path}: {cause}.",
            "Free some space, or let this program write there; answers are not affected.",
        )
    return RagError(
        f"{path} cannot be read: {cause}.",
        "Move the file away; a new one is made with the next answer.",
        "feedback_unavailable",
    )


def _configure(connection: Any, _record: object) -> None:
    # A power cut may cost the last answers' records, never the file.
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.execute("PRAGMA foreign_keys=ON")
