"""Tell questions about the collection itself, and those that want rows, from questions that the documents answer.

Flow: question -> **here**, by the phrases of `languages.py` -> what is asked, or None: `answers.py` answers the one,
the search the other. Every word of a question has to fit: one that is missed is still searched for, one that is taken
for a question about the collection is answered wrongly ("How many documents are needed for a visa?"). Pure.
"""

from dataclasses import dataclass
from typing import Literal

from index.lexical.language import question_language
from query_engine.collection.languages import LANGUAGES, Language, phrases
from query_engine.text.words import WORD

Kind = Literal["count", "list"]
RowsKind = Literal["count", "list", "which"]


@dataclass(frozen=True, slots=True)
class RowsAsked:
    """What a question wants to know of tables.

    Attributes:
        kind: `which` of the rows, `list` them, or `count` them.
        words: those that say which rows, in lower case and in their order.
        either: some of them are alternatives.
    """

    kind: RowsKind
    language: Language
    words: tuple[str, ...]
    either: bool


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


def recognise_rows(question: str) -> RowsAsked | None:
    """Return what a question that may want rows says of them; None for other questions."""
    spoken = question_language(question)
    asked = WORD.findall(question.casefold())
    for language in sorted(LANGUAGES, key=lambda one: one.code != spoken):
        aside = phrases(language.aside)
        said = " ".join(word for word in asked if word not in aside)
        openings: dict[str, RowsKind] = {
            **dict.fromkeys(phrases(language.count), "count"),
            **dict.fromkeys(phrases(language.which), "which"),
            **dict.fromkeys(phrases(language.tell), "list"),
        }
        opening = max((one for one in openings if said.startswith(f"{one} ")), key=len, default=None)
        if opening is None:
            continue
        words, joining = said.removeprefix(opening).split(), phrases(language.either)
        if not set(words).isdisjoint(phrases(language.unlike)):
            return None
        named = tuple(word for word in words if word not in joining)
        return RowsAsked(openings[opening], language, named, either=len(named) < len(words))
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
