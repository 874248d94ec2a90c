"""Score rows by what RAGAS computes without a language model.

Flow: `build.py` -> **here** -> `ragas_calls.py`, which imports ragas -> `stage.py`. The arithmetic is RAGAS's own,
for those who compare figures with other systems; the best of several right answers counts, and answers come without
their marks. Where RAGAS is not installed, none of this applies, which is reported once.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Protocol

from errors import ModelError, RagError
from eval.cases import Case
from eval.cells import Cell, Metric, failed, not_applicable, scored
from eval.metrics import spoken
from eval.rows import Row
from eval.scoring.offline.answer import BATCH_ROWS, VECTOR_DECIMALS, lacking
from eval.scoring.stage import Cells, Todo, failed_for

FAMILY = "ragas_offline"
OF_VECTORS = "ragas_semantic_similarity"
OF_CONTEXTS = (
    Metric(
        "ragas_context_recall",
        FAMILY,
        "higher",
        "RAGAS: share of the reference contexts to which a whole passage is like by letters, 0 to 1.",
    ),
    Metric(
        "ragas_context_precision",
        FAMILY,
        "higher",
        "RAGAS: average precision of the passages that are like a reference context by letters, 0 to 1.",
    ),
)
OF_TEXTS = (
    Metric(
        "ragas_string_similarity", FAMILY, "higher", "RAGAS: 1 less the edit distance over the longer text, 0 to 1."
    ),
    Metric("ragas_rouge_score", FAMILY, "higher", "RAGAS: ROUGE-L F1, 0 to 1; only Latin letters and digits count."),
    Metric("ragas_bleu_score", FAMILY, "higher", "RAGAS: BLEU of the answer's first sentence, 0 to 1."),
    Metric("ragas_exact_match", FAMILY, "higher", "RAGAS: 1 if the answer is the reference letter for letter, else 0."),
    Metric(OF_VECTORS, FAMILY, "higher", "RAGAS: cosine of the vectors of both texts, -1 to 1."),
)
METRICS = OF_CONTEXTS + OF_TEXTS
# RAGAS's ROUGE-L takes a second for two texts of 6,000 characters, its edit distance for two of 30,000.
MOST_TEXT_PAIRS, MOST_CONTEXT_PAIRS = 40_000_000, 1_000_000_000


class RagasError(RagError):
    """RAGAS cannot compute a metric of a row."""

    code = "ragas_failed"


class Computes(Protocol):
    """RAGAS's metrics by our names; `ragas_computed.RagasComputed` has them. May raise RagasError and ModelError."""

    def prepare(self, texts: list[str]) -> None:
        """Embed many texts at once."""

    async def of_texts(self, name: str, answer: str, reference: str) -> float:
        """Compare an answer with a reference."""

    async def of_contexts(self, name: str, passages: list[str], references: list[str]) -> float:
        """Compare passages with reference contexts."""


class RagasOfflineScorer:
    """Scores rows in batches, for whose texts vectors are made at once.

    Args:
        ragas: loads RAGAS; called when there is a row to score. It may raise ImportError.
        tell: called once if RAGAS is not installed.
    """

    families = (FAMILY,)

    def __init__(self, ragas: Callable[[], Computes], tell: Callable[[str], None]) -> None:
        self._ragas = ragas
        self._tell = tell

    def score(self, todo: Todo, repeat: int = 0) -> Iterator[tuple[str, str, Cells]]:  # noqa: ARG002
        """Yield the cells of each row, a batch at a time; see `stage.Scorer`."""
        try:
            ragas = self._ragas()
        except ImportError as error:
            self._tell(
                f"RAGAS's metrics are left out, it cannot be loaded ({error}). "
                "Install it: pip install -e '.[eval]' -c constraints.txt"
            )
            missing = not_applicable("RAGAS is not installed: pip install -e '.[eval]' -c constraints.txt")
            yield from ((row.id, FAMILY, {metric.name: missing for metric in METRICS}) for _, row in todo)
            return
        for begin in range(0, len(todo), BATCH_ROWS):
            yield from asyncio.run(_score_batch(ragas, todo[begin : begin + BATCH_ROWS]))


async def _score_batch(ragas: Computes, batch: Todo) -> list[tuple[str, str, Cells]]:
    texts = [text for case, row in batch if row.outcome == "answered" for text in (_said(row), *_answers(case)) if text]
    with suppress(ModelError):  # told as the failure of the cell that needs it
        ragas.prepare(texts)
    return [(row.id, FAMILY, await _cells(ragas, case, row)) for case, row in batch]


async def _cells(ragas: Computes, case: Case, row: Row) -> Cells:
    cells: Cells = {}
    for metric in OF_CONTEXTS:
        cells[metric.name] = _untold_contexts(case, row) or await _context_cell(ragas, metric.name, case, row)
    for metric in OF_TEXTS:
        cells[metric.name] = _untold_answer(case, row) or await _text_cell(ragas, metric.name, case, row)
    return cells


async def _context_cell(ragas: Computes, name: str, case: Case, row: Row) -> Cell:
    passages, references = [passage.text for passage in row.passages], list(case.references)
    if not passages:
        return scored(0)  # RAGAS has no figure for that
    pairs = sum(map(len, passages)) * sum(map(len, references))
    return await _cell(name, partial(ragas.of_contexts, name, passages, references), pairs, MOST_CONTEXT_PAIRS)


async def _text_cell(ragas: Computes, name: str, case: Case, row: Row) -> Cell:
    if row.outcome == "declined":
        return scored(0)
    answer = _said(row)
    best = failed("there is no reference")
    for reference in _answers(case):
        pairs = len(answer) * len(reference)
        cell = await _cell(name, partial(ragas.of_texts, name, answer, reference), pairs, MOST_TEXT_PAIRS)
        if best.score is None or (cell.score is not None and cell.score > best.score):
            best = cell
    return best


async def _cell(name: str, compute: Callable[[], Awaitable[float]], pairs: int, most_pairs: int) -> Cell:
    if pairs > most_pairs:
        return failed(f"too long: {pairs:,} pairs of characters to compare, of at most {most_pairs:,}")
    try:
        value = await compute()
        return scored(round(value, VECTOR_DECIMALS) if name == OF_VECTORS else value)
    except RagError as error:
        return failed(error.fact)


def _untold_contexts(case: Case, row: Row) -> Cell | None:
    """The cell of a row that has no contexts to compare; None if it has."""
    if case.unanswerable:
        return not_applicable(lacking(case))
    if not case.references:
        return not_applicable("the case has no reference contexts")
    if row.outcome == "failed":
        return failed(failed_for(row))
    if not row.passages and not row.fingerprint:  # a service with a fingerprint also sends passages: none
        return not_applicable("the service tells no passages")
    return None


def _untold_answer(case: Case, row: Row) -> Cell | None:
    """The cell of a row that has no answer to compare; None if it has."""
    if case.unanswerable or not _answers(case):
        return not_applicable(lacking(case))
    return failed(failed_for(row)) if row.outcome == "failed" else None


def _answers(case: Case) -> Sequence[str]:
    return [text for text in (case.answer, *case.alternatives) if text]


def _said(row: Row) -> str:
    return spoken(row.answer or "")
