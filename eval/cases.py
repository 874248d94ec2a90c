"""Evaluation cases: a question with what is known of its right answer. Pure values.

Flow: `questions/` reads a file -> **these** -> everything else in the evaluation, and the measurements in `bench/`.
What a case makes measurable is decided in `metrics.py`.
"""

from collections.abc import Iterable
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from errors import RagError

Text = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]


class BadCasesError(RagError):
    """A file of cases cannot be read, or a line of it is not a case."""

    code = "bad_cases"


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True)


class Evidence(_Value):
    """A place that holds the answer.

    Attributes:
        doc: file name of the document.
        page_index: zero-based page.
        text: what stands there, as the data set's makers extracted it.
    """

    doc: Text
    page_index: int = Field(ge=0)
    text: Text


class GivenPage(_Value):
    """A web page that came with the question; the answer is looked for in these instead of in a corpus.

    Attributes:
        html: the page as it was fetched.
    """

    url: str
    html: str


class Nugget(_Value):
    """A fact that an answer should hold.

    Attributes:
        vital: whether it belongs in every good answer.
        any: the phrasings that count for it; without one, only a judge can tell whether an answer has it.
    """

    text: Text
    vital: bool
    any: tuple[Text, ...] = ()


class Region(_Value):
    """A stretch of a document on the topic: from `quote_start` to the end of `quote_end`.

    Attributes:
        doc: file name of the document.
        text: the stretch itself, of documents whose text depends on the reader, as PDFs and tables; else empty.
    """

    doc: Text
    quote_start: Text
    quote_end: Text
    text: str = ""


class Case(_Value):
    """One question. A field that is absent is unknown; unknown keys are ignored.

    Attributes:
        answer: the reference answer. None alone says little: see `unanswerable`.
        alternatives: other right answers.
        relevant_docs: file names of the documents that hold the answer.
        relevance: graded gain of each relevant document, 0 or more.
        reference_context: the sentences the answer rests on.
        reference_contexts: the same, where there are several.
        category: the kind of question, e.g. `factual` or `no_answer`.
        pages: given with the question; empty: a corpus is asked.
        query_time: when it was asked, in the questioner's words, for a language model that writes.
        nuggets: the facts that a good answer holds.
        regions: what may be quoted as on the question's topic.
    """

    id: Text
    question: Text
    answer: Text | None = None
    alternatives: tuple[Text, ...] = ()
    relevant_docs: tuple[Text, ...] = ()
    relevance: dict[str, Annotated[float, Field(ge=0)]] = {}
    evidence: tuple[Evidence, ...] = ()
    reference_context: str | None = None
    reference_contexts: tuple[Text, ...] = ()
    category: str | None = None
    pages: tuple[GivenPage, ...] = ()
    query_time: Text | None = None
    nuggets: tuple[Nugget, ...] = ()
    regions: tuple[Region, ...] = ()

    @property
    def references(self) -> tuple[str, ...]:
        """The texts that the answer rests on, from any of the fields; empty if unknown."""
        single = () if self.reference_context is None else (self.reference_context,)
        return self.reference_contexts or single or tuple(item.text for item in self.evidence)

    @property
    def drawn_from(self) -> str | None:
        """The document that the question was drawn from: the first of those that hold its answer; None if unknown."""
        graded = sorted((doc for doc, gain in self.relevance.items() if gain), key=lambda doc: -self.relevance[doc])
        named = (*self.relevant_docs, *graded, *(one.doc for one in self.evidence), *(one.doc for one in self.regions))
        return named[0] if named else None

    @property
    def unanswerable(self) -> bool:
        """Whether the case says `"answer": null`: the corpus does not answer it. An absent answer is unknown."""
        return self.answer is None and "answer" in self.model_fields_set


def apart(cases: Iterable[Case]) -> tuple[list[Case], list[Case]]:
    """Return the questions that have an answer or may have one, and those that the corpus does not answer.

    To decline is right for these and wrong for the others: in one mean, a system that answers all would look better.
    """
    known = list(cases)
    return [case for case in known if not case.unanswerable], [case for case in known if case.unanswerable]


def by_category(cases: Iterable[Case]) -> dict[str, list[Case]]:
    """Return the questions of each category, in the order in which these come up; those without one stand below ""."""
    found: dict[str, list[Case]] = {}
    for case in cases:
        found.setdefault(case.category or "", []).append(case)
    return found


def case_lines(cases: Iterable[Case], *, without: frozenset[str] = frozenset()) -> str:
    """Return cases as `questions/` reads them, one a line, without the fields named."""
    return "".join(case.model_dump_json(exclude_unset=True, exclude=set(without)) + "\n" for case in cases)
