"""What a step is: a declaration, and a function from one state to the next.

Flow: `registry.py` knows the classes -> `body.py` makes one from a client's parameters -> `running.py` calls
`transform` -> **here**. The four kinds below are what most steps need; `steps/` holds those that come with the project,
`docs/pipelines.md` shows how to add one.
"""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, ClassVar, Literal

from errors import StepError
from pipelines import parameters as declarations
from pipelines.handler import StepHandler
from pipelines.parameters import ColumnName, StepParameters, Text, parameter
from pipelines.services import Services
from pipelines.state import ROLES, PipelineState, Role
from query_engine.schema.passage import Passage

Category = Literal["Data Sources", "Pre-Processing", "Filtering", "Rerankers", "Metadata Analysis", "Summarizers"]

FULL_TEXT = "full-text"
"""The column that the sources fill."""


class Step(ABC):
    """One step of a pipeline.

    Class attributes:
        id: names it in a pipeline; unique.
        name, category, description: for people.
        Parameters: what a client may set.
        version: part of the row cache's key; raise it when the step computes something else than before.
        closed: it adds no columns but those that `writes` names, so that a later step's columns can be checked before
            anything runs.

    Attributes:
        given: the values of the parameters.
    """

    id: ClassVar[str]
    name: ClassVar[str]
    category: ClassVar[Category]
    description: ClassVar[str]
    version: ClassVar[int] = 1
    closed: ClassVar[bool] = False

    class Parameters(StepParameters):
        """None."""

    def __init__(self, given: StepParameters) -> None:
        self.given: Any = given

    @abstractmethod
    def transform(self, state: PipelineState, handler: StepHandler) -> PipelineState:
        """Return the next state.

        Raises:
            RagError: it cannot be computed; the task fails, or goes on without the step, as the pipeline says.
        """

    @classmethod
    def get_name(cls) -> str:
        """Return the name for people."""
        return cls.name

    @classmethod
    def get_info(cls) -> dict[str, Any]:
        """Return the declaration, JSON-ready: `name`, `category`, `description`, `parameters`."""
        return {
            "name": cls.name,
            "category": cls.category,
            "description": cls.description,
            "parameters": declarations.described(cls.Parameters),
        }

    def check(self, services: Services) -> None:  # noqa: B027  # most steps need nothing
        """Refuse, before any work begins, what these services cannot do; nothing by default.

        Raises:
            PipelineError: what is missing, and where to set it.
        """

    def reads(self) -> list[str]:
        """Return the columns that must be there."""
        return declarations.columns(self.given, "reads")

    def writes(self) -> list[str]:
        """Return the columns that it adds, without rank columns."""
        return declarations.columns(self.given, "writes")


class SourceStep(Step):
    """A step that brings documents."""

    category = "Data Sources"


