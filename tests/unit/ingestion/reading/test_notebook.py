"""Jupyter notebooks."""

import json
from typing import Any

import pytest

from index.documents.store import Document
from ingestion.reading.notebook import read_notebook


def read(cells: list[dict[str, Any]], **rest: Any) -> Document:
    return read_notebook(json.dumps({"cells": cells, "nbformat": 4, **rest}).encode(), "a_b.ipynb")


def prose(*lines: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "source": list(lines)}


def code(source: str, *outputs: dict[str, Any]) -> dict[str, Any]:
    return {"cell_type": "code", "source": source, "outputs": list(outputs)}


def test_prose_code_and_outputs_in_order() -> None:
    document = read(
        [
            prose("# Boats\n", "\n", "Some *prose*.\n", "\n", "- an item"),
            code(
                "if a:\n\tb()",
                {"output_type": "stream", "text": ["10%\r", "100%\n", "\x1b[31mred\x1b[0m\n"]},
                {"output_type": "execute_result", "data": {"text/plain": "  42", "text/html": "<b>42</b>"}},
                {"output_type": "display_data", "data": {"text/plain": "<Figure>", "image/png": "AAAA"}},
                {"output_type": "error", "ename": "KeyError", "evalue": "'x'", "traceback": ["long"]},
            ),
            prose(""),
            {"cell_type": "raw", "source": "as is"},
        ],
        metadata={"kernelspec": {"language": "python"}},
    )

    shown = [(one.kind, one.language, document.text[slice(*one.inner)]) for one in document.structure.blocks]
    assert shown == [
        ("heading", "", "Boats"),
        ("paragraph", "", "Some *prose*."),
        ("item", "", "an item"),
        ("code", "python", "if a:\n\tb()"),
        ("code", "", "100%\nred"),
        ("code", "", "  42"),
        ("code", "", "KeyError: 'x'"),
        ("code", "", "as is"),
    ]
    assert document.title == "Boats"


def test_the_title_may_be_in_the_metadata() -> None:
    assert read([prose("# A")], metadata={"title": "Mine"}).title == "Mine"
    assert read([prose("text")]).title == "a b"


def test_notebooks_of_version_3() -> None:
    cells = [
        {"cell_type": "heading", "level": 2, "source": "Old"},
        {"cell_type": "code", "input": "x", "language": "r"},
    ]
    document = read_notebook(json.dumps({"worksheets": [{"cells": cells}]}).encode(), "a.ipynb")

    assert document.text == "## Old\n\n```r\nx\n```"


@pytest.mark.parametrize("value", [None, 3, "x", [], {}, [None], {"text/plain": 3}])
def test_values_of_wrong_kinds_are_passed_over(value: object) -> None:
    cells = [{"cell_type": value, "source": value, "outputs": value}, code("x", {"output_type": "stream", "text": "y"})]
    cells[1]["outputs"] = [value, {"output_type": "display_data", "data": value}]

    assert "x" in read(cells, metadata=value).text
