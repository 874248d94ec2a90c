"""Read evaluation cases: one question a line, with what is known of its right answer.

Flow: a `questions.jsonl` -> **here** -> `metrics.py` and the measurements in `bench/`; files of other formats come
through `questions/`, which collects its rows here.

Strict, because a case that is skipped in silence moves every mean: the first bad line stops the reading and is
named. What a case makes measurable is decided in `metrics.py`.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from errors import RagError

Text = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]


class BadCasesError(RagError):
    """A file of cases cannot be read, or a line of it is not a case."""

    code = "bad_cases"


class Evidence(BaseModel):
    """A place that holds the answer.

    Attributes:
        doc: file name of the document.
        page_index: zero-based page.
        text: what stands there, as the data set's makers extracted it.
    """

    model_config = ConfigDict(frozen=True, strict=True)

    doc: Text
    page_index: int = Field(ge=0)
    text: Text


class GivenPage(BaseModel):
    """A web page that came with the question; the answer is looked for in these instead of in a corpus.

    Attributes:
        html: the page as it was fetched.
    """

    model_config = ConfigDict(frozen=True, strict=True)

    url: str
    html: str


class Nugget(BaseModel):
    """A fact that an answer should hold.

    Attributes:
        vital: whether it belongs in every good answer.
        any: the phrasings that count for it; without one, only a judge can tell whether an answer has it.
    """

    model_config = ConfigDict(frozen=True, strict=True)

    text: Text
    vital: bool
    any: tuple[Text, ...] = ()


class Region(BaseModel):
    """A stretch of a document on the topic: from `quote_start` to the end of `quote_end`.

    Attributes:
        doc: file name of the document.
        text: the stretch itself, of documents whose text depends on the reader, as PDFs and tables; else empty.
    """

    model_config = ConfigDict(frozen=True, strict=True)

    doc: Text
    quote_start: Text
    quote_end: Text
    text: str = ""


class Case(BaseModel):
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
        nuggets: the facts that a good answer holds.
        regions: what may be quoted as on the question's topic.
    """

    model_config = ConfigDict(frozen=True, strict=True)

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
    nuggets: tuple[Nugget, ...] = ()
    regions: tuple[Region, ...] = ()

    @property
    def references(self) -> tuple[str, ...]:
        """The texts that the answer rests on, from any of the fields; empty if unknown."""
        single = () if self.reference_context is None else (self.reference_context,)
        return self.reference_contexts or single or tuple(item.text for item in self.evidence)

    @property
    def unanswerable(self) -> bool:
        """Whether the case says `"answer": null`: the corpus does not answer it. An absent answer is unknown."""
        return self.answer is None and "answer" in self.model_fields_set


AnyCase = TypeVar("AnyCase", bound=Case)
Written = TypeVar("Written")


def case_lines(cases: Iterable[Case], *, without: frozenset[str] = frozenset()) -> str:
    """Return cases as `read_cases` reads them, one a line, without the fields named."""
    return "".join(case.model_dump_json(exclude_unset=True, exclude=set(without)) + "\n" for case in cases)


def read_cases(path: Path) -> tuple[Case, ...]:
    """Read a JSONL file of cases; see `read_cases_as`."""
    return read_cases_as(path, Case)


def read_cases_as(path: Path, kind: type[AnyCase]) -> tuple[AnyCase, ...]:
    """Read a JSONL file of cases of one kind, in file order; blank lines are passed over.

    Args:
        path: of the file.
        kind: `Case`, or a subclass.

    Raises:
        BadCasesError: the file cannot be read or is empty, a line is not a case, or two cases share an id.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise BadCasesError(
            f"{path} cannot be read: {error}.", "Name a UTF-8 file with one JSON object a line."
        ) from error
    rows = ((f"Line {number} of {path}", line) for number, line in enumerate(lines, start=1) if line.strip())
    return collect(rows, lambda line, _number: kind.model_validate_json(line), str(path))


def collect(
    rows: Iterable[tuple[str, Written]],
    to_case: Callable[[Written, int], AnyCase | None],
    source: str,
    remedy: str = "A case is a JSON object with at least `id` and `question`.",
) -> tuple[AnyCase, ...]:
    """Return the cases of rows, in their order.

    Args:
        rows: where each row stands, e.g. `Line 3 of questions.jsonl`, and what stands there, e.g. its JSON.
        to_case: that and the row's number from 1 -> its case, or None to leave it out.
        source: what is read, for messages.
        remedy: what to do about a row that is not a case.

    Raises:
        BadCasesError: a row is not a case, two share an id, or there is none.
    """
    cases: dict[str, AnyCase] = {}
    places: dict[str, str] = {}
    for number, (place, row) in enumerate(rows, start=1):
        try:
            case = to_case(row, number)
        except ValidationError as error:
            raise BadCasesError(f"{place} is not a case ({first_fault(error)}).", remedy) from error
        if case is None:
            continue
        if case.id in cases:
            fact = f"{place} repeats the id {case.id!r} of {places[case.id].split(' of ')[0].lower()}."
            raise BadCasesError(fact, "Give each case a different id.")
        cases[case.id], places[case.id] = case, place
    if not cases:
        raise BadCasesError(f"{source} holds no case.", "Write one JSON object with `id` and `question` a line.")
    return tuple(cases.values())


def first_fault(error: ValidationError) -> str:
    """Say what is wrong first, and in which field."""
    first = error.errors(include_url=False, include_input=False)[0]
    field = ".".join(str(part) for part in first["loc"])
    fault = first["msg"].removeprefix("Value error, ")
    return f"`{field}`: {fault}" if field else fault
