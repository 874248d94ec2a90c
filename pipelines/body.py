"""Read a pipeline as clients write it, and check all that can be checked before anything runs.

Flow: a body of `/task/run`, a saved pipeline or a file -> **here** -> `running.py`. The form is mosaicRAG's: `query`,
`parameters` for the sources, and the steps under "1", "2" and so on, plain or wrapped in {"pipeline": ...}.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from errors import PipelineError, QuestionError, RagError
from pipelines.parameters import StepParameters, read_parameters, unknown
from pipelines.registry import Registry
from pipelines.services import Services
from pipelines.state import rank_column
from pipelines.step import RerankerStep, SourceStep, Step
from query_engine.question.validation import clean_question

Policy = Literal["stop", "continue"]
MAX_STEPS = 50
MAX_DIGITS = 4
MAX_CHARS = 100_000
SHAPE = 'Write {"query": "...", "1": {"id": "corpus_datasource", "parameters": {}}, "2": {...}}.'


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """A step with its place.

    Attributes:
        number: from 1.
        step: ready to run.
        on_error: what follows if it fails: `stop`, or `continue` with its input unchanged and a warning.
    """

    number: int
    step: Step
    on_error: Policy

    @property
    def label(self) -> str:
        """What it is called in messages."""
        return f"step {self.number} ({self.step.id})"


@dataclass(frozen=True, slots=True)
class Plan:
    """A pipeline that may run.

    Attributes:
        query: what is asked.
        steps: in order.
        body: the pipeline in its plain form, JSON-ready.
    """

    query: str
    steps: tuple[PlannedStep, ...]
    body: dict[str, Any]


def plain(body: object) -> dict[str, Any]:
    """Return a body without its wrapping.

    Raises:
        PipelineError: it is not an object, or wrapped twice.
    """
    inner = body.get("pipeline", body) if isinstance(body, dict) else body
    if not isinstance(inner, dict):
        raise PipelineError("The pipeline is not a JSON object.", SHAPE)
    if "pipeline" in inner:
        raise PipelineError("A pipeline holds a pipeline.", "Write its steps in its place.")
    return dict(inner)


def read_plan(body: object, registry: Registry, services: Services, *, query: str | None = None) -> Plan:
    """Check a pipeline.

    Args:
        body: parsed JSON.
        registry: the steps that there are.
        services: what they may call.
        query: takes the place of the body's; None leaves it.

    Raises:
        PipelineError: the pipeline cannot run; names the step.
        QuestionError: the query cannot be asked.
        FilterError: a filter has no meaning.
    """
    given = plain(body)
    if query is not None:
        given["query"] = query
    text = given.get("query")
    if not isinstance(text, str):
        raise QuestionError("The pipeline has no query.", SHAPE)
    query = clean_question(text)
    defaults = {} if given.get("parameters") is None else given["parameters"]
    if not isinstance(defaults, dict):
        raise PipelineError("`parameters` must be an object.", SHAPE)
    numbered = _numbered(given)
    steps = tuple(_step(number, raw, defaults, registry) for number, raw in enumerate(numbered, start=1))
    _check_defaults(defaults, steps)
    _check_columns(steps)
    for planned in steps:
        _check_services(planned, services)
    kept = {"query": query, **({"parameters": defaults} if defaults else {})}
    kept |= {str(number): raw for number, raw in enumerate(numbered, start=1)}
    if (chars := len(json.dumps(kept))) > MAX_CHARS:
        raise PipelineError(f"The pipeline has {chars:,} characters.", f"At most {MAX_CHARS:,} are taken.")
    return Plan(query, steps, kept)


def _numbered(given: Mapping[str, Any]) -> list[Any]:
    """Return the steps in order."""
    names = [name for name in given if name not in {"query", "parameters"}]
    for name in names:
        if not (isinstance(name, str) and name.isascii() and name.isdigit() and len(name) <= MAX_DIGITS):
            raise unknown("The pipeline has an unknown key", name, ["query", "parameters", "1", "2"])
    numbers = sorted(map(int, names))
    if not numbers:
        raise PipelineError("The pipeline has no steps.", SHAPE)
    if len(numbers) > MAX_STEPS:
        raise PipelineError(f"The pipeline has {len(numbers)} steps.", f"At most {MAX_STEPS} are taken.")
    if numbers != list(range(1, len(numbers) + 1)) or {str(number) for number in numbers} != set(names):
        raise PipelineError(
            f"The steps are numbered {', '.join(map(str, numbers[:10]))}: there is a gap, or one stands twice.",
            "Number them 1, 2, 3 and so on.",
        )
    return [given[str(number)] for number in numbers]


def _step(number: int, raw: object, defaults: Mapping[str, Any], registry: Registry) -> PlannedStep:
    where = f"Step {number}"
    if not isinstance(raw, dict) or not isinstance(raw.get("id"), str):
        raise PipelineError(f"{where} has no id.", 'Write {"id": "...", "parameters": {...}}.')
    for name in raw:
        if name not in {"id", "parameters", "on_error"}:
            raise unknown(f"{where} has an unknown key", name, ["id", "parameters", "on_error"])
    step_class = registry.get(raw["id"])
    if step_class is None:
        raise unknown(f"{where}: there is no step", raw["id"], registry.ids())
    on_error = raw.get("on_error", "stop")
    if on_error not in get_args(Policy):
        raise unknown(f"{where}: there is no policy", on_error, list(get_args(Policy)))
    given = {} if raw.get("parameters") is None else raw["parameters"]
    if issubclass(step_class, SourceStep) and isinstance(given, dict):
        # Only what the source knows: the others are for another source.
        known = {name: value for name, value in defaults.items() if name in step_class.Parameters.model_fields}
        given = {**known, **given}
    where = f"{where} ({raw['id']})"
    parameters: StepParameters = read_parameters(step_class.Parameters, given, where)
    return PlannedStep(number, step_class(parameters), on_error)


def _check_defaults(defaults: Mapping[str, Any], steps: tuple[PlannedStep, ...]) -> None:
    known = {name for one in steps if isinstance(one.step, SourceStep) for name in one.step.Parameters.model_fields}
    for name in defaults:
        if name not in known:
            raise unknown("No source of the pipeline has the parameter", name, sorted(known))


def _check_columns(steps: tuple[PlannedStep, ...]) -> None:
    """Follow the columns through the pipeline, as far as the steps declare them."""
    there: set[str] = set()
    written: dict[str, PlannedStep] = {}
    closed, rerankers = True, 0
    for planned in steps:
        step = planned.step
        missing = [name for name in step.reads() if name not in there]
        if closed and missing:
            raise PipelineError(
                f"Step {planned.number} ({step.id}) reads column {missing[0]!r}, which no step before it adds.",
                f"There are: {', '.join(sorted(there)) or 'none; begin with a source'}.",
            )
        added = step.writes()
        if isinstance(step, RerankerStep):
            rerankers += 1
            added = [*added, rank_column(rerankers), step.score_column(planned.number)]
        for name in added:
            before = written.get(name)
            # Sources add rows to the columns of those before them.
            both_sources = before is not None and isinstance(before.step, SourceStep) and isinstance(step, SourceStep)
            if before is not None and not both_sources:
                raise PipelineError(
                    f"Step {planned.number} ({step.id}) writes column {name!r}, which step {before.number} "
                    f"({before.step.id}) wrote.",
                    "Give one of them another output column.",
                )
            written[name] = planned
        there.update(added)
        closed = closed and step.closed


def _check_services(planned: PlannedStep, services: Services) -> None:
    try:
        planned.step.check(services)
    except RagError as error:
        raise type(error)(f"Step {planned.number} ({planned.step.id}): {error.fact}", error.remedy) from error
