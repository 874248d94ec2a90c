"""Put words into the form in which a dictionary lists them: `turned` -> `turn`, `Städten` -> `Stadt`.

Flow: a text column -> **here** -> another one. simplemma's dictionaries come in its package; nothing is downloaded. A
language's dictionary is loaded when its first text comes: 0.3 s, German 2 s.
"""

from collections.abc import Collection, Sequence
from functools import cache
from typing import Any, ClassVar

from simplemma import Lemmatizer
from simplemma.strategies import DefaultStrategy
from simplemma.strategies.dictionaries import DefaultDictionaryFactory
from simplemma.strategies.dictionaries.dictionary_factory import SUPPORTED_LANGUAGES

from pipelines.parameters import ColumnName, Text, parameter, unknown
from pipelines.services import Services
from pipelines.state import PipelineState
from pipelines.step import LanguageParameters
from pipelines.steps.cleaning import WORD, PerLanguageStep
from pipelines.steps.languages import language_code

# Serbo-Croatian has one dictionary; of Norwegian the one of Bokmål is taken where nothing says which.
_DICTIONARIES = {"bs": "hbs", "hr": "hbs", "sr": "hbs", "no": "nb"}
DICTIONARIES = {**{language: language for language in SUPPORTED_LANGUAGES}, **_DICTIONARIES}
# Dictionaries in memory at once.
MOST_DICTIONARIES = 4


class TextLemmatizer(PerLanguageStep):
    """Puts words into their dictionary form."""

    id = "text_lemmatization"
    name = "Text Lemmatizer"
    description = (
        "Puts each word into the form in which a dictionary lists it, in 54 languages, by simplemma; other "
        "languages stay as they are."
    )
    languages: ClassVar[Collection[str]] = DICTIONARIES

    class Parameters(LanguageParameters):
        """Which language, and where it writes."""

        output_column: ColumnName = parameter("lemmatized", "Output column", "Column that is added.", column="writes")
        language: Text = parameter(
            "", "Language", "ISO 639 code of all texts, such as `de`; empty: the language column tells each text's."
        )

    def check(self, services: Services) -> None:  # noqa: ARG002
        """Refuse a language without a dictionary."""
        if self.given.language and language_code(self.given.language) not in DICTIONARIES:
            raise unknown("There is no dictionary of the language", self.given.language, sorted(DICTIONARIES))

    def reads(self) -> list[str]:
        """Return the columns that must be there; none for the language where a parameter says it."""
        named = super().reads()
        return [named[0]] if self.given.language else named

    def inputs(self, state: PipelineState) -> Sequence[Any]:
        """Return text and language of each row."""
        if not self.given.language:
            return super().inputs(state)
        code = language_code(self.given.language)
        return [[text, code] for text in state.texts(self.given.input_column)]

    def changed(self, text: str, language: str) -> str:
        """Return the text with each word in its dictionary form, everything between the words as it was."""
        return WORD.sub(lambda word: dictionary_form(word[0], language), text)


def dictionary_form(word: str, language: str) -> str:
    """Return a word's dictionary form; an unknown word in small letters or as it is.

    Args:
        word: one word.
        language: one of `DICTIONARIES`.
    """
    return _lemmatizer().lemmatize(word, DICTIONARIES[language])


@cache
def _lemmatizer() -> Lemmatizer:
    factory = DefaultDictionaryFactory(cache_max_size=MOST_DICTIONARIES)
    return Lemmatizer(lemmatization_strategy=DefaultStrategy(dictionary_factory=factory))
