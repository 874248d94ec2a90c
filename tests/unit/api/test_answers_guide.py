"""`docs/answers.md` says what is so: fields, events, reasons."""

import re
from pathlib import Path

import pytest

from api.schemas.chat import ACCEPTED
from api.schemas.requests import QueryBody
from query_engine.schema import events
from settings import CacheSettings

GUIDE = (Path(__file__).parents[3] / "docs" / "answers.md").read_text()


def first_cells(heading: str) -> set[str]:
    """Return the names in the first cells of the table that begins with this header cell."""
    rows = GUIDE.split(f"| {heading} |")[1].split("\n\n")[0].splitlines()[2:]
    return {name for row in rows for name in re.findall(r"`(\w+)`", row.strip("|").split("|")[0])}


def test_every_field_of_a_query_is_explained_and_no_other() -> None:
    assert first_cells("field") == set(QueryBody.model_fields)


@pytest.mark.promise("E13")
def test_every_reason_that_the_engine_gives_is_explained() -> None:
    assert events.Done.__doc__ is not None
    told = events.Done.__doc__.split("gate_reason:")[1].split("synthesizer:")[0]

    assert first_cells("`gate_reason`") == set(re.findall(r"`(\w+)`", told))


def test_the_limits_are_those_of_the_program() -> None:
    defaults = CacheSettings()

    assert f"({defaults.entries}; 0 switches it off)" in GUIDE
    assert f"({defaults.ttl_s:g} s)" in GUIDE
    assert QueryBody(question="What?").top_k == 4


def test_every_field_that_may_be_refused_is_named() -> None:
    refused = GUIDE.split("**A demand for another kind of answer is refused**")[1].split("\n- ")[0]

    assert set(ACCEPTED) == set(re.findall(r"`(\w+)`", refused)) - {"param"}
