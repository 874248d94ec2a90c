"""Questions, passages and wanted answers, as the model will see them in the service.

Flow: a file of rows, or questions and our own retrieval -> **here** -> `tokens.py`. A row of the file:

    {"question": "…", "passages": [{"title": "…", "text": "…"}, …], "answer": "… [1]"}

The passages are the documents of the prompt in their order, so that `[1]` cites the first; an answer of null says that
they do not answer.
"""

import random
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from eval.cases import BadCasesError, Case, Text
from eval.metrics import SHORT_ANSWER_WORDS, contains, shingle_recall, words
from eval.questions.files import first_fault, text_lines
from eval.run_folder import replace_file
from query_engine.schema.passage import Passage
from query_engine.text.markdown_escape import REFERENCE

# Of a reference text's shingles, so many have to stand in a passage that is cited for it.
MIN_REFERENCE_SHARE = 0.5
SHOWN_PASSAGES = 5
# A document's own reference mark would be taken for a rank.
OWN_MARK = re.compile(rf"\s*{REFERENCE.pattern}")

Retrieve = Callable[[str], Sequence[Passage]]


class Shown(BaseModel):
    """A passage of the prompt."""

    model_config = ConfigDict(frozen=True, strict=True)

    title: str = ""
    text: Text


class Row(BaseModel):
    """One prompt and its answer; None if the passages do not answer."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    question: Text
    passages: tuple[Shown, ...] = Field(min_length=1)
    answer: Text | None

    def cited(self) -> set[int]:
        """Ranks that the answer cites."""
        return {int(rank) for group in REFERENCE.findall(self.answer or "") for rank in re.findall(r"\d+", group)}


def read_rows(path: Path) -> list[Row]:
    """Read a JSON Lines file.

    Raises:
        BadCasesError: it cannot be read, is empty, or a line of it is not a row: it is named.
    """
    rows = []
    for place, line in text_lines(path):
        try:
            row = Row.model_validate_json(line)
        except ValidationError as error:
            raise BadCasesError(
                f"{place} is not a row ({first_fault(error)}).",
                'A row is {"question", "passages": [{"title", "text"}], "answer"}.',
            ) from error
        if wrong := [rank for rank in row.cited() if not 1 <= rank <= len(row.passages)]:
            raise BadCasesError(
                f"{place} cites [{min(wrong)}], but has {len(row.passages)} passages.",
                "Cite passages by their place, beginning with 1.",
            )
        rows.append(row)
    if not rows:
        raise BadCasesError(f"{path} holds no row.", "Write one JSON object a line.")
    return rows


def write_rows(rows: Sequence[Row], path: Path) -> None:
    """Write what `read_rows` reads; the file is there whole or not at all."""
    replace_file(path, "".join(row.model_dump_json() + "\n" for row in rows))


def rows_of_questions(
    cases: Sequence[Case], retrieve: Retrieve, told: Callable[[str], None], seed: int
) -> Iterator[Row]:
    """Yield a row for each question that can be learnt from: what our retrieval shows, and the answer cited by rank.

    Of the passages found the first are shown, in random order, so that the model does not learn to cite the first. A
    question is left out if what answers it was not found, or its answer is not known.

    Args:
        cases: `reference_contexts` are the answer's sentences; a short `answer` stands in the passage that is cited.
        retrieve: gives the passages of a question, best first.
        told: called after each question.
        seed: of the order of passages.
    """
    draw = random.Random(seed)  # noqa: S311  # repeatable, and no secret
    for case in cases:
        passages = list(retrieve(case.question))[:SHOWN_PASSAGES]
        draw.shuffle(passages)
        if row := _row(case, passages):
            yield row
        told("")


def _row(case: Case, passages: Sequence[Passage]) -> Row | None:
    if not passages:
        return None
    shown = tuple(Shown(title=passage.title, text=passage.text) for passage in passages if passage.text.strip())
    if case.unanswerable:
        return Row(question=case.question, passages=shown, answer=None)
    said = []
    for reference in case.references:
        shares = [shingle_recall(passage.text, [reference]) for passage in shown]
        if max(shares) < MIN_REFERENCE_SHARE:
            return None
        said.append(f"{' '.join(OWN_MARK.sub('', reference).split())} [{shares.index(max(shares)) + 1}]")
    if not said and case.answer and len(words(case.answer)) <= SHORT_ANSWER_WORDS:
        ranks = [rank for rank, passage in enumerate(shown, start=1) if contains(passage.text, case.answer)]
        said = [f"{case.answer} [{ranks[0]}]"] if ranks else []
    return Row(question=case.question, passages=shown, answer=" ".join(said)) if said else None
