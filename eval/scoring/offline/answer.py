"""Score what is said against the reference answer: by words, by runs of words, in meaning.

Flow: `build.py` -> **here** -> `stage.py`. The arithmetic is `eval/metrics.py`'s and `eval/similarity.py`'s, the same
for the measurements of `bench/`. Where a case knows several right answers, the one that fits best counts. A declined
question has an answer that was not given: it scores 0.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol

from errors import ModelError
from eval.cases import Case
from eval.cells import Cell, Metric, failed, not_applicable, scored
from eval.metrics import (
    SHORT_ANSWER_WORDS,
    Scores,
    contains,
    crag_score,
    exact_match,
    spoken,
    token_f1,
    word_recall,
    words,
)
from eval.scoring.stage import Cells, Todo, failed_for

FAMILY = "answer"
METRICS = (
    Metric("word_recall", FAMILY, "higher", "Share of the reference's content words that are said, 0 to 1."),
    Metric(
        "contains", FAMILY, "higher", f"1 if the reference of at most {SHORT_ANSWER_WORDS} words stands in it, else 0."
    ),
    Metric("exact_match", FAMILY, "higher", "1 if nothing but the reference is said, else 0; articles do not count."),
    Metric("token_f1", FAMILY, "higher", "F1 of the words said and those of the reference, as SQuAD counts, 0 to 1."),
    Metric("rouge_l", FAMILY, "higher", "F1 of the longest common subsequence of stems, 0 to 1."),
    Metric("word_matching", FAMILY, "higher", "F1 of content words matched greedily by their vectors, 0 to 1."),
    Metric("similarity", FAMILY, "higher", "Cosine of the vectors of answer and reference, -1 to 1."),
    Metric("crag_score", FAMILY, "higher", "As CRAG: 1 if a short reference stands in it, 0 for not knowing, else -1."),
)
BATCH_ROWS = 64
# A vector's last digits depend on the texts that were embedded with it; a run that went on must not differ by them.
VECTOR_DECIMALS = 4
_OF_LIKENESS = {"rouge_l": "rouge_l", "word_matching": "matching", "similarity": "similarity"}
_OF_SHORT = ("contains", "crag_score")
_LONG = f"the reference is longer than {SHORT_ANSWER_WORDS} words"
_TOO_MANY_WORDS = "the answer has too many different words to match each with each"


class Compares(Protocol):
    """Says how alike answers and references are; `eval.similarity.Similarity` does."""

    def score_all(self, pairs: Sequence[tuple[str | None, str]]) -> list[Scores]:
        """Return `similarity`, `rouge_l` and, unless a text is too long, `matching` of each (answer, reference)."""


class AnswerBatches:
    """A scorer of answers in batches, since embedding many texts at once is several times as fast.

    Args:
        family: of the cells.
        metrics: their names.
        cells: (case, row) pairs, each answered and with a reference -> the cells of each row, by its id.
    """

    def __init__(self, family: str, metrics: Sequence[Metric], cells: Callable[[Todo], Mapping[str, Cells]]) -> None:
        self.families = (family,)
        self._names = [metric.name for metric in metrics]
        self._cells = cells

    def score(self, todo: Todo, repeat: int = 0) -> Iterator[tuple[str, str, Cells]]:  # noqa: ARG002
        """Yield the cells of each row, a batch at a time; see `stage.Scorer`. An answer not given scores 0."""
        for begin in range(0, len(todo), BATCH_ROWS):
            batch = todo[begin : begin + BATCH_ROWS]
            said = self._cells(
                [(case, row) for case, row in batch if row.outcome == "answered" and references_of(case)]
            )
            for case, row in batch:
                if not references_of(case):
                    cells = dict.fromkeys(self._names, not_applicable(lacking(case)))
                elif row.outcome == "answered":
                    cells = dict(said[row.id])
                else:
                    unsaid = scored(0) if row.outcome == "declined" else failed(failed_for(row))
                    cells = dict.fromkeys(self._names, unsaid)
                yield row.id, self.families[0], cells


class AnswerScorer(AnswerBatches):
    """Scores answers by words and by vectors.

    Args:
        similarity: returns what compares; called when there is something to compare. It may raise ModelError.
    """

    def __init__(self, similarity: Callable[[], Compares]) -> None:
        super().__init__(FAMILY, METRICS, self._of_answers)
        self._similarity = similarity

    def score(self, todo: Todo, repeat: int = 0) -> Iterator[tuple[str, str, Cells]]:
        """Yield as `AnswerBatches` does; long references are left out of what short ones are for.

        No answer repeats a whole sentence word for word: such a reference would make every answer wrong.
        """
        long = {row.id for case, row in todo if references_of(case) and not _short(references_of(case))}
        for id_, family, cells in super().score(todo, repeat):
            yield id_, family, cells | dict.fromkeys(_OF_SHORT, not_applicable(_LONG)) if id_ in long else cells

    def _of_answers(self, pairs: Todo) -> dict[str, Cells]:
        likenesses = self._compare(pairs)
        return {row.id: _said(row.answer or "", references_of(case)) | likenesses[row.id] for case, row in pairs}

    def _compare(self, pairs: Todo) -> dict[str, Cells]:
        """Return for each row the cells of what needs vectors, the best reference's."""
        asked = [(row, reference) for case, row in pairs for reference in references_of(case)]
        if not asked:
            return {}
        try:
            scores = self._similarity().score_all([(row.answer, reference) for row, reference in asked])
        except ModelError as error:
            return {row.id: dict.fromkeys(_OF_LIKENESS, failed(error.fact)) for row, _ in asked}
        of_rows: dict[str, list[Scores]] = {}
        for (row, _), found in zip(asked, scores, strict=True):
            of_rows.setdefault(row.id, []).append(found)
        return {id_: {name: _best(found, key) for name, key in _OF_LIKENESS.items()} for id_, found in of_rows.items()}


def _said(answer: str, references: Sequence[str]) -> Cells:
    text, of_short = spoken(answer), dict[str, float]()
    if short := _short(references):
        of_short["contains"] = max(contains(text, reference) for reference in short)
        of_short["crag_score"] = crag_score(text, references)
    of_all = {"word_recall": word_recall, "exact_match": exact_match, "token_f1": token_f1}
    best = {name: max(metric(text, reference) for reference in references) for name, metric in of_all.items()}
    return {name: scored(value) for name, value in (of_short | best).items()}


def _short(references: Sequence[str]) -> list[str]:
    return [reference for reference in references if len(words(reference)) <= SHORT_ANSWER_WORDS]


def _best(found: Sequence[Scores], key: str) -> Cell:
    values = [scores[key] for scores in found if key in scores]
    return scored(round(max(values), VECTOR_DECIMALS)) if values else failed(_TOO_MANY_WORDS)


def references_of(case: Case) -> tuple[str, ...]:
    """Return the right answers that say anything; none if the question has none."""
    if case.unanswerable:
        return ()
    return tuple(text for text in (case.answer, *case.alternatives) if text and words(text))


def lacking(case: Case) -> str:
    """Return why a case has no reference."""
    if case.unanswerable:
        return "the corpus does not answer the question"
    return "the reference answer holds no word" if case.answer else "the case has no reference answer"
