"""Turn a filter, written as the JSON of LlamaIndex's `MetadataFilters`, into a condition on the documents table.

Flow: `--filter` on the command line, or a request's body -> **here** -> `catalogue.py` finds the documents.

A filter may delete documents, so nothing about it is guessed: an unknown field, a value of the wrong kind or an empty
filter is refused, and nothing of it is repeated then: it comes from clients. A document that lacks the key meets no
operator but `is_empty`; wrap an operator in `not` to have those as well. The same filter means the same on SQLite and
PostgreSQL, also where a key's values mix kinds.
"""

import argparse
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

from errors import FilterError
from index.documents.tables import documents

Clause = sa.ColumnElement[bool]
Scalar = str | int | float | bool

COLUMNS = ("doc_id", "title", "url", "source", "content_type", "ingested_at")
MAX_DEPTH = 8
# Conditions and listed values together: SQLite takes no deeper expressions than 1,000.
MAX_TERMS = 500

_NUMBERS, _STRINGS, _BOOLEANS = ("integer", "real", "number"), ("text", "string"), ("true", "false", "boolean")
_SHAPE = 'Write {"filters": [{"key": "year", "operator": ">=", "value": 2020}], "condition": "and"}.'


def filter_value(text: str) -> Any:
    """Return the JSON of a `--filter`; what it may say is for `where` to tell.

    Raises:
        argparse.ArgumentTypeError: it is none.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise argparse.ArgumentTypeError(f"this is not JSON: {error}") from error


def where(filters: object) -> Clause:
    """Return the condition that documents must meet.

    Args:
        filters: parsed JSON: `{"filters": [...], "condition": "and" | "or" | "not"}`; each entry is another such
            object, or `{"key", "operator", "value"}`. `condition` is "and" and `operator` "==" if absent; "not" holds
            for documents that meet none of its entries. Keys are metadata keys, or one of `COLUMNS`.

    Raises:
        FilterError: the filter is empty, too large, or says something that has no meaning.
    """
    return _group(filters, [MAX_TERMS], MAX_DEPTH)


def _group(raw: object, left: list[int], depth: int) -> Clause:
    if not depth:
        raise FilterError(f"The filter is nested deeper than {MAX_DEPTH} levels.", "Write it with fewer levels.")
    fields = _fields(raw, "filters", "condition")
    entries = fields.get("filters")
    if not isinstance(entries, list) or not entries:
        raise FilterError("The filter is empty: `filters` must list at least one condition.", _SHAPE)
    clauses = [
        _group(entry, left, depth - 1) if isinstance(entry, dict) and "filters" in entry else _single(entry, left)
        for entry in entries
    ]
    join: Callable[..., Clause] = _named(CONDITIONS, fields.get("condition", "and"), "condition")
    return join(*clauses)


def _single(raw: object, left: list[int]) -> Clause:
    fields = _fields(raw, "key", "operator", "value")
    key, value = fields.get("key"), fields.get("value")
    # SQLite's paths have no way to write these two characters.
    if not isinstance(key, str) or not key or not _is_text(key) or set(key) & set('"\\'):
        raise FilterError(
            'A `key` of the filter is not one: it is a string that is not empty and holds no " or \\.',
            f"Name a metadata key or one of {_list(COLUMNS)}.",
        )
    name = fields.get("operator", "==")
    operator: _Operator = _named(OPERATORS, name, "operator")
    if not operator.fits(value):
        raise FilterError(
            f"A condition of the filter has a value that its operator {name!r} cannot take.",
            f"It takes {operator.takes}.",
        )
    left[0] -= len(value) if isinstance(value, list) else 1
    if left[0] < 0:
        raise FilterError(f"The filter has more than {MAX_TERMS} conditions and values.", "Use several filters.")
    return _true(operator.meaning(_Field(key), value))


def _true(clause: Clause) -> Clause:
    """Count as false what SQL calls unknown, as every comparison with a missing value; `not` would keep it unknown."""
    return sa.func.coalesce(clause, sa.false())


def text_of(key: str) -> sa.ColumnElement[str]:
    """Return a column or metadata key of documents as text; NULL where it is not text."""
    return _Field(key).text


def missing_or_among(key: str, words: Iterable[str]) -> Clause:
    """Return whether a metadata key is missing or null, one of these texts, or a list that holds one of them."""
    field = _Field(key)
    among = (clause for word in words for clause in (field.equals(word), field.holds(word)))
    return _either([sa.not_(_true(field.present)), *among])


def list_of(key: str) -> sa.ColumnElement[str]:
    """Return a metadata key of documents that is a list, as JSON; NULL where it is none."""
    field = _Field(key)
    return sa.case((field._is(("array",)), field._json.as_string()))


class _Field:
    """What a key's value is, read as each kind; NULL where it is of another one."""

    def __init__(self, key: str) -> None:
        self._column = documents.c[key] if key in COLUMNS else None
        self._json = documents.c.metadata[key]
        # SQLite's way to a value: read on its own, true would be the number 1.
        self._kind = _kind(self._json, documents.c.metadata, sa.literal(f'$."{key}"'))

    @property
    def text(self) -> sa.ColumnElement[str]:
        if self._column is not None:
            return self._column
        return sa.case((self._is(_STRINGS), self._json.as_string()))

    @property
    def number(self) -> sa.ColumnElement[float]:
        if self._column is not None:
            return sa.cast(sa.null(), sa.Float)
        return sa.case((self._is(_NUMBERS), self._json.as_float()))

    @property
    def present(self) -> Clause:
        if self._column is not None:
            return self._column.is_not(None)
        return self._kind != "null"

    @property
    def empty(self) -> Clause:
        if self._column is not None:
            return sa.func.coalesce(self._column, "") == ""
        nothing = sa.or_(sa.func.coalesce(self._kind, "null") == "null", self.text == "")
        return sa.or_(nothing, sa.and_(self._is(("array",)), sa.not_(_any_element(self._json))))

    def like(self, value: str | float) -> sa.ColumnElement[Any]:
        return self.text if isinstance(value, str) else self.number

    def equals(self, value: Scalar) -> Clause:
        if not isinstance(value, bool):
            return self.like(value) == value
        if self._column is not None:
            return sa.false()
        return sa.case((self._is(_BOOLEANS), self._json.as_boolean())) == value

    def holds(self, value: str) -> Clause:
        if self._column is not None:
            return sa.false()
        return sa.and_(self._is(("array",)), _element(self._json, sa.literal(value)))

    def _is(self, kinds: tuple[str, ...]) -> Clause:
        return self._kind.in_(kinds)


