"""What travels from step to step: a table of documents and the roles of its columns.

Flow: `running.py` begins with an empty one -> steps return changed ones -> **here** -> `tasks/store.py` keeps each
copy, `tasks/view.py` shows the last. The only file that knows Arrow. Its tables are immutable: all copies share the
columns that no step changed.
"""

import json
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Literal

import pyarrow as pa

# Converted together.
ROWS_AT_ONCE = 50

Role = Literal["text", "rank", "chip"]
Row = Mapping[str, Any]

ROLES: tuple[Role, ...] = ("rank", "text", "chip")
ORIGINAL_RANK = "_original_ranking_"
"""The rank that the sources gave; every reranker adds `_reranking_rank_1_`, `_reranking_rank_2_` and so on."""
# A chat reads the first documents of a task's table.
CHAT_DOCUMENTS = 50


@dataclass(frozen=True, slots=True)
class StepRecord:
    """How a step went.

    Attributes:
        step: its number, from 1.
        name: its id.
        roles: what the columns are for after it.
        seconds: how long it took.
        warnings: what it lowered or left out.
        looked_up: rows that it asked the row cache for.
        found: those of them that were there.
    """

    step: int
    name: str
    roles: Mapping[str, Sequence[Role]]
    seconds: float = 0.0
    warnings: Sequence[str] = ()
    looked_up: int = 0
    found: int = 0


@dataclass(frozen=True, slots=True)
class PipelineState:
    """A table of documents and what belongs to it. Never changed: each method returns a new one.

    Attributes:
        query: what is asked; steps may change it.
        documents: one row a document.
        roles: column -> what it is for: `text` is read, `rank` counts from 1 for the best, a `chip` is a short fact.
        aggregated: what was said of all documents together: `title`, `data`, and `citations` where it quotes.
        history: how every step went, the oldest first; each step's table goes to the watcher of the run.
    """

    query: str
    documents: pa.Table = field(default_factory=lambda: pa.table({}))
    roles: Mapping[str, Sequence[Role]] = field(default_factory=dict)
    aggregated: tuple[Row, ...] = ()
    history: tuple[StepRecord, ...] = ()

    @property
    def count(self) -> int:
        """Number of documents."""
        return int(self.documents.num_rows)

    @property
    def columns(self) -> list[str]:
        """Names of the columns, in order."""
        return list(self.documents.column_names)

    @property
    def rank_columns(self) -> list[str]:
        """Names of the columns that rank, in the order in which they were added."""
        return [name for name in self.columns if "rank" in self.roles.get(name, ())]

    def values(self, column: str) -> list[Any]:
        """Return a column's values, one a row; None where there is none."""
        return list(self.documents.column(column).to_pylist())

    def texts(self, column: str) -> list[str]:
        """Return a column as text; empty where there is none."""
        return ["" if value is None else str(value) for value in self.values(column)]

    def rows(self, columns: Sequence[str] | None = None) -> list[dict[str, Any]]:
        """Return the rows, JSON-ready; of all columns if None."""
        return records(self.documents if columns is None else self.documents.select(list(columns)))

    def with_column(self, name: str, values: Sequence[Any], *roles: Role) -> "PipelineState":
        """Return the state with a column added, or put in the place of one of this name.

        Args:
            name: of the column.
            values: one a row, all of one kind; None and NaN stand for none.
            roles: what it is for.

        Raises:
            pyarrow.ArrowInvalid: the values are of different kinds, or more or fewer than the rows.
        """
        column = _array(values)
        place = self.documents.schema.get_field_index(name)
        documents = (
            self.documents.append_column(name, column) if place < 0 else self.documents.set_column(place, name, column)
        )
        return replace(self, documents=documents, roles={**self.roles, name: roles})

    def with_role(self, name: str, role: Role) -> "PipelineState":
        """Return the state with a column that is for this alone."""
        return replace(self, roles={**self.roles, name: (role,)})

    def with_rank(self, scores: Sequence[float], score_column: str) -> "PipelineState":
        """Return the state with the rank column of the next reranker, and ordered by it.

        Args:
            scores: one a row, higher is better; equal ones keep the order of the rows.
            score_column: where the scores themselves are kept.
        """
        order = sorted(range(len(scores)), key=lambda row: -scores[row])
        ranks = [0] * len(order)
        for rank, row in enumerate(order, start=1):
            ranks[row] = rank
        name = rank_column(sum(name != ORIGINAL_RANK for name in self.rank_columns) + 1)
        ranked = self.with_column(score_column, [float(score) for score in scores])
        return ranked.with_column(name, ranks, "rank").take(order)

    def take(self, rows: Sequence[int]) -> "PipelineState":
        """Return the state with these rows only, in this order."""
        return replace(self, documents=self.documents.take(pa.array(rows, pa.int64())))

    def with_documents(
        self, columns: Mapping[str, Sequence[Any]], roles: Mapping[str, tuple[Role, ...]]
    ) -> "PipelineState":
        """Return the state with documents added behind those it has; columns that one side lacks are empty there."""
        added = pa.table({name: _array(values) for name, values in columns.items()})
        documents = pa.concat_tables([self.documents, added], promote_options="permissive") if self.columns else added
        return replace(self, documents=documents, roles={**self.roles, **roles})

    def with_aggregated(self, title: str, data: str, citations: Sequence[Row] = ()) -> "PipelineState":
        """Return the state with something said of all documents together."""
        row = {"title": title, "data": data, **({"citations": list(citations)} if citations else {})}
        return replace(self, aggregated=(*self.aggregated, row))

    def metadata(self) -> list[dict[str, Any]]:
        """Return what each column with a role is for: `id`, `rank`, `text`, `chip`."""
        return [
            {"id": name, **{role: role in self.roles[name] for role in ROLES}}
            for name in self.columns
            if self.roles.get(name)
        ]

    def column_bytes(self) -> dict[str, int]:
        """Return what each column takes in memory."""
        return {name: int(self.documents.column(name).nbytes) for name in self.columns}


