"""A word index that leaves documents out is one that never held them."""

from collections.abc import Callable
from typing import Any

import pytest

from index.lexical.tantivy_index import LexicalIndex

ROWS = [
    ("a-0", "a", "turbines turn wind into power", "wind"),
    ("a-1", "a", "turbines need towers", "wind"),
    ("b-0", "b", "dams hold water", "water"),
    ("c-0", "c", "a secret turbine in a zeppelin of wind", "zeppelin"),
    ("c-1", "c", "turbulence", "zeppelin"),
]


def index_of(*versions: str) -> LexicalIndex:
    index = LexicalIndex(None)
    index.add(row for row in ROWS if row[1] in versions)
    return index


@pytest.fixture(scope="module")
def views() -> list[LexicalIndex]:
    """Return the index without `c`: alone, and as one of several."""
    alone = index_of("a", "b", "c").without(["c"])
    return [alone, LexicalIndex.joined([index_of("b"), index_of("a", "c").without(["c"])])]


@pytest.mark.parametrize(
    "asked",
    [
        lambda index: index.count(),
        lambda index: [index.containing("text", term) for term in index.terms("turbines wind zeppelin water")],
        lambda index: [index.containing("names", term) for term in index.terms("wind zeppelin")],
        lambda index: [index.has(term) for term in index.terms("zeppelin turbines")],
        lambda index: [index.weight(term) for term in index.terms("turbines wind zeppelin")],
        lambda index: index.any_of(index.terms("turbines zeppelin")).weight,
        lambda index: index.beginning_with("turb"),
        lambda index: sorted(index.holding("turbines")),
        lambda index: sorted(name for name, _ in index.search(dict.fromkeys(index.terms("turbine wind"), 1.0), [], 9)),
    ],
)
def test_nothing_tells_of_what_is_left_out(views: list[LexicalIndex], asked: Callable[[LexicalIndex], Any]) -> None:
    expected = asked(index_of("a", "b"))

    assert [asked(view) for view in views] == [expected, expected]
