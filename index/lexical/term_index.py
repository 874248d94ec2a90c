"""What `foreign_words.py` asks of the word index, and what it gets.

Flow: `tantivy_index.py` is one -> **here** -> `foreign_words.py`. Types only.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol


class NameTerms(NamedTuple):
    """The terms of a document's title alone, and of all its names (`document_names.document_names`)."""

    title: frozenset[str]
    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class TermQuery:
    """What finds the leaves that hold a term in one of several forms.

    Attributes:
        query: makes tantivy's query for an index; its scores are as those of a word that is as rare as all forms
            together.
        weight: inverse document frequency of all forms together, above 0.
    """

    query: Callable[[Any], Any]
    weight: float


class TermIndex(Protocol):
    """The index's own terms, and queries over them; see `tantivy_index.LexicalIndex`."""

    def terms(self, text: str) -> list[str]: ...  # noqa: D102
    def has(self, term: str) -> bool: ...  # noqa: D102
    def name_terms(self, title: str, doc_id: str) -> NameTerms: ...  # noqa: D102
    def beginning_with(self, letters: str) -> list[str]: ...  # noqa: D102
    def any_of(self, forms: Sequence[str]) -> TermQuery: ...  # noqa: D102
    def any_with(self, character: str) -> TermQuery: ...  # noqa: D102
    def search_queries(  # noqa: D102
        self,
        queries: Iterable[tuple[Any, float]],
        names: Iterable[str],
        top_k: int,
        versions: Collection[str] | None = None,
    ) -> list[tuple[str, float]]: ...
    def held_queries(  # noqa: D102
        self, terms: Mapping[str, Any], node_ids: Collection[str]
    ) -> dict[str, frozenset[str]]: ...
