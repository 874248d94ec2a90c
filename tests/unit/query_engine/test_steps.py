"""What readers see rendered must not act, with any content of questions and documents."""

from query_engine import steps
from tests.fakes.llm import passage

IMAGE = "![x](http://evil.example/?q=all)"


def test_a_title_or_question_that_holds_an_image_or_a_link_is_shown_as_text() -> None:
    told = [steps.searching(f"What is {IMAGE}?", "mine"), *steps.found([passage("Wind.", title=IMAGE)])]

    assert all("(evil.example/?q=all)" in step.text for step in told)
    assert not any("](" in step.text for step in told)
    assert not any("![" in step.text or "http" in step.text for step in told)
