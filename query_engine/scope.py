"""Which documents a question may find: the versions that meet its filters, decided once.

Flow: a request's filters -> **here**, by the catalogue's SQL -> both searches look for leaves of these versions only.
A filter that is applied to what the searches found could leave nothing of it; this one cannot. What a filter may say
is `index/filters.py`'s business.
"""

from dataclasses import dataclass

from index.catalogue import Catalogue


@dataclass(frozen=True, slots=True)
class Scope:
    """The documents that may be found.

    Attributes:
        versions: of the documents, as they were when the question came; none means that nothing is found.
    """

    versions: frozenset[str]

    @classmethod
    def of(cls, catalogue: Catalogue, filters: object | None) -> "Scope | None":
        """Return the scope of these filters; None, which is every document, for None.

        Raises:
            FilterError: the filter is empty or has no meaning.
        """
        return None if filters is None else cls(catalogue.versions(filters))
