"""Score rows by RAGAS's metrics: those that need no language model, and those that a judge decides.

Flow: `build.py` -> **here** -> `ragas_calls.py`, which imports ragas -> `stage.py`. The arithmetic is RAGAS's own, for
those who compare figures with other systems. The library takes seconds to load, so that is done when there is a row to
score. Where it is not installed, none of what is computed applies, which is reported once; a judge's run ends.
"""

import asyncio
import math
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

from errors import ModelError, RagError
from eval.cases import Case
from eval.cells import Cell, failed, not_applicable, scored
from eval.metrics import spoken
from eval.rows import Row
from eval.scoring.catalogue import names_of
from eval.scoring.judge_client import Judge
from eval.scoring.judged.scorer import Ask, Judged, JudgedScorer
from eval.scoring.offline.answer import BATCH_ROWS, VECTOR_DECIMALS
from eval.scoring.stage import Line, Todo, lacking

if TYPE_CHECKING:
    from llama_index.core.base.embeddings.base import BaseEmbedding

    from eval.scoring.ragas_calls import Compute
    from eval.similarity import Vectors

OF_VECTORS = "ragas_semantic_similarity"
COMPUTED = names_of("ragas_offline")
OF_CONTEXTS = ("ragas_context_recall", "ragas_context_precision")
OF_TEXTS = tuple(name for name in COMPUTED if name not in OF_CONTEXTS)
# RAGAS's ROUGE-L takes a second for two texts of 6,000 characters, its edit distance for two of 30,000.
MOST_TEXT_PAIRS, MOST_CONTEXT_PAIRS = 40_000_000, 1_000_000_000
JUDGED = (
    Judged("faithfulness", ("answer", "passages"), questions=2),
    Judged("answer_relevancy", ("answer",), questions=3, low=-1.0),
    Judged("context_precision", ("reference", "passages"), questions=lambda _, row: len(row.passages)),
    Judged("context_recall", ("reference", "passages"), questions=1),
    Judged("answer_correctness", ("answer", "reference"), questions=3, low=-0.25),
    Judged("factual_correctness", ("answer", "reference"), questions=4),
)
INSTALL = "pip install -e '.[eval]' -c constraints.txt"
_REMEDY = f"Install it: {INSTALL}; or name other metrics by --family."
_BROKEN = (ValueError, TypeError, LookupError, ArithmeticError, AssertionError, ImportError)


def load_computed(vectors: "Vectors") -> "Compute":
    """Return what computes without a judge; may raise ImportError."""
    _forbid_reports()
    from eval.scoring.ragas_calls import without_judge  # noqa: PLC0415  # loads langchain and pandas

    return without_judge(vectors)


def _forbid_reports() -> None:
    """Keep RAGAS from reporting its use to its makers: it reads the environment, and reads it once."""
    os.environ["RAGAS_DO_NOT_TRACK"] = "true"


def ragas_scorer(judge: Judge, embedder: "Callable[[], BaseEmbedding]") -> JudgedScorer:
    """Return the scorer of what a judge decides; `embedder` loads the project's own.

    Raises:
        RagError: RAGAS is not installed.
    """
    if find_spec("ragas") is None:
        raise RagError("RAGAS is not installed.", _REMEDY, "ragas_missing")

    def asker(repeat: int) -> AbstractAsyncContextManager[Ask]:
        _forbid_reports()
        try:
            from eval.scoring.ragas_calls import by_judge  # noqa: PLC0415  # loads langchain and pandas
        except ImportError as error:
            raise RagError(f"RAGAS cannot be loaded: {error}.", _REMEDY, "ragas_missing") from error
        return nullcontext(by_judge(judge, embedder().get_text_embedding, repeat))

    return JudgedScorer("ragas", JUDGED, judge, asker)


@dataclass(frozen=True, slots=True)
class RagasOfflineScorer:
    """Scores rows in batches, for whose texts vectors are made at once.

    The best of several right answers counts, and answers come without their marks.

    Attributes:
        load: returns what computes; called when there is a row to score. It may raise ImportError.
        embed: makes vectors of many texts at once, which is several times as fast; it may raise ModelError.
        tell: called once if RAGAS is not installed.
    """

    load: "Callable[[], Compute]"
    embed: Callable[[list[str]], object]
    tell: Callable[[str], object]
    family: str = "ragas_offline"

    def score(self, todo: Todo, repeat: int = 0) -> Iterator[Line]:  # noqa: ARG002
        """Yield the cells of each row, a batch at a time; see `stage.Scorer`."""
        try:
            compute = self.load()
        except ImportError as error:
            self.tell(f"RAGAS's metrics are left out, it cannot be loaded ({error}). Install it: {INSTALL}")
            missing = dict.fromkeys(COMPUTED, not_applicable(f"RAGAS is not installed: {INSTALL}"))
            yield from ((row.id, missing) for _, row in todo)
            return
        for begin in range(0, len(todo), BATCH_ROWS):
            batch = todo[begin : begin + BATCH_ROWS]
            answers = [(case, row) for case, row in batch if row.outcome == "answered"]
            with suppress(ModelError):  # told as the failure of the cell that needs it
                self.embed([text for case, row in answers for text in (_said(row), *_references(case)) if text])
            yield from asyncio.run(_score_batch(compute, batch))


async def _score_batch(compute: "Compute", batch: Todo) -> list[Line]:
    return [
        (
            row.id,
            {name: await _context_cell(compute, name, case, row) for name in OF_CONTEXTS}
            | {name: await _text_cell(compute, name, case, row) for name in OF_TEXTS},
        )
        for case, row in batch
    ]


async def _context_cell(compute: "Compute", name: str, case: Case, row: Row) -> Cell:
    if lack := lacking(case, row, "contexts", "passages"):
        return lack
    if not row.passages:
        return scored(0)  # RAGAS has no figure for that
    passages = [passage.text for passage in row.passages]
    texts = {"retrieved_contexts": passages, "reference_contexts": list(case.references)}
    return await _cell(compute, name, MOST_CONTEXT_PAIRS, **texts)


async def _text_cell(compute: "Compute", name: str, case: Case, row: Row) -> Cell:
    if lack := lacking(case, row, "references", declined=0.0):
        return lack
    best = failed("there is no reference")
    for reference in _references(case):
        cell = await _cell(compute, name, MOST_TEXT_PAIRS, response=_said(row), reference=reference)
        if best.score is None or (cell.score is not None and cell.score > best.score):
            best = cell
    return best


async def _cell(compute: "Compute", name: str, most_pairs: int, **texts: str | list[str]) -> Cell:
    pairs = math.prod(len("".join(text)) for text in texts.values())
    if pairs > most_pairs:
        return failed(f"too long: {pairs:,} pairs of characters to compare, of at most {most_pairs:,}")
    try:
        value = await compute(name, **texts)
    except RagError as error:
        return failed(error.fact)
    except _BROKEN as error:
        return failed(f"RAGAS cannot compute it: {type(error).__name__}: {error}.")
    return scored(round(value, VECTOR_DECIMALS) if name == OF_VECTORS else value)


def _references(case: Case) -> list[str]:
    return [text for text in (case.answer, *case.alternatives) if text]


def _said(row: Row) -> str:
    return spoken(row.answer or "")
