"""Remove from texts what an analysis does not need: stop words, punctuation, endings.

Flow: a text column -> **here** -> another one. Stop words are those of the search (`index/lexical/`), endings are cut
by NLTK's Snowball stemmers.
"""

import re
import string
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from index.lexical.language import function_words, question_language
from index.lexical.tantivy_index import STOP_WORDS
from pipelines.handler import StepHandler
from pipelines.parameters import YesNo, parameter
from pipelines.state import PipelineState
from pipelines.step import LanguageParameters, RowStep

STOPPED_LANGUAGES = ("en", "de", "fr", "it")
SNOWBALL = {
    "ar": "arabic",
    "da": "danish",
    "nl": "dutch",
    "en": "english",
    "fi": "finnish",
    "fr": "french",
    "de": "german",
    "hu": "hungarian",
    "it": "italian",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "es": "spanish",
    "sv": "swedish",
}
_WORD = re.compile(r"\w+", re.UNICODE)
_PUNCTUATION = str.maketrans("", "", string.punctuation)


class _LanguageStep(RowStep):
    """A step whose outcome depends on the language of each text."""

    category = "Pre-Processing"

    def inputs(self, state: PipelineState) -> Sequence[Any]:
        """Return text and language of each row; the words tell the language where no column does."""
        texts = state.texts(self.given.input_column)
        if not self.given.language_column:
            return [[text, question_language(text)] for text in texts]
        return [list(pair) for pair in zip(texts, state.texts(self.given.language_column), strict=True)]


class StopwordRemoval(_LanguageStep):
    """Leaves out words that say nothing about the subject."""

    id = "stopword_removal"
    name = "Stopword Remover"
    description = "Leaves out the stop words of English, German, French and Italian texts; others stay as they are."
    cached = False

    class Parameters(LanguageParameters):
        """Where it writes."""

        output_column: str = parameter("without-stopwords", "Output column", "Column that is added.", column="writes")

    def transform_row(self, text: Any, state: PipelineState, handler: StepHandler) -> str:  # noqa: ARG002
        """Return the text without stop words."""
        words, language = text
        if language not in STOPPED_LANGUAGES:
            return str(words)
        stop = stop_words(language)
        kept = [word for word in words.split() if word.strip(string.punctuation).casefold() not in stop]
        return " ".join(kept)


class PunctuationRemoval(RowStep):
    """Leaves out punctuation."""

    id = "punctuation_removal"
    name = "Punctuation Remover"
    category = "Pre-Processing"
    description = "Leaves out punctuation, from the query as well if that is wanted."
    cached = False

    class Parameters(RowStep.Parameters):
        """Where it writes, and whether the query is changed."""

        output_column: str = parameter("without-punctuation", "Output column", "Column that is added.", column="writes")
        process_query: YesNo = parameter(False, "Process query", "Whether the query loses its punctuation, too.")

    def transform(self, state: PipelineState, handler: StepHandler) -> PipelineState:
        """Add the column, and change the query."""
        changed = super().transform(state, handler)
        if self.given.process_query and (query := state.query.translate(_PUNCTUATION).strip()):
            return replace(changed, query=query)
        return changed

    def transform_row(self, text: Any, state: PipelineState, handler: StepHandler) -> str:  # noqa: ARG002
        """Return the text without punctuation."""
        return str(text).translate(_PUNCTUATION)


class TextStemmer(_LanguageStep):
    """Cuts the endings of words."""

    id = "text_stemmer"
    name = "Text Stemmer"
    description = (
        "Cuts the endings of words by the Snowball stemmer of their language; other languages stay as they are."
    )

    class Parameters(LanguageParameters):
        """Where it writes."""

        output_column: str = parameter("stemmed", "Output column", "Column that is added.", column="writes")

    def transform_row(self, text: Any, state: PipelineState, handler: StepHandler) -> str:  # noqa: ARG002
        """Return the text with each word stemmed, everything between the words as it was."""
        words, language = text
        if language not in SNOWBALL:
            return str(words)
        stem = _stemmer(SNOWBALL[language]).stem
        return _WORD.sub(lambda word: str(stem(word[0])), words)


@cache
def stop_words(language: str) -> frozenset[str]:
    """Return the stop words of a language."""
    return function_words(language) | (STOP_WORDS if language == "en" else frozenset())


@cache
def _stemmer(language: str) -> Any:
    from nltk.stem.snowball import SnowballStemmer  # noqa: PLC0415  # seconds to import

    return SnowballStemmer(language)
