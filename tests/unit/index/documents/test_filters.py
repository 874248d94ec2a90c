"""What a filter of documents means, and what is refused."""

import argparse
from collections.abc import Iterator
from functools import reduce

import pytest
from llama_index.core.vector_stores.types import FilterCondition, FilterOperator

from errors import FilterError
from index.documents.catalogue import Catalogue
from index.documents.filters import CONDITIONS, OPERATORS, filter_value
from index.documents.store import DocumentStore
from index.documents.tables import open_file
from tests.fakes.filters import MEANINGS, PARENTS, filtered_documents, group, one


@pytest.fixture(scope="module")
def catalogue(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Catalogue]:
    engine = open_file(tmp_path_factory.mktemp("filters") / "documents.sqlite")
    DocumentStore(engine).publish(filtered_documents(), PARENTS, ())
    yield Catalogue(engine)
    engine.dispose()


@pytest.mark.parametrize("text", ["{", "[" * 100_000], ids=["cut off", "nested too deeply"])
def test_a_filter_of_a_command_that_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="not JSON"):
        filter_value(text)


@pytest.mark.parametrize("operator", ["all", "any", "in", "nin"])
def test_every_list_of_values_that_is_taken_is_also_asked_for(catalogue: Catalogue, operator: str) -> None:
    catalogue.find(one("tags", operator, [f"value {number}" for number in range(499)]))


ODD = "canary-7731<b>"


@pytest.mark.parametrize(
    "filters",
    [
        one(ODD + '"', "==", 3),
        one(ODD, "==", None),
        one("year", "==", [ODD]),
        one("year", ODD, 3),
        group({"key": "year", ODD: 3}),
        {"filters": [{"key": "a", "value": 1}], "condition": ODD},
        {ODD: 1},
        ODD,
    ],
    ids=str,
)
def test_a_refusal_repeats_nothing_of_the_filter(catalogue: Catalogue, filters: object) -> None:
    with pytest.raises(FilterError) as refused:
        catalogue.find(filters)

    assert "canary" not in str(refused.value)


@pytest.mark.parametrize(("filters", "found"), MEANINGS)
def test_a_filter_finds_what_it_says(catalogue: Catalogue, filters: object, found: str) -> None:
    assert "".join(catalogue.find(filters)) == found


@pytest.mark.parametrize(
    ("filters", "message"),
    [
        ({}, "filter is empty"),
        ({"filters": []}, "filter is empty"),
        (group(group()), "filter is empty"),
        ([], "is not a JSON object"),
        (None, "is not a JSON object"),
        ("year > 3", "is not a JSON object"),
        ({"key": "year", "value": 3}, "Its fields are"),
        (group({"key": "year", "operater": "!=", "value": 3}), "Its fields are"),
        ({"filters": [{"key": "a", "value": 1}], "condition": "xor"}, "unknown condition"),
        (one("year", "~", 3), "unknown operator"),
        (one("", "==", 3), "is not one"),
        (one('a"b', "==", 3), "is not one"),
        (one("year", "==", None), "cannot take"),
        (one("year", "==", float("nan")), "cannot take"),
        (one("year", "==", 10**30), "cannot take"),
        (one("year", ">", True), "cannot take"),
        (one("year", "in", 3), "cannot take"),
        (one("year", "in", []), "cannot take"),
        (one("tags", "any", [3]), "cannot take"),
        (one("tags", "contains", ""), "cannot take"),
        (one("tags", "is_empty", True), "It takes no value"),
        (one("name", "==", "\ud800"), "cannot take"),
        (one("name", "==", "\0"), "cannot take"),
        (one("year", "in", list(range(501))), "more than 500"),
        (group(*[one("year", "==", 1)] * 501), "more than 500"),
        (reduce(lambda inner, _: group(inner), range(8), one("year", "==", 1)), "nested deeper"),
    ],
)
def test_a_filter_without_meaning_is_refused(catalogue: Catalogue, filters: object, message: str) -> None:
    with pytest.raises(FilterError, match=message):
        catalogue.find(filters)


def test_the_largest_filter_is_answered(catalogue: Catalogue) -> None:
    assert catalogue.find(one("year", "in", [*range(499), 2019])) == ["a"]
    assert catalogue.find(one("tags", "any", [*map(str, range(499)), "sea"])) == ["a"]
    assert catalogue.find(group(*[one("year", "==", 2019)] * 500, condition="or")) == ["a"]


def test_every_operator_and_condition_of_llamaindex_is_known() -> None:
    assert OPERATORS.keys() == {operator.value for operator in FilterOperator}
    assert CONDITIONS.keys() == {condition.value for condition in FilterCondition}
