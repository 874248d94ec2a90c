"""What every source returns, and how it is asked.

Flow: `corpus.py` asks each `Source` -> **here** -> `SourceResult`, whose pages become a corpus. One file a kind of
source implements the protocol; `build.py` makes them from the settings.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from query_engine.runtime.deadline import Deadline
from query_engine.schema.answer_warning import AnswerWarning


@dataclass(frozen=True, slots=True)
class SourcePage:
    """A text that a source returned. A pure value.

    Attributes:
        id: the source's own name for it.
        url: its address, http or https, which citations link to; None where the source knows none.
        title: for people; empty where the source knows none.
        text: the whole text as it came, not cleaned.
        published: when, in the source's own words; empty where it does not say.
        facts: what else the record holds, by its own names, JSON-ready; for steps of pipelines.
    """

    id: str
    url: str | None
    title: str
    text: str
    published: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict, hash=False, compare=False)


@dataclass(frozen=True, slots=True)
class SourceResult:
    """What one search of one source returned.

    Attributes:
        pages: best first.
        skipped: records that were broken and are left out.
        warnings: what else lowers the quality.
    """

    pages: tuple[SourcePage, ...]
    skipped: int = 0
    warnings: tuple[AnswerWarning, ...] = ()

    @classmethod
    def of(cls, pages: Sequence[SourcePage | None], warnings: tuple[AnswerWarning, ...] = ()) -> "SourceResult":
        """Return the pages that were read; None stands for a broken record."""
        kept = tuple(page for page in pages if page is not None)
        return cls(kept, len(pages) - len(kept), warnings)


@dataclass(frozen=True, slots=True)
class SourceQuery:
    """What a source is asked.

    Attributes:
        text: the words to search for.
        k: pages to return, 1 or more.
        original: the person's question, of which `text` is one of several searches.
        iteration: which search for that question this is, from 1.
    """

    text: str
    k: int
    original: str
    iteration: int = 1


class Source(Protocol):
    """Searches pages. Safe to call from several threads at once."""

    @property
    def name(self) -> str:
        """As in `RAG_ANSWER__SOURCES`."""
        ...

    def search(self, query: SourceQuery, deadline: Deadline) -> SourceResult:
        """Return the pages found; blocks, until the deadline at most.

        Raises:
            SourceError: it cannot be reached, refuses or fails.
            OutOfTimeError: the client has left.
        """
        ...
