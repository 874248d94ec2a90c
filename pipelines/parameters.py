"""How a step declares its parameters: once, in pydantic. Validation and `GET /pipeline/info` follow from it.

Flow: `step.py` and `steps/` declare -> **here** -> `body.py` checks what a client sent, `info` tells the web page what
there is to choose.
"""

import difflib
import json
import types
import typing
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic.fields import FieldInfo

from errors import PipelineError

MAX_NAME_CHARS = 100
MAX_TEXT_CHARS = 8000
# One line, without control characters.
NAME_FORM = r"^[^\x00-\x1f\x7f-\x9f\u2028\u2029]*$"

Use = Literal["reads", "writes"]
_YES_NO = {"yes": True, "no": False}


class StepParameters(BaseModel):
    """The parameters of a step: immutable, only declared names, only values in range."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)


Text = Annotated[str, Field(max_length=MAX_TEXT_CHARS)]
ColumnName = Annotated[str, Field(min_length=1, max_length=MAX_NAME_CHARS, pattern=NAME_FORM)]
OptionalColumn = Annotated[str, Field(max_length=MAX_NAME_CHARS, pattern=NAME_FORM)]
YesNo = Annotated[
    bool, BeforeValidator(lambda value: _YES_NO.get(value.lower(), value) if isinstance(value, str) else value)
]
"""A truth value; clients write `Yes` and `No` as well."""


def _from_json(value: object) -> object:
    """Read an object that a form sent as text; an empty one is none."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value) if value.strip() else None
    except (ValueError, RecursionError) as error:
        raise ValueError("write a JSON object") from error


JsonObject = Annotated[dict[str, Any] | None, BeforeValidator(_from_json)]
"""An object, or its JSON as text; empty for none."""


def parameter(
    default: Any,
    title: str,
    description: str,
    *,
    column: Use | None = None,
    offered: tuple[Any, ...] = (),
    also: tuple[str, ...] = (),
    **limits: Any,
) -> Any:
    """Declare a parameter.

    Args:
        default: its value where a client leaves it out; `...` if it may not be left out.
        title: for people.
        description: a sentence for people.
        column: it names a column that the step reads or writes: one line of 100 characters at most. An empty name, to
            read, stands for none.
        offered: values to choose from, beside which others are allowed; a `Literal` allows no others.
        also: other names that clients write.
        limits: of the value, as in pydantic's `Field`: `ge`, `le`, `max_length` and so on.
    """
    extra: dict[str, Any] = {"column": column, "offered": list(offered), "also": list(also)}
    if column:
        limits = {"max_length": MAX_NAME_CHARS, "pattern": NAME_FORM, **limits}
    if column == "writes":
        limits = {"min_length": 1, **limits}
    return Field(default, title=title, description=description, json_schema_extra=extra, **limits)


def embedding_parameter() -> Any:
    """Declare which embedding model a step uses."""
    return parameter(
        "",
        "Model",
        "The service's embedding model, by its name; empty stands for it. Another name: the service's is used with a "
        "warning.",
        also=("embedding_model",),
    )


def columns(parameters: StepParameters, use: Use) -> list[str]:
    """Return the columns that the parameters name for this use."""
    return [
        str(getattr(parameters, name))
        for name, declared in type(parameters).model_fields.items()
        if _extra(declared).get("column") == use and getattr(parameters, name)
    ]


def values_that_count(parameters: StepParameters) -> dict[str, Any]:
    """Return the parameters that decide what a step makes of a row: all but the names of columns."""
    named = {name for name, declared in type(parameters).model_fields.items() if _extra(declared).get("column")}
    return parameters.model_dump(mode="json", exclude=named)


def described(parameters: type[StepParameters]) -> dict[str, dict[str, Any]]:
    """Return the declaration of each parameter as JSON: what a client needs to offer it.

    Keys: `title`, `description`, `type` (`dropdown`, `number` or `text`), `enforce-limit` (no others than the
    supported values), `required`, `supported-values`, `default`; `minimum` and `maximum` where there are some.
    """
    return {name: _described(declared) for name, declared in parameters.model_fields.items()}