class _kind(FunctionElement[str]):
    """Kind of a JSON value, in the words of SQLite or of PostgreSQL; NULL when it is missing."""

    type = sa.String()
    inherit_cache = True


class _position(FunctionElement[int]):
    """Place of a substring, from 1; 0 when it does not occur."""

    type = sa.Integer()
    inherit_cache = True


class _element(FunctionElement[bool]):
    """Whether a JSON array holds a string."""

    type = sa.Boolean()
    inherit_cache = True


class _any_element(FunctionElement[bool]):
    """Whether a JSON array holds anything."""

    type = sa.Boolean()
    inherit_cache = True


@compiles(_kind)
def _sqlite_kind(element: Any, compiler: Any, **options: Any) -> str:
    _, whole, path = (compiler.process(clause, **options) for clause in element.clauses)
    return f"json_type({whole}, {path})"


@compiles(_kind, "postgresql")
def _postgres_kind(element: Any, compiler: Any, **options: Any) -> str:
    return f"json_typeof({compiler.process(element.clauses.clauses[0], **options)})"


@compiles(_position)
def _sqlite_position(element: Any, compiler: Any, **options: Any) -> str:
    return f"instr({compiler.process(element.clauses, **options)})"


@compiles(_position, "postgresql")
def _postgres_position(element: Any, compiler: Any, **options: Any) -> str:
    return f"strpos({compiler.process(element.clauses, **options)})"


@compiles(_element)
@compiles(_any_element)
def _sqlite_element(element: Any, compiler: Any, **options: Any) -> str:
    array, *value = (compiler.process(clause, **options) for clause in element.clauses)
    condition = f" WHERE type = 'text' AND value = {value[0]}" if value else ""
    return f"EXISTS (SELECT 1 FROM json_each({array}){condition})"  # noqa: S608  # values stay bound


