"""What research works with, and what travels through its loop: engine, searches, reviews, rounds.

Flow: a search, `by_model.py` -> **these values** -> `loop.py`, which hands each round on as a step. Pure
values. Readers who need a round as data, and not as Markdown, match `RoundStep`.
"""

from collections.abc import AsyncGenerator, Callable, Iterable
from dataclasses import dataclass, field
from typing import Protocol

from index.corpus import Corpus
from query_engine.inquiry import Inquiry
from query_engine.llms.helper import PromptHelper
from query_engine.retrieval.multi_part import Evidence, SearchContext
from query_engine.retrieval.papers import PaperQuestion, Paragraph
from query_engine.runtime.deadline import Deadline
from query_engine.schema.events import Event, Nearest, Step
from query_engine.schema.passage import Passage
from query_engine.schema.retrieval_result import Retrieval
from settings import RetrievalSettings


class Search(Protocol):
    """Finds passages for a query: `Engine.retrieve` of a corpus by default, or a source of `sources/`."""

    def __call__(self, question: str, deadline: Deadline, /) -> Retrieval:
        """Return what was found, best first; blocks, and is called from several threads at once.

        Args:
            question: a query in words.
            deadline: to end by. When its `stop` is set, nobody waits for the result any more.

        Raises:
            RagError: the search failed or was too late; the loop goes on with what the others found, and tells it.
        """
        ...


class Papers(Protocol):
    """Searches papers."""

    def search(self, question: PaperQuestion) -> Iterable[Paragraph]:
        """Find paragraphs, nearest first; blocks."""
        ...


class Engine(Protocol):
    """Answers questions from one corpus; `query_engine.engine.Engine` does."""

    @property
    def corpus(self) -> Corpus:
        """What it searches."""
        ...

    @property
    def helper(self) -> PromptHelper | None:
        """Asks the language model on the side."""
        ...

    def retrieve(self, inquiry: Inquiry, options: RetrievalSettings | None = None) -> Retrieval:
        """Find passages; blocks."""
        ...

    def papers(self) -> Papers:
        """Return what searches the corpus's papers."""
        ...

    def one_pass(self, question: str, context: SearchContext) -> Evidence:
        """Return what `stream` gathers by itself."""
        ...

    def stream(
        self, inquiry: Inquiry, gather: Callable[[str, SearchContext], Evidence] | None = None
    ) -> AsyncGenerator[Event, None]:
        """Answer from what `gather` finds, event by event; closing it waits for its threads."""
        ...


@dataclass(frozen=True, slots=True)
class FoundDocument:
    """What a round found in one document.

    Attributes:
        place: the document, and its sentence that holds most of the question's words, verbatim; cut if it is long.
        useful: the review keeps one of its passages.
    """

    place: Nearest
    useful: bool = True


@dataclass(frozen=True, slots=True)
class Review:
    """What is thought of the passages of a round.

    Attributes:
        useful: those that help, best first.
        summary: what they say about the question, in a sentence or two; empty where nobody wrote one.
        sufficient: they answer the question, together with those of earlier rounds.
        missing: what is not answered yet, in words for people; empty if `sufficient`.
        queries: what to search for next; none if there is no idea left.
    """

    useful: tuple[Passage, ...]
    summary: str
    sufficient: bool
    missing: tuple[str, ...] = ()
    queries: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Round:
    """One round of search and review.

    Attributes:
        number: from 1.
        queries: what was searched for.
        found: the documents, best first.
        review: of what was found.
    """

    number: int
    queries: tuple[str, ...]
    found: tuple[FoundDocument, ...]
    review: Review


@dataclass(slots=True)
class Notes:
    """What a loop knows so far; it grows from round to round.

    Attributes:
        question: the whole one.
        asked: all queries, in order.
        found: query -> its passages, best first.
        merged: all passages, the first of each query first.
        useful: those that reviews kept, in the order in which they did.
        summaries: of reviews, in order.
    """

    question: str
    asked: list[str] = field(default_factory=list)
    found: dict[str, tuple[Passage, ...]] = field(default_factory=dict)
    merged: tuple[Passage, ...] = ()
    useful: list[Passage] = field(default_factory=list)
    summaries: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class RoundStep(Step):
    """A step, of kind `round`, that also holds the round as data."""

    round: Round