def read_parameters(parameters: type[StepParameters], given: object, where: str) -> StepParameters:
    """Check what a client sent.

    Args:
        parameters: the declaration.
        given: parsed JSON.
        where: names the step, to begin the sentence.

    Raises:
        PipelineError: a name is unknown, or a value has the wrong kind or is out of range.
    """
    if not isinstance(given, dict):
        raise PipelineError(f"{where}: `parameters` must be an object.", 'Write {"name": value, ...}, or leave it out.')
    given = _renamed(parameters, given, where)
    try:
        return parameters.model_validate(given)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        name = str(first["loc"][0]) if first["loc"] else ""
        message = first["msg"].removeprefix("Value error, ").rstrip(".")
        meaning = (parameters.model_fields[name].description or "") if name in parameters.model_fields else ""
        raise PipelineError(f"{where}: parameter {name!r} is not valid: {message}.", f"It means: {meaning}") from error


def _renamed(parameters: type[StepParameters], given: dict[str, Any], where: str) -> dict[str, Any]:
    """Return the values by the declared names.

    Raises:
        PipelineError: a name is unknown, or a parameter is given twice.
    """
    known = {other: name for name, declared in parameters.model_fields.items() for other in _extra(declared)["also"]}
    known |= {name: name for name in parameters.model_fields}
    for name in given:
        if name not in known:
            raise unknown(f"{where}: there is no parameter", name, list(parameters.model_fields))
        if known[name] != name and known[name] in given:
            raise PipelineError(f"{where}: {name!r} and {known[name]!r} mean the same.", "Leave one of them out.")
    return {known[name]: value for name, value in given.items()}


def unknown(fact: str, name: object, known: list[str]) -> PipelineError:
    """Return the error that a name is not known, with the nearest one that is."""
    shown = str(name)[:MAX_NAME_CHARS]
    near = difflib.get_close_matches(shown, known, n=1, cutoff=0.4)
    hint = f"The nearest known one is {near[0]!r}." if near else f"Known are: {', '.join(known)}."
    return PipelineError(f"{fact} {shown!r}.", hint if known else "There is none.")


def _described(declared: FieldInfo) -> dict[str, Any]:
    extra = _extra(declared)
    kinds = _kinds(declared.annotation)
    literal = next((kind for kind in kinds if typing.get_origin(kind) is Literal), None)
    default = None if declared.is_required() else declared.default
    supported, enforced = list(extra.get("offered", [])), False
    if literal is not None:
        supported, enforced = list(typing.get_args(literal)), True
    elif set(kinds) <= {bool, types.NoneType}:
        supported, enforced, default = ["Yes", "No"], True, "Yes" if default else "No"
    kind = "dropdown" if supported else "number" if set(kinds) <= {int, float, types.NoneType} else "text"
    shown: dict[str, Any] = {
        "title": declared.title or "",
        "description": declared.description or "",
        "type": kind,
        "enforce-limit": enforced,
        "required": declared.is_required(),
        "supported-values": list(map(str, supported)),
        "default": default,
    }
    for limit in declared.metadata:
        for name, attribute in (("minimum", "ge"), ("maximum", "le")):
            if (value := getattr(limit, attribute, None)) is not None:
                shown[name] = value
    return shown


def _kinds(annotation: Any) -> list[Any]:
    """Return the kinds that an annotation allows: of a union each, of `Annotated` what it annotates."""
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return [kind for part in typing.get_args(annotation) for kind in _kinds(part)]
    if typing.get_origin(annotation) is Annotated:
        return _kinds(typing.get_args(annotation)[0])
    return [annotation]


def _extra(declared: FieldInfo) -> dict[str, Any]:
    extra = declared.json_schema_extra
    return {"also": [], **(extra if isinstance(extra, dict) else {})}
