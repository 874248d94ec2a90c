"""What counts as a question.

Flow: every door (HTTP, command line, evaluation) -> **here** -> engine, so that all refuse the same input.
"""

from errors import QuestionError
from index.documents.normalization import normalize

MAX_CHARS = 8000
# Longer questions are not reworded by rules, and no model needs more to word one.
MAX_WORDED_CHARS = 500


def clean_question(text: str) -> str:
    """Return the question in NFC, without surrounding space.

    Raises:
        QuestionError: it is blank, longer than 8,000 characters, or holds NUL or lone surrogates. The message never
            repeats the question.
    """
    if len(text) > MAX_CHARS:
        raise QuestionError(f"The question has {len(text)} characters.", f"Ask in at most {MAX_CHARS}.")
    if any(character == "\0" or "\ud800" <= character <= "\udfff" for character in text):
        raise QuestionError("The question holds NUL or half a surrogate pair.", "Send valid Unicode text.")
    cleaned = normalize(text).strip()
    if not any(character.isprintable() and not character.isspace() for character in cleaned):
        raise QuestionError("The question is blank.", "Write a question.")
    return cleaned