def rank_column(number: int) -> str:
    """Return the name of the rank column of a pipeline's reranker, counted from 1."""
    return f"_reranking_rank_{number}_"


def records(table: pa.Table) -> list[dict[str, Any]]:
    """Return the rows of a table, JSON-ready: what is not a finite number is None."""
    return [{name: _finite(value) for name, value in row.items()} for row in table.to_pylist()]


def each_record(table: pa.Table) -> Iterator[dict[str, Any]]:
    """Yield the rows as `records` returns them, with few of them in memory beside the table."""
    for start in range(0, table.num_rows, ROWS_AT_ONCE):
        yield from records(table.slice(start, ROWS_AT_ONCE))


def unchanged(name: str, before: PipelineState, after: PipelineState) -> bool:
    """Say whether a column, which both states have, is the same."""
    return bool(before.documents.column(name).equals(after.documents.column(name)))


def joined(names: Sequence[str], parts: Mapping[str, pa.Table]) -> pa.Table:
    """Return a table of these columns, each taken from the part of its name."""
    return pa.table({name: parts[name].column(name) for name in names})


def to_bytes(table: pa.Table) -> bytes:
    """Return a table as an Arrow stream, compressed."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue().to_pybytes())


def from_bytes(stored: bytes, columns: Collection[str] | None = None) -> pa.Table:
    """Read what `to_bytes` wrote; of it these columns alone, None meaning all."""
    with pa.ipc.open_stream(stored) as reader:
        wanted = [place for place, name in enumerate(reader.schema.names) if columns is None or name in columns]
        if len(wanted) == len(reader.schema.names):
            return reader.read_all()
    # Of no columns the option would read all.
    if not wanted:
        return pa.table({})
    with pa.ipc.open_stream(stored, options=pa.ipc.IpcReadOptions(included_fields=wanted)) as reader:
        return reader.read_all()


def to_facts(state: PipelineState, columns: Mapping[str, int]) -> str:
    """Return all of a state after a step but its table and what it says of earlier steps, as JSON.

    Args:
        state: after the step.
        columns: of the table, in order, with the step that they are kept with.
    """
    facts = {"query": state.query, "aggregated": state.aggregated, "columns": dict(columns)}
    return json.dumps(facts | asdict(state.history[-1]))


def from_facts(kept: Sequence[Mapping[str, Any]], table: pa.Table) -> PipelineState:
    """Return the state that was kept.

    Args:
        kept: what `to_facts` wrote after each step, read, in order; not empty.
        table: after the last one.
    """
    names = [field.name for field in fields(StepRecord)]
    return PipelineState(
        query=kept[-1]["query"],
        documents=table,
        roles=kept[-1]["roles"],
        aggregated=tuple(kept[-1]["aggregated"]),
        history=tuple(StepRecord(**{name: facts[name] for name in names}) for facts in kept),
    )


def is_column(values: Sequence[Any]) -> bool:
    """Say whether a table can hold these values as one column."""
    try:
        _array(values)
    except (pa.ArrowException, OverflowError):
        return False
    return True


def _array(values: Sequence[Any]) -> pa.Array:
    array = pa.array(values, from_pandas=True)
    # Nothing but empty cells: text is what a later source most likely brings.
    return array.cast(pa.string()) if pa.types.is_null(array.type) else array


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
