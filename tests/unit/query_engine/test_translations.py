import pytest

from query_engine import steps
from query_engine.translations import FIRST_SENTENCE, in_language

LANGUAGES = ("ar", "de", "es", "fr", "hi", "ja", "pt", "ru", "zh")


@pytest.mark.parametrize("message", [steps.NO_ANSWER, steps.TOO_LATE])
def test_a_declined_question_is_explained_in_its_language_after_the_same_first_sentence(message: str) -> None:
    told = [in_language(message, language) for language in LANGUAGES]

    assert all(text.startswith(f"{FIRST_SENTENCE} ") for text in told)
    assert len(set(told)) == len(LANGUAGES)


def test_english_and_what_has_no_translation_stay_as_they_are() -> None:
    assert in_language(steps.NO_ANSWER, "en") == steps.NO_ANSWER
    assert in_language(steps.NO_ANSWER, "fi") == steps.NO_ANSWER
    assert in_language("I don't know: something else.", "de") == "I don't know: something else."
