"""What travels through a research loop: searches, reviews, rounds.

Flow: a search, `by_model.py`, `by_rules.py` -> **these values** -> `loop.py`, which hands each round on as a step. Pure
values. Readers who need a round as data, and not as Markdown, match `RoundStep`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol

from query_engine.runtime.deadline import Deadline
from query_engine.schema.events import Nearest, Step
from query_engine.schema.passage import Passage
from query_engine.schema.retrieval_result import Retrieval

By = Literal["model", "rules"]


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


class ModelHelper(Protocol):
    """Asks the language model on the side: a `PromptHelper`, or the `PatientHelper` that retries it."""

    @property
    def prompt_tokens(self) -> int:
        """Longest prompt."""
        ...

    def quoted(self, text: str, max_tokens: int) -> str:
        """Return text as it may stand in a prompt."""
        ...

    def tokens(self, text: str) -> int:
        """Length of a text for the model."""
        ...

    def ask(
        self,
        prompt: str,
        deadline: Deadline,
        *,
        one_line: bool = False,
        on_thought: Callable[[str], None] | None = None,
    ) -> str:
        """Return the model's reply; arguments and errors are those of `PromptHelper.ask`."""
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
class Contradiction:
    """Two documents that say opposite things.

    Attributes:
        first, second: a sentence of each.
        about: what they disagree on, in a few words.
    """

    first: Nearest
    second: Nearest
    about: str


@dataclass(frozen=True, slots=True)
class Review:
    """What is thought of the passages of a round.

    Attributes:
        useful: those that help, best first.
        summary: what they say about the question, in a sentence or two; empty where nobody wrote one.
        sufficient: they answer the question, together with those of earlier rounds.
        missing: what is not answered yet, in words for people; empty if `sufficient`.
        queries: what to search for next; none if there is no idea left.
        contradictions: between documents, where a language model named them.
        by: who reviewed.
    """

    useful: tuple[Passage, ...]
    summary: str
    sufficient: bool
    missing: tuple[str, ...] = ()
    queries: tuple[str, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    by: By = "rules"


@dataclass(frozen=True, slots=True)
class Round:
    """One round of search and review.

    Attributes:
        number: from 1.
        queries: what was searched for.
        found: the documents, best first.
        review: of what was found.
        timings_ms: `search`, `review` (where the language model reviewed) and `total`.
    """

    number: int
    queries: tuple[str, ...]
    found: tuple[FoundDocument, ...]
    review: Review
    timings_ms: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RoundStep(Step):
    """A step, of kind `round`, that also holds the round as data."""

    round: Round
