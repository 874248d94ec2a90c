"""Remove from texts what an analysis does not need: stop words, punctuation, endings.

Flow: a text column -> **here** -> another one. Stop words are NLTK's and those of `index/lexical/`, endings are cut
by NLTK's Snowball stemmers.
"""

import re
import string
from abc import abstractmethod
from collections.abc import Collection, Container, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import llama_index.core
from babel import Locale

from index.lexical.language import function_words, question_language
from index.lexical.tantivy_index import STOP_WORDS
from pipelines.handler import StepHandler
from pipelines.parameters import YesNo, parameter
from pipelines.state import PipelineState
from pipelines.step import LanguageParameters, RowStep
from pipelines.steps.languages import language_code

STOPPED_LANGUAGES = ("en", "de", "fr", "it")
# Those of NLTK's stemmer.
SNOWBALL = ("ar", "da", "nl", "en", "fi", "fr", "de", "hu", "it", "no", "pt", "ro", "ru", "es", "sv")
WORD = re.compile(r"\w+", re.UNICODE)
_PUNCTUATION = str.maketrans("", "", string.punctuation)
# What stands around a word.
_EDGES = string.punctuation + "«»“”„‘’‚…–—"
# Languages that tie articles to words.
ELIDING = ("fr", "it")
MOST_NAMED = 5
_NLTK_LISTS = Path(llama_index.core.__file__).parent / "_static" / "nltk_cache" / "corpora" / "stopwords"


class PerLanguageStep(RowStep):
    """A step whose outcome depends on the language of each text. Texts of other languages stay as they are.

    Class attributes:
        languages: ISO 639 codes that it knows.
    """

    category = "Pre-Processing"
    languages: ClassVar[Collection[str]]

    def transform(self, state: PipelineState, handler: StepHandler) -> PipelineState:
        """Add the column; texts of other languages are a warning."""
        changed = super().transform(state, handler)
        left = [code for text, code in self.inputs(state) if text and code not in self.languages]
        if left:
            names = ", ".join(sorted({code or "none named" for code in left})[:MOST_NAMED])
            handler.warn(
                f"{len(left)} of {state.count} texts stay as they are, for this step lacks their language: {names}."
            )
        return changed

    def inputs(self, state: PipelineState) -> Sequence[Any]:
        """Return text and language of each row; the words tell the language where no column does."""
        texts = state.texts(self.given.input_column)
        if not self.given.language_column:
            return [[text, question_language(text)] for text in texts]
        codes = map(language_code, state.texts(self.given.language_column))
        return [list(pair) for pair in zip(texts, codes, strict=True)]

    def transform_row(self, text: Any, state: PipelineState, handler: StepHandler) -> str:  # noqa: ARG002
        """Return the text with its words changed as its language wants it."""
        words, language = text
        return self.changed(words, language) if language in self.languages else str(words)

    @abstractmethod
    def changed(self, text: str, language: str) -> str:
        """Return a text of a language that the step knows."""


class StopwordRemoval(PerLanguageStep):
    """Leaves out words that say nothing about the subject."""

    id = "stopword_removal"
    name = "Stopword Remover"
    description = "Leaves out the stop words of English, German, French and Italian texts; others stay as they are."
    cached = False
    languages = STOPPED_LANGUAGES

    class Parameters(LanguageParameters):
        """Where it writes."""

        output_column: str = parameter("without-stopwords", "Output column", "Column that is added.", column="writes")

    def changed(self, text: str, language: str) -> str:
        """Return the text without stop words."""
        stop = stop_words(language)
        words = text.split()
        kept = (_without_article(word, stop) for word in words) if language in ELIDING else iter(words)
        return " ".join(word for word in kept if word.strip(_EDGES).casefold() not in stop or not word.strip(_EDGES))


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


class TextStemmer(PerLanguageStep):
    """Cuts the endings of words."""

    id = "text_stemmer"
    name = "Text Stemmer"
    description = (
        "Cuts the endings of words by the Snowball stemmer of their language; other languages stay as they are."
    )
    languages = SNOWBALL

    class Parameters(LanguageParameters):
        """Where it writes."""

        output_column: str = parameter("stemmed", "Output column", "Column that is added.", column="writes")

    def changed(self, text: str, language: str) -> str:
        """Return the text with each word stemmed, everything between the words as it was."""
        stem = _stemmer(language).stem
        return WORD.sub(lambda word: str(stem(word[0])), text)


@cache
def stop_words(language: str) -> frozenset[str]:
    """Return the stop words of a language: NLTK's, which LlamaIndex ships, and those that the search leaves out."""
    listed = (_NLTK_LISTS / _english_name(language)).read_text("utf-8").split()
    return frozenset(listed) | function_words(language) | (STOP_WORDS if language == "en" else frozenset())


def _without_article(word: str, stop: Container[str]) -> str:
    """Return a word without the stop word that an apostrophe ties to it: `l'eau`, `dell'acqua`."""
    before, mark, rest = word.replace("’", "'").partition("'")
    return word[-len(rest) :] if mark and rest and before.strip(_EDGES).casefold() in stop else word


@cache
def _stemmer(language: str) -> Any:
    from nltk.stem.snowball import SnowballStemmer  # noqa: PLC0415  # seconds to import

    return SnowballStemmer(_english_name(language))


def _english_name(language: str) -> str:
    """Return what NLTK calls a language."""
    return str(Locale(language).english_name).lower()
