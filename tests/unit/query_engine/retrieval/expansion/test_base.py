import numpy as np
import pytest

from errors import LLMError
from query_engine.retrieval.expansion.base import expand, mean_direction
from query_engine.schema.query import Query


class AddTerm:
    def __init__(self, term: str) -> None:
        self.name = term

    def expand(self, query: Query) -> Query:
        return Query(query.text, terms={**(query.terms or {}), self.name: 1.0})


class Speechless:
    name = "hyde"

    def expand(self, query: Query) -> Query:  # noqa: ARG002
        raise LLMError("The language model wrote nothing of use.", "Use a larger model.")


def test_each_expansion_gets_the_query_as_those_before_it_left_it() -> None:
    expanded = expand(Query("?"), [AddTerm("a"), AddTerm("b")])

    assert expanded.query.terms == {"a": 1.0, "b": 1.0}
    assert expanded.warnings == ()


def test_an_expansion_that_fails_is_left_out_and_told_of() -> None:
    expanded = expand(Query("?"), [Speechless(), AddTerm("b")])

    assert expanded.query.terms == {"b": 1.0}
    assert tuple(map(str, expanded.warnings)) == (
        "expansion_skipped: The question was searched for without hyde. "
        "The language model wrote nothing of use. Use a larger model.",
    )


def test_the_mean_of_unit_vectors_is_a_unit_vector() -> None:
    east, north = np.array([1, 0], np.float32), np.array([0, 1], np.float32)

    assert mean_direction([east, north]) == pytest.approx([0.5**0.5, 0.5**0.5])
    assert mean_direction([east, -east]) == pytest.approx(east)
