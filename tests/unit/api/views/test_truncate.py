import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.views.truncate import fit, json_bytes


@pytest.mark.parametrize(
    ("text", "max_bytes", "note", "fitted"),
    [
        ("One. Two.", 9, " …", "One. Two."),
        ("First sentence. Second one. Third is long", 36, " …", "First sentence. Second one. …"),
        ("漢" * 10, 20, "…", "漢漢…"),
        ("It makes 3.141592653589793", 20, "…", "It makes 3.141…"),
    ],
    ids=["it fits", "after a sentence", "between characters", "a number's point ends no sentence"],
)
def test_a_text_is_cut_after_a_sentence_where_it_can_be(text: str, max_bytes: int, note: str, fitted: str) -> None:
    assert fit(text, max_bytes, note) == fitted


@given(st.text(max_size=300), st.integers(min_value=20, max_value=200))
def test_the_result_always_fits(text: str, max_bytes: int) -> None:
    fitted = fit(text, max_bytes, " …")

    assert json_bytes(fitted) <= max_bytes
    assert fitted == text or text.startswith(fitted.removesuffix(" …"))


@given(st.text(max_size=100))
def test_the_size_is_that_of_ascii_json(text: str) -> None:
    assert json_bytes(text) == len(json.dumps(text).encode()) - 2
