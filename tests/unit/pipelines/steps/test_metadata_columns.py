"""Metadata of any form becomes columns that a table can hold."""

from typing import Any

import pyarrow as pa
import pytest

from pipelines.steps.metadata_columns import of_one_kind


@pytest.mark.parametrize(
    ("values", "column"),
    [
        ([1, 2.5, None], [1, 2.5, None]),
        ([["a", "b"], ["c"]], [["a", "b"], ["c"]]),
        ([1, "a"], ["1", "a"]),
        ([["a", 1], None], ["a, 1", None]),
        ([[["a"]], ["b"]], ["['a']", "b"]),
        ([2**64], [str(2**64)]),
        ([[2**64]], [str(2**64)]),
        (["\ud800"], ["?"]),
        ([{"a": 1}], ["{'a': 1}"]),
    ],
)
def test_a_column_holds_values_of_one_kind(values: list[Any], column: list[Any]) -> None:
    found = of_one_kind(values)

    assert found == column
    assert pa.array(found).to_pylist() == column
