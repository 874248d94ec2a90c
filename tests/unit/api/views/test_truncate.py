import json

from hypothesis import given
from hypothesis import strategies as st

from api.views.truncate import fit, json_bytes


def test_a_text_that_fits_is_returned_unchanged() -> None:
    assert fit("One. Two.", 9, " …") == "One. Two."


def test_a_longer_text_ends_with_its_last_whole_sentence_and_the_note() -> None:
    assert fit("First sentence. Second one. Third is long", 36, " …") == "First sentence. Second one. …"


def test_a_text_without_a_sentence_end_is_cut_between_characters() -> None:
    assert fit("漢" * 10, 20, "…") == "漢漢…"


def test_a_full_stop_inside_a_number_ends_no_sentence() -> None:
    assert fit("It makes 3.141592653589793", 20, "…") == "It makes 3.141…"


@given(st.text(max_size=300), st.integers(min_value=20, max_value=200))
def test_the_result_always_fits(text: str, max_bytes: int) -> None:
    fitted = fit(text, max_bytes, " …")

    assert json_bytes(fitted) <= max_bytes
    assert fitted == text or text.startswith(fitted.removesuffix(" …"))


@given(st.text(max_size=100))
def test_the_size_is_that_of_ascii_json(text: str) -> None:
    assert json_bytes(text) == len(json.dumps(text).encode()) - 2
