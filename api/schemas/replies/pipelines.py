"""Pipelines of steps and their tasks: `/pipeline`, `/task`.

Flow: **here** -> `api/openapi.py`. What tasks say of themselves is made in `pipelines/`.
"""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import ConfigDict, Field, RootModel

from api.schemas.replies.base import Id, Moment, Reply

if TYPE_CHECKING:  # it loads the database's library
    from pipelines.tasks import store

Plan = Annotated[
    dict[str, Any],
    Field(examples=[{"query": "What turns blades?", "1": {"id": "corpus_datasource", "parameters": {}}}]),
]
Seconds = Annotated[float, Field(examples=[0.12])]


class StepInfo(Reply):
    """The declaration of a step."""

    name: str
    """Its name, for people."""
    category: str
    """The group that it belongs to."""
    description: str
    """What it does."""
    parameters: dict[str, Any]
    """Its parameters by name: title, description, type, default and what values they take."""


class StepsReply(RootModel[dict[str, StepInfo]]):
    """The declaration of every step, by id."""

    model_config = ConfigDict(defer_build=True)


class ExamplePipeline(Reply):
    """A complete pipeline."""

    title: str
    """What it is for."""
    pipeline: Plan
    """The body of `POST /task/run`."""


class ExamplesReply(Reply):
    """Complete pipelines to begin with."""

    examples: list[ExamplePipeline]
    """Those that this service can run."""


class SavedPipeline(Reply):
    """A saved pipeline."""

    id: Id
    """Its id."""
    name: str
    """Its name; empty if it has none."""
    query: str | None
    """Its query; null or empty if it was saved without one."""
    steps: list[str]
    """Ids of its steps."""
    created_at: Moment
    """When it was saved, ISO 8601, UTC."""

    @classmethod
    def build(cls, saved: "store.SavedPipeline") -> Self:
        """Return a saved pipeline without its body."""
        return cls.filled(saved, created_at=datetime.fromtimestamp(saved.created_s, UTC).isoformat(timespec="seconds"))


class SavedPipelinesReply(Reply):
    """A page of the saved pipelines."""

    pipelines: list[SavedPipeline]
    """The newest first."""
    next: str | None
    """`after` of the following page; null on the last one."""


class PipelineReply(RootModel[Plan]):
    """A pipeline in its plain form: `query`, `parameters`, and the steps by their numbers."""

    model_config = ConfigDict(defer_build=True)


class DeletedPipelineReply(Reply):
    """Which pipeline was deleted."""

    deleted: Id
    """Its id."""


class RankedDocument(Reply):
    """A document and its places."""

    # A pipeline's documents have the fields that its steps gave them.
    model_config = ConfigDict(extra="allow")

    ranks: Annotated[dict[str, int | None], Field(examples=[{"_original_ranking_": 3, "_reranking_rank_1_": 1}])]
    """Its place in each ranking, from 1; null where it has none."""


class RankedPair(Reply):
    """How two rankings differ."""

    from_: Annotated[str, Field(alias="from")]
    """The first ranking."""
    to: str
    """The second ranking."""
    kendall_tau: float | None
    """Kendall's tau-b, -1 to 1; null for fewer than two documents."""
    overlap: Annotated[dict[str, float], Field(examples=[{"5": 0.8, "10": 0.9}])]
    """By k, the share of the first k documents that both have, 0 to 1."""
    moves: list[dict[str, Any]]
    """The documents whose place changed most, up to 5: `id`, `doc_id`, `title`, and the places `from` and `to`."""


class CompareReply(Reply):
    """Rankings side by side."""

    query: str
    """The task's query."""
    rank_columns: list[str]
    """The rankings."""
    documents: list[RankedDocument]
    """All documents, each with `id`, `doc_id`, `title` as far as they have these."""
    pairs: list[RankedPair]
    """How each two of the rankings differ."""


class StepOutput(Reply):
    """What a step did."""

    id: str
    """The step."""
    seconds: Seconds
    """How long it took."""
    looked_up: int
    """Rows that were looked up in the cache."""
    found: int
    """Rows that the cache had."""
    warnings: list[str]
    """What lowered the quality."""


class TaskProgress(Reply):
    """How far a task is."""

    current_step: str
    """Name of the step, or `Waiting`."""
    current_step_index: str
    """Number of the step, from 1; empty while the task waits."""
    pipeline_progress: Annotated[str, Field(examples=["2/3"])]
    """Steps that are done, of all."""
    pipeline_percentage: float
    """Share of the steps that are done, 0 to 1."""
    pipeline_error: str
    """Why the task failed; empty unless it did."""
    pipeline_error_index: str
    """Number of the step that failed, from 1; empty unless one did."""
    log: list[str]
    """What happened, in order."""
    step_output: dict[str, StepOutput]
    """What each step did, by its number."""
    step_progress: dict[str, list[str]]
    """What happened in each step, by its id."""
    warnings: list[str]
    """What lowered the quality."""


class TaskResult(Reply):
    """What a task found; JSON in strings."""

    data: str
    """The documents: a JSON list of objects."""
    result_description: str
    """How many documents, and how long it took, as a sentence."""
    aggregated_data: str
    """What was computed over all documents: a JSON list."""
    metadata: str
    """The columns and what each is for: a JSON list."""


class TaskReply(Reply):
    """A task."""

    has_finished: bool
    """Whether it has ended."""
    progress: TaskProgress
    """How far it is."""
    result: TaskResult | None
    """What it found; null until it has ended."""


class TableColumn(Reply):
    """A column of a table, and what it is for."""

    id: str
    """Its name."""
    rank: bool
    """It holds the places of a ranking."""
    text: bool
    """It is shown as text."""
    chip: bool
    """It is shown as a label."""


class TableReply(Reply):
    """Rows of the table that a step left."""

    step: int
    """Number of the step, from 1."""
    id: str
    """The step."""
    count: int
    """Rows of the whole table."""
    columns: list[TableColumn]
    """Its columns."""
    rows: list[dict[str, Any]]
    """The rows that were asked for, or as many as the reply has room for."""
    cut: int
    """How many of their cells were cut; these end with `…`."""