@compiles(_element, "postgresql")
@compiles(_any_element, "postgresql")
def _postgres_element(element: Any, compiler: Any, **options: Any) -> str:
    array, *value = (compiler.process(clause, **options) for clause in element.clauses)
    # PostgreSQL may look at the elements before it looks at the kind, and fails on anything but an array.
    safe = f"CASE WHEN json_typeof({array}) = 'array' THEN {array} ELSE '[]' END"
    condition = f" WHERE value = {value[0]}" if value else ""
    return f"EXISTS (SELECT 1 FROM json_array_elements_text({safe}){condition})"  # noqa: S608


@dataclass(frozen=True, slots=True)
class _Operator:
    fits: Callable[[Any], bool]
    takes: str
    meaning: Callable[[_Field, Any], Clause]


def _is_scalar(value: object) -> bool:
    return isinstance(value, bool) or _is_ordered(value)


def _is_ordered(value: object) -> bool:
    return _is_number(value) or _is_text(value)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 2**63


def _is_text(value: object) -> bool:
    """Whether this is a string that databases take: no half characters, no NUL."""
    return isinstance(value, str) and "\0" not in value and not any("\ud800" <= c <= "\udfff" for c in value)


def _is_word(value: object) -> bool:
    return bool(value) and _is_text(value)


def _are(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and bool(value) and all(map(fits, value))


def _either(clauses: Iterable[Clause]) -> Clause:
    return sa.or_(*(_true(clause) for clause in clauses))


def _each(clauses: Iterable[Clause]) -> Clause:
    # Side by side their parts would make one expression, twice as deep as SQLite takes.
    return sa.and_(*(_true(clause) for clause in clauses))


def _but(field: _Field, clause: Clause) -> Clause:
    return sa.and_(field.present, sa.not_(_true(clause)))


CONDITIONS: dict[str, Callable[..., Clause]] = {
    "and": sa.and_,
    "or": sa.or_,
    "not": lambda *clauses: sa.not_(sa.or_(*clauses)),
}
_SCALAR, _ORDERED, _WORD = "a string, a number, true or false", "a string or a number", "a string that is not empty"
_SCALARS, _WORDS = "a list of strings, numbers, true or false", "a list of strings"
OPERATORS = {
    "==": _Operator(_is_scalar, _SCALAR, _Field.equals),
    "!=": _Operator(_is_scalar, _SCALAR, lambda field, value: _but(field, field.equals(value))),
    ">": _Operator(_is_ordered, _ORDERED, lambda field, value: field.like(value) > value),
    ">=": _Operator(_is_ordered, _ORDERED, lambda field, value: field.like(value) >= value),
    "<": _Operator(_is_ordered, _ORDERED, lambda field, value: field.like(value) < value),
    "<=": _Operator(_is_ordered, _ORDERED, lambda field, value: field.like(value) <= value),
    "in": _Operator(_are(_is_scalar), _SCALARS, lambda field, values: _either(map(field.equals, values))),
    "nin": _Operator(_are(_is_scalar), _SCALARS, lambda field, values: _but(field, _either(map(field.equals, values)))),
    "any": _Operator(_are(_is_text), _WORDS, lambda field, values: _either(map(field.holds, values))),
    "all": _Operator(_are(_is_text), _WORDS, lambda field, values: _each(map(field.holds, values))),
    "contains": _Operator(_is_word, _WORD, _Field.holds),
    "text_match": _Operator(_is_word, _WORD, lambda field, value: _position(field.text, value) > 0),
    "text_match_insensitive": _Operator(
        _is_word, _WORD, lambda field, value: field.text.icontains(value, autoescape=True)
    ),
    "is_empty": _Operator(lambda value: value is None, "no value", lambda field, _: field.empty),
}


def _fields(raw: object, *known: str) -> dict[str, Any]:
    if not isinstance(raw, dict):
        raise FilterError("A part of the filter is not a JSON object.", _SHAPE)
    if raw.keys() - set(known):
        raise FilterError("A part of the filter has an unknown field.", f"Its fields are {_list(known)}.")
    return raw


def _named(known: dict[str, Any], name: object, what: str) -> Any:
    if not isinstance(name, str) or name not in known:
        raise FilterError(f"The filter names an unknown {what}.", f"Use one of {_list(known)}.")
    return known[name]


def _list(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
