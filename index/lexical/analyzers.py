"""tantivy's analyzers: what a word of a text becomes in the index, and its stem in other languages.

Flow: **here** -> `tantivy_index.py`, `foreign_words.py`.
"""

from collections.abc import Callable, Collection, Iterable
from functools import cache
from typing import Any

import tantivy

MAX_WORD_BYTES = 60
# tantivy's stemmers, by ISO 639 code, whose stems begin as their words do; those for Arabic, Greek and Tamil change
# beginnings too.
STEMMERS = {
    "da": "danish",
    "de": "german",
    "es": "spanish",
    "fi": "finnish",
    "fr": "french",
    "hu": "hungarian",
    "it": "italian",
    "nl": "dutch",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sv": "swedish",
    "tr": "turkish",
}
_WITHOUT_STOP_LIST = frozenset({"ro", "tr"})


def index_analyzer() -> Any:
    """Return the analyzer of the index: words in lower case, without accents, by the English stemmer."""
    return (
        tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
        .filter(tantivy.Filter.remove_long(MAX_WORD_BYTES))
        .filter(tantivy.Filter.lowercase())
        .filter(tantivy.Filter.ascii_fold())
        .filter(tantivy.Filter.stemmer("english"))
        .build()
    )


@cache
def stems_of(language: str) -> Callable[[Iterable[str]], list[str]]:
    """Return a function that gives the stem of each of the index's terms in a language of `STEMMERS`."""
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace())
    analyzer = builder.filter(tantivy.Filter.stemmer(STEMMERS[language])).build()
    return lambda terms: list(analyzer.analyze(" ".join(terms)))


def content_words_of(language: str, also: Collection[str]) -> Callable[[str], list[str]]:
    """Return a function that gives the words of a text, in lower case, without the function words of its language.

    Args:
        language: one of `STEMMERS`.
        also: function words beyond tantivy's.
    """
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    builder = builder.filter(tantivy.Filter.remove_long(MAX_WORD_BYTES)).filter(tantivy.Filter.lowercase())
    if language not in _WITHOUT_STOP_LIST:
        builder = builder.filter(tantivy.Filter.stopword(STEMMERS[language]))
    analyzer = builder.filter(tantivy.Filter.custom_stopword(sorted(also))).build()
    return lambda text: list(analyzer.analyze(text))
