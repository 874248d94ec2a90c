"""Number the citations of several answers consecutively.

Flow: the answers of `survey.py` -> **here** -> findings, summary and report, in which `[n]` means the same everywhere.
The rule is that of `query_engine/schema/citations.py`: a number stands for one link.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from query_engine.schema.events import Citation
from query_engine.schema.passage import DocumentKey

_Place = tuple[DocumentKey, int, int]


class CitationNumbers:
    """The growing list of all citations of one reply."""

    def __init__(self) -> None:
        self._numbers: dict[str | _Place, int] = {}
        self._citations: dict[_Place, Citation] = {}

    def number(self, citations: Iterable[Citation]) -> tuple[Citation, ...]:
        """Return the citations with the numbers they have here, given at their first use."""
        return tuple(self._numbered(citation) for citation in citations)

    def all(self) -> tuple[Citation, ...]:
        """Return what was numbered, ordered by number, then by place."""
        return tuple(sorted(self._citations.values(), key=lambda one: (one.number, one.start)))

    def _numbered(self, citation: Citation) -> Citation:
        place = citation.document, citation.start, citation.end
        number = self._numbers.setdefault(citation.url or place, len(self._numbers) + 1)
        return self._citations.setdefault(place, replace(citation, number=number))


def marks(citations: Sequence[Citation]) -> str:
    """Return `[n]` for each number, in order of mention."""
    return "".join(f"[{number}]" for number in dict.fromkeys(citation.number for citation in citations))
