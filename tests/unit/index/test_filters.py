"""What a filter of documents means, and what is refused."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from llama_index.core.vector_stores.types import FilterCondition, FilterOperator

from errors import FilterError
from index.catalogue import Catalogue
from index.database import open_file
from index.documents import Document, DocumentStore, Metadata, StoredDocument
from index.filters import CONDITIONS, OPERATORS
from tests.fakes.corpora import tree_of

METADATA: dict[str, Metadata] = {
    "a": {"year": 2019, "tags": ["wind", "sea"], "draft": True, "name": "Ärger"},
    "b": {"year": 2024.5, "tags": [], "draft": False, "name": "100% sure"},
    "c": {"year": "n.d.", "tags": "wind", "odd key.[0]": 1},
    "d": {"name": ""},
}


def group(*entries: object, condition: str = "and") -> dict[str, Any]:
    return {"filters": list(entries), "condition": condition}


def one(key: str, operator: str, value: object = None) -> dict[str, Any]:
    return {"filters": [{"key": key, "operator": operator, "value": value}]}


def documents() -> list[StoredDocument]:
    return [
        StoredDocument.of(
            Document(
                name, f"Title {name}", "One. Two.", source=f"{name}.md", content_type="markdown", metadata=entries
            ),
            f"{position:020x}",
            tree_of("One. Two."),
        )
        for position, (name, entries) in enumerate(METADATA.items())
    ]


@pytest.fixture(scope="module")
def catalogue(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Catalogue]:
    engine = open_file(tmp_path_factory.mktemp("filters") / "documents.sqlite")
    DocumentStore(engine).publish(documents(), [np.zeros((2, 4), np.float32)] * len(METADATA), ())
    yield Catalogue(engine)
    engine.dispose()


MEANINGS = [
    (one("year", "==", 2019), "a"),
    (one("year", "==", 2019.0), "a"),
    (one("year", "!=", 2019), "bc"),
    (one("year", ">", 2019), "b"),
    (one("year", ">=", 2019), "ab"),
    (one("year", "<", 2024.5), "a"),
    (one("year", "<=", 2024.5), "ab"),
    (one("year", ">", "a"), "c"),
    (one("year", "==", "2019"), ""),
    (one("year", "in", [2019, "n.d."]), "ac"),
    (one("year", "nin", [2019, "n.d."]), "b"),
    (one("draft", "==", True), "a"),
    (one("draft", "==", 1), ""),
    (one("draft", "!=", True), "b"),
    (one("tags", "contains", "wind"), "a"),
    (one("tags", "any", ["sun", "sea"]), "a"),
    (one("tags", "all", ["wind", "sea"]), "a"),
    (one("tags", "all", ["wind", "sun"]), ""),
    (one("tags", "is_empty"), "bd"),
    (one("name", "is_empty"), "cd"),
    (one("name", "text_match", "% s"), "b"),
    (one("name", "text_match", "SURE"), ""),
    (one("name", "text_match_insensitive", "SURE"), "b"),
    (one("name", "text_match_insensitive", "%"), "b"),
    (one("odd key.[0]", "==", 1), "c"),
    (one("doc_id", ">=", "c"), "cd"),
    (one("url", "is_empty"), "abcd"),
    (one("content_type", "==", "markdown"), "abcd"),
    (one("content_type", "==", 1), ""),
    (one("ingested_at", ">", "2000"), "abcd"),
    ({"filters": [{"key": "year", "value": 2019}]}, "a"),
    (group(one("year", ">", 0), one("year", "<", 2020)), "a"),
    (group(one("year", "==", 2019), one("doc_id", "==", "d"), condition="or"), "ad"),
    (group(one("year", ">", 0), one("doc_id", "==", "d"), condition="not"), "c"),
    (group(one("year", "!=", 2019), condition="not"), "ad"),
]


@pytest.mark.parametrize(("filters", "found"), MEANINGS)
def test_a_filter_finds_what_it_says(catalogue: Catalogue, filters: object, found: str) -> None:
    assert "".join(catalogue.find(filters)) == found


@pytest.mark.parametrize(
    ("filters", "message"),
    [
        ({}, "filter is empty"),
        ({"filters": []}, "filter is empty"),
        (group(group()), "filter is empty"),
        ([], "is no filter"),
        (None, "is no filter"),
        ("year > 3", "is no filter"),
        ({"key": "year", "value": 3}, 'no field "key"'),
        (group({"key": "year", "operater": "!=", "value": 3}), 'no field "operater"'),
        ({"filters": [{"key": "a", "value": 1}], "condition": "xor"}, 'no condition "xor"'),
        (one("year", "~", 3), 'no operator "~"'),
        (one("", "==", 3), "no key"),
        (one('a"b', "==", 3), "no key"),
        (one("year", "==", None), "cannot take the value null"),
        (one("year", "==", float("nan")), "cannot take the value NaN"),
        (one("year", "==", 10**30), "cannot take the value 1000"),
        (one("year", ">", True), "cannot take the value true"),
        (one("year", "in", 3), "cannot take the value 3"),
        (one("year", "in", []), r"cannot take the value \[\]"),
        (one("tags", "any", [3]), r"cannot take the value \[3\]"),
        (one("tags", "contains", ""), 'cannot take the value ""'),
        (one("tags", "is_empty", True), "It takes no value"),
        (one("name", "==", "\ud800"), "cannot take the value"),
        (one("name", "==", "\0"), "cannot take the value"),
        (one("year", "in", list(range(501))), "more than 500"),
        (group(*[one("year", "==", 1)] * 501), "more than 500"),
    ],
)
def test_a_filter_without_meaning_is_refused(catalogue: Catalogue, filters: object, message: str) -> None:
    with pytest.raises(FilterError, match=message):
        catalogue.find(filters)


def test_filters_nested_too_deep_are_refused(catalogue: Catalogue) -> None:
    filters = one("year", "==", 1)
    for _ in range(8):
        filters = group(filters)
    with pytest.raises(FilterError, match="nested deeper"):
        catalogue.find(filters)


def test_the_largest_filter_is_answered(catalogue: Catalogue) -> None:
    assert catalogue.find(one("year", "in", [*range(499), 2019])) == ["a"]
    assert catalogue.find(one("tags", "any", [*map(str, range(499)), "sea"])) == ["a"]
    assert catalogue.find(group(*[one("year", "==", 2019)] * 500, condition="or")) == ["a"]


def test_every_operator_and_condition_of_llamaindex_is_known() -> None:
    assert OPERATORS.keys() == {operator.value for operator in FilterOperator}
    assert CONDITIONS.keys() == {condition.value for condition in FilterCondition}