class RowStep(Step):
    """A step that makes one value of each row's text. Caching and progress come with it.

    Class attributes:
        roles: of the column that it adds.
        cached: False computes every row: for what costs less than a look-up.
    """

    closed = True
    roles: ClassVar[tuple[Role, ...]] = ("text",)
    cached: ClassVar[bool] = True

    class Parameters(StepParameters):
        """Where it reads and writes."""

        input_column: ColumnName = parameter(
            FULL_TEXT, "Input column", "Column that is read.", column="reads", offered=(FULL_TEXT,)
        )
        output_column: ColumnName = parameter("result", "Output column", "Column that is added.", column="writes")

    def transform(self, state: PipelineState, handler: StepHandler) -> PipelineState:
        """Add the column."""
        rows = self.inputs(state)
        compute = self._by_data if self._takes_data() else self.transform_rows
        name = [self.id, self.version, declarations.values_that_count(self.given), self.fingerprint(handler)]
        name.append(state.query if self.reads_query() else "")
        values = handler.each(rows, name, lambda some: compute(some, state, handler), cached=self.cached)
        if not self._takes_data():
            return self.outcome(state, values)
        named = [role for _, role in values if role in ROLES]
        changed = self.outcome(state, [value for value, _ in values])
        return changed.with_role(self.given.output_column, named[-1]) if named else changed

    def transform_row(self, text: Any, state: PipelineState, handler: StepHandler) -> Any:
        """Return what becomes of one row, JSON-ready.

        mosaicRAG's `transform_row(self, data, handler)` runs as well: it returns the value, and the role of the column
        or None for that of the class.

        Args:
            text: of the input column, or what `inputs` returned for the row.
            state: all documents, for what is not of the row; it is not part of the cache's key.
            handler: services, log, warnings.
        """
        raise NotImplementedError("override transform_row or transform_rows")

    def transform_rows(self, rows: list[Any], state: PipelineState, handler: StepHandler) -> Iterable[Any]:
        """Yield the result for each row; override it where batches are faster."""
        for row in rows:
            yield self.transform_row(row, state, handler)

    def _takes_data(self) -> bool:
        return len(inspect.signature(self.transform_row).parameters) == len(("data", "handler"))

    def _by_data(self, rows: list[Any], _state: PipelineState, handler: StepHandler) -> Iterator[list[Any]]:
        row_of: Callable[[Any, StepHandler], Any] = self.transform_row  # type: ignore[assignment]  # has two parameters
        for row in rows:
            made = row_of(row, handler)
            if not (isinstance(made, tuple) and len(made) == len(("value", "role"))):
                raise StepError(
                    f"`transform_row(data, handler)` of {self.id} returns no pair.",
                    "Return the value, and `text`, `chip`, `rank` or None.",
                )
            yield list(made)

    def inputs(self, state: PipelineState) -> Sequence[Any]:
        """Return what decides each row's outcome, JSON-ready: the text of the input column by default."""
        return state.texts(self.given.input_column)

    def outcome(self, state: PipelineState, values: list[Any]) -> PipelineState:
        """Put the values into the state: as the output column by default."""
        return state.with_column(self.given.output_column, values, *self.roles)

    def fingerprint(self, handler: StepHandler) -> str:  # noqa: ARG002  # for those who override it
        """Name the model that computes, so that another one's rows are not taken for its own."""
        return ""

    def reads_query(self) -> bool:
        """Say whether the outcome depends on the pipeline's query."""
        return False


# As mosaicRAG calls them.
PipelineStep = Step
RowProcessorPipelineStep = RowStep


class QueryParameters(StepParameters):
    """What is read, and by which query."""

    input_column: ColumnName = parameter(
        FULL_TEXT, "Input column", "Column that is read.", column="reads", offered=(FULL_TEXT,)
    )
    query: Text = parameter("", "Optional query", "Query of this step alone; empty: the pipeline's.")


class LanguageParameters(RowStep.Parameters):
    """Where it reads and writes, and where the language stands."""

    language_column: declarations.OptionalColumn = parameter(
        "language",
        "Language column",
        "Column with the language's ISO 639 code; empty: each text's language is told by its own words.",
        column="reads",
        offered=("language",),
    )


class RerankerStep(Step):
    """A step that ranks: it adds a rank column, and one with its scores, and orders the rows."""

    category = "Rerankers"
    closed = True

    class Parameters(QueryParameters):
        """What is read, and by which query."""

    def transform(self, state: PipelineState, handler: StepHandler) -> PipelineState:
        """Add the rank column and order the rows by it."""
        texts = state.texts(self.given.input_column)
        scores = self.scores(self.given.query or state.query, texts, handler) if texts else []
        return state.with_rank(scores, self.score_column(handler.number))

    @abstractmethod
    def scores(self, query: str, texts: list[str], handler: StepHandler) -> Sequence[float]:
        """Return one finite score a text, higher is better."""

    def score_column(self, number: int) -> str:
        """Return the name of the column with its scores, it being this step of the pipeline."""
        return f"score_{number}_{self.short_name()}"

    def short_name(self) -> str:
        """Return what its scores are called."""
        return self.id.removesuffix("_reranker")


def passages_as_columns(passages: Iterator[Passage] | Sequence[Passage], text_column: str) -> dict[str, list[Any]]:
    """Return passages as the columns that every source brings, without ranks.

    Columns: `id` (the passage), `doc_id`, `title`, `url`, the text, `start` and `end` (of the text in its document, in
    characters) and `score`.
    """
    found = list(passages)
    return {
        "id": [one.chunk_id for one in found],
        "doc_id": [one.doc_id for one in found],
        "title": [one.title for one in found],
        "url": [one.url for one in found],
        text_column: [one.text for one in found],
        "start": [one.start for one in found],
        "end": [one.end for one in found],
        "score": [float(one.score) for one in found],
    }
