"""Tell questions about the collection itself from questions that the documents answer.

Flow: question -> **here**, by the phrases of `languages.py` -> what is asked, or None: `answers.py` answers the one,
the search the other. Every word of a question has to fit: one that is missed is still searched for, one that is taken
for a question about the collection is answered wrongly ("How many documents are needed for a visa?"). Pure.
"""

from typing import Literal

from query_engine.collection.languages import LANGUAGES, Language, phrases
from query_engine.text.words import WORD

Kind = Literal["count", "list"]


def recognise(question: str) -> tuple[Kind, Language] | None:
    """Return whether documents are to be counted or listed, and in which language; None for other questions."""
    words = WORD.findall(question.casefold())
    for language in LANGUAGES:
        names = phrases(language.documents)
        place = next((place for place, word in enumerate(words) if word in names), None)
        ending = None if place is None else " ".join(words[place + 1 :])
        if ending in language.endings and (kind := _asked(words[:place], language, is_whole=ending == "")):
            return kind, language
    return None


def _asked(before: list[str], language: Language, *, is_whole: bool) -> Kind | None:
    """Return what the words before "documents" ask; `is_whole` if none follow it."""
    aside = phrases(language.aside)
    asked = {" ".join(before), " ".join(word for word in before if word not in aside)}
    if not asked.isdisjoint(phrases(language.tell)):
        return "list"
    if is_whole:  # "Which documents?" asks about something said before
        return None
    if not asked.isdisjoint(phrases(language.count)):
        return "count"
    return None if asked.isdisjoint(phrases(language.which)) else "list"
