"""Compare an answer with its reference: by words, by runs of words, in meaning, token by token.

Flow: `build.py` -> **here** -> `stage.py`. The arithmetic is `eval/metrics.py`'s and `eval/similarity.py`'s, the same
for the measurements of `bench/`. Where a case knows several right answers, the one that fits best counts. A declined
question has an answer that was not given: it scores 0.

BERTScore is the formula of Zhang et al. 2020 and the package `bert-score`, without idf weights and rescaling: each
token is matched with the nearest one of the other text, greedily; special tokens may be matched and do not count. The
encoder is this project's own, so figures differ from those over RoBERTa, and may be compared only with figures of the
same encoder. It reads as much of a text as its window holds.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from errors import ModelError
from eval.cells import Cell, failed, not_applicable, scored
from eval.metrics import (
    SHORT_ANSWER_WORDS,
    Scores,
    contains,
    crag_score,
    exact_match,
    f1,
    spoken,
    token_f1,
    word_recall,
    words,
)
from eval.scoring.catalogue import names_of
from eval.scoring.stage import Cells, Line, Todo, lacking, references_of

if TYPE_CHECKING:  # numpy is loaded by what embeds
    import numpy as np
    import numpy.typing as npt

    Vectors = npt.NDArray[np.float32]

BATCH_ROWS = 64
# A vector's last digits depend on the texts that were embedded with it; a run that went on must not differ by them.
VECTOR_DECIMALS = 4
_OF_LIKENESS = ("rouge_l", "similarity")
_OF_SHORT = ("contains", "crag_score")
_LONG = f"the reference is longer than {SHORT_ANSWER_WORDS} words"
_BERT_SCORE = names_of("bert_score")

Compare = Callable[[Sequence[tuple[str, str]]], Sequence[Scores]]
"""Returns `similarity` and `rouge_l` of each (answer, reference)."""
EncodeTokens = Callable[[Sequence[str]], "Sequence[Vectors]"]
"""Returns unit vectors of each text's tokens, shape (tokens, dimension): first and last are special tokens."""


@dataclass(frozen=True, slots=True)
class AnswerScorer:
    """A scorer of answers in batches, since embedding many texts at once is several times as fast.

    Attributes:
        family: of the cells.
        cells: (case, row) pairs, each answered and with a reference -> the cells of each row, by its id;
            a ModelError fails them all.
    """

    family: str
    cells: Callable[[Todo], Mapping[str, Cells]]

    def score(self, todo: Todo, repeat: int = 0) -> Iterator[Line]:  # noqa: ARG002
        """Yield the cells of each row, a batch at a time; see `stage.Scorer`. An answer not given scores 0.

        Metrics for short references skip long ones: no answer repeats a whole sentence word for word, so
        such a reference would make every answer wrong.
        """
        names = names_of(self.family)
        for begin in range(0, len(todo), BATCH_ROWS):
            batch = todo[begin : begin + BATCH_ROWS]
            lacks = {row.id: lacking(case, row, "words", declined=0.0) for case, row in batch}
            answers = [(case, row) for case, row in batch if lacks[row.id] is None]
            try:
                said = self.cells(answers) if answers else {}
            except ModelError as error:
                said = {row.id: dict.fromkeys(names, failed(error.fact)) for _, row in answers}
            for case, row in batch:
                lack, references = lacks[row.id], references_of(case)
                cells = said[row.id] if lack is None else dict.fromkeys(names, lack)
                if references and not _short(references):
                    cells = cells | {name: not_applicable(_LONG) for name in _OF_SHORT if name in names}
                yield row.id, cells


def compared(pairs: Todo, compare: Compare) -> dict[str, Cells]:
    """Return for each row the cells of the family `answer`; a ModelError of `compare` fails those that need vectors."""
    said = [(row.id, spoken(row.answer or ""), references_of(case)) for case, row in pairs]
    cells = {id_: _of_words(text, references) for id_, text, references in said}
    try:
        found = iter(compare([(text, reference) for _, text, references in said for reference in references]))
    except ModelError as error:
        return {id_: of_words | dict.fromkeys(_OF_LIKENESS, failed(error.fact)) for id_, of_words in cells.items()}
    for id_, _, references in said:
        several = [next(found) for _ in references]
        cells[id_] |= {name: _best(several, name) for name in _OF_LIKENESS}
    return cells


def _of_words(text: str, references: Sequence[str]) -> Cells:
    of_short = dict[str, float]()
    if short := _short(references):
        of_short["contains"] = max(contains(text, reference) for reference in short)
        of_short["crag_score"] = crag_score(text, references)
    of_all = {"word_recall": word_recall, "exact_match": exact_match, "token_f1": token_f1}
    best = {name: max(metric(text, reference) for reference in references) for name, metric in of_all.items()}
    return {name: scored(value) for name, value in (of_short | best).items()}


def _short(references: Sequence[str]) -> list[str]:
    return [reference for reference in references if len(words(reference)) <= SHORT_ANSWER_WORDS]


def _best(found: Sequence[Scores], name: str) -> Cell:
    return scored(round(max(scores[name] for scores in found), VECTOR_DECIMALS))


def bert_scored(pairs: Todo, encode: EncodeTokens) -> dict[str, Cells]:
    """Return for each row the cells of the family `bert_score`; `encode` may raise ModelError."""
    texts = {row.id: (spoken(row.answer or ""), *references_of(case)) for case, row in pairs}
    distinct = list(dict.fromkeys(text for several in texts.values() for text in several))
    vectors = dict(zip(distinct, encode(distinct), strict=True))
    cells: dict[str, Cells] = {}
    for id_, (answer, *references) in texts.items():
        found = [bert_score(vectors[answer], vectors[reference]) for reference in references]
        cells[id_] = {name: _best(found, name) for name in _BERT_SCORE}
    return cells


def bert_score(said: "Vectors", wanted: "Vectors") -> Scores:
    """Return the metrics of the vectors of an answer and a reference; all 0 where one of them has no token."""
    if min(len(said), len(wanted)) <= 2:
        return dict.fromkeys(_BERT_SCORE, 0.0)
    cosines = said @ wanted.T
    precision, recall = float(cosines.max(axis=1)[1:-1].mean()), float(cosines.max(axis=0)[1:-1].mean())
    return dict(zip(_BERT_SCORE, (f1(precision, recall), precision, recall), strict=True))
