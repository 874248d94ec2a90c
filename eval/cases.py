"""Read evaluation cases: one question a line, with whatever is known of its right answer.

Flow: a `questions.jsonl` -> **here** -> `metrics.py` and the measurements in `bench/`.

Strict, because a case that is skipped in silence moves every mean: the first bad line stops the reading and is
named. What a case makes measurable is decided in `metrics.py`.
"""

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from errors import RagError

Text = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]


class BadCasesError(RagError):
    """A file of cases cannot be read, or a line of it is no case."""

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

    @property
    def references(self) -> tuple[str, ...]:
        """The texts that the answer rests on, whatever field tells them; empty if unknown."""
        single = () if self.reference_context is None else (self.reference_context,)
        return self.reference_contexts or single or tuple(item.text for item in self.evidence)

    @property
    def unanswerable(self) -> bool:
        """Whether the case says `"answer": null`: the corpus does not answer it. An absent answer is unknown."""
        return self.answer is None and "answer" in self.model_fields_set


def read_cases(path: Path) -> tuple[Case, ...]:
    """Read a JSONL file of cases, in file order; blank lines are passed over.

    Raises:
        BadCasesError: the file cannot be read or is empty, a line is no case, or two cases share an id.
    """
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise BadCasesError(
            f"{path} cannot be read: {error}.", "Name a UTF-8 file with one JSON object a line."
        ) from error
    cases: dict[str, Case] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        case = _parse(line, f"Line {number} of {path}")
        if case.id in cases:
            raise BadCasesError(
                f"Line {number} of {path} repeats the id {case.id!r}.", "Give each case an id of its own."
            )
        cases[case.id] = case
    if not cases:
        raise BadCasesError(f"{path} holds no case.", "Write one JSON object with `id` and `question` a line.")
    return tuple(cases.values())


def _parse(line: str, place: str) -> Case:
    try:
        return Case.model_validate_json(line)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        about = f"`{field}`: {first['msg']}" if field else first["msg"]
        remedy = "A case is a JSON object with at least `id` and `question`."
        raise BadCasesError(f"{place} is no case ({about}).", remedy) from error
