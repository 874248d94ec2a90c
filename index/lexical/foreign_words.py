"""The words of questions that are not English: the forms of each that the corpus has.

Flow: a question's language (`language.py`) -> `LexicalIndex.words_of` -> **here** -> retrieval, reader and gate, which
compare a question's terms with those of texts.

The index keeps one form of every word, whichever language it is from (`LexicalIndex.terms`). A term **here** stands
for all forms that the stemmer of the question's language makes equal; they are looked up when a question is asked. So
an index needs to know nothing about languages: a corpus may mix them, and documents too short to tell theirs are found.
Of Chinese and Japanese a term is a pair of characters, or a single one that stands for all pairs which hold it.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from itertools import pairwise

from index.lexical.analyzers import STEMMERS, content_words_of, stems_of
from index.lexical.language import light_words
from index.lexical.term_index import NameTerms, TermIndex, TermQuery
from index.lexical.unspaced import RUN, characters, without_function_words

# A stemmer may replace so many letters at the end of a stem, but leaves the first ones.
REPLACED_LETTERS, KEPT_LETTERS = 2, 2
KEPT_QUERIES = 4096
MAX_QUERY_TERMS = 64
_KANA = re.compile(r"[\u3040-\u30ff]{2}")
_CHINESE_CHARACTERS = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]+")


class ForeignWords(ABC):
    """The words of an index as another language than English sees them. Safe from many threads.

    It has the methods of `LexicalIndex` that weigh a question's words, and takes and returns its own terms.

    Args:
        index: of the corpus.
    """

    def __init__(self, index: TermIndex) -> None:
        self._index = index
        self._query = lru_cache(KEPT_QUERIES)(self._make_query)

    @abstractmethod
    def terms(self, text: str) -> list[str]:
        """Return the terms of a text, function words included."""

    @abstractmethod
    def content_terms(self, question: str) -> list[str]:
        """Return the terms of a question's content, in order."""

    @abstractmethod
    def _make_query(self, term: str) -> TermQuery:
        """Return what finds the leaves that hold a term."""

    def query_terms(self, question: str) -> list[str]:
        """Return the distinct terms worth searching, at most 64, rarest first."""
        distinct = dict.fromkeys(self.content_terms(question) or self.terms(question))
        return sorted(distinct, key=self.weight, reverse=True)[:MAX_QUERY_TERMS]

    def weight(self, term: str) -> float:
        """Inverse document frequency of all forms of a term together, see `LexicalIndex.weight`."""
        return self._query(term).weight

    def name_terms(self, title: str, doc_id: str) -> NameTerms:
        """Return the terms of a document's title; those of its names are the index's own."""
        return self._index.name_terms(title, doc_id)._replace(title=frozenset(self.terms(title)))

    def search(
        self, terms: Mapping[str, float], names: Iterable[str], top_k: int, versions: Collection[str] | None = None
    ) -> list[tuple[str, float]]:
        """Return (node id, score) of the best leaves, see `LexicalIndex.search`; `names` are the index's own terms."""
        weighed = [(self._query(term).query, weight) for term, weight in terms.items()]
        return self._index.search_queries(weighed, names, top_k, versions)

    def held(self, terms: Iterable[str], node_ids: Collection[str]) -> dict[str, frozenset[str]]:
        """Return leaf -> those of `terms` that its text holds in some form."""
        return self._index.held_queries({term: self._query(term).query for term in terms}, node_ids)


class InflectedWords(ForeignWords):
    """Words of a language that has a stemmer; a term is a stem.

    Args:
        index: of the corpus.
        language: one of `analyzers.STEMMERS`.
    """

    def __init__(self, index: TermIndex, language: str) -> None:
        super().__init__(index)
        self._stems = stems_of(language)
        self._content = content_words_of(language, light_words(language))

    def terms(self, text: str) -> list[str]:
        """Return the stems of a text, in order."""
        return self._stems(self._index.terms(text))

    def content_terms(self, question: str) -> list[str]:
        """Return the stems of a question without the function words of its language, in order."""
        return self.terms(" ".join(self._content(question)))

    def _make_query(self, stem: str) -> TermQuery:
        if not stem:  # every term begins with it
            return self._index.any_of([stem])
        known = self._index.beginning_with(stem[: max(KEPT_LETTERS, len(stem) - REPLACED_LETTERS)])
        forms = [term for term, own in zip(known, self._stems(known), strict=True) if own == stem]
        return self._index.any_of(forms or [stem])


class UnspacedWords(ForeignWords):
    """Chinese or Japanese: a term is a pair of characters, or a single Chinese character.

    Args:
        index: of the corpus.
        language: `zh` or `ja`.
    """

    def __init__(self, index: TermIndex, language: str) -> None:
        super().__init__(index)
        self._language = language

    def terms(self, text: str) -> list[str]:
        """Return the terms of the index, and all characters."""
        return [*self._index.terms(text), *characters(text)]

    def content_terms(self, question: str) -> list[str]:
        """Return the pairs of characters of a question's content, and its words in other letters.

        In a pair of Chinese characters that no leaf holds two words may stand side by side, or a word that documents
        spell with one of them: its characters count, unless another pair holds them.
        """
        content = without_function_words(question, self._language)
        found: list[str] = self._index.terms(RUN.sub(" ", content))
        for run in RUN.findall(content):
            pairs = [first + second for first, second in pairwise(run)]
            kept = [pair for pair in pairs if _KANA.fullmatch(pair) or self._index.has(pair)]
            left = {character for character in run if _CHINESE_CHARACTERS.match(character)} - set("".join(kept))
            found += [*kept, *(character for character in run if character in left)]
        return found

    def _make_query(self, term: str) -> TermQuery:
        single = len(term) == 1 and _CHINESE_CHARACTERS.match(term)
        return self._index.any_with(term) if single else self._index.any_of([term])


def words_in(index: TermIndex, language: str) -> ForeignWords | None:
    """Return the words of an index as a language sees them; None for English and where nothing is known of it."""
    if language in {"ja", "zh"}:
        return UnspacedWords(index, language)
    return InflectedWords(index, language) if language in STEMMERS else None
