import pytest

from api.answering.runner import TOO_BUSY
from query_engine import steps
from query_engine.translations import in_language

LANGUAGES = ("ar", "de", "es", "fr", "hi", "ja", "pt", "ru", "zh")


@pytest.mark.parametrize("message", [steps.NO_ANSWER, steps.TOO_LATE, steps.NOTHING_FOUND, steps.UNMENTIONED])
def test_a_declined_question_is_explained_in_its_language_after_the_same_first_sentence(message: str) -> None:
    told = [in_language(message, language, words='"Lohn"') for language in LANGUAGES]

    assert all(text.startswith("I don't know. ") for text in told)
    assert all(('"Lohn"' in text) == ("{words}" in message) for text in told)
    assert len(set(told)) == len(LANGUAGES)


def test_english_and_what_has_no_translation_stay_as_they_are() -> None:
    assert in_language(steps.NO_ANSWER, "en") == steps.NO_ANSWER
    assert in_language(steps.NO_ANSWER, "fi") == steps.NO_ANSWER
    assert in_language("I don't know. Something else.", "de") == "I don't know. Something else."


def test_every_message_begins_with_the_sentence_that_programs_know_a_declined_question_by() -> None:
    messages = [
        steps.TOO_LATE,
        steps.NOTHING_FOUND,
        steps.NO_ANSWER,
        steps.UNMENTIONED,
        steps.EMPTY,
    ]

    assert all(message.startswith("I don't know. ") for message in [*messages, steps.FILTERED_OUT, TOO_BUSY])
