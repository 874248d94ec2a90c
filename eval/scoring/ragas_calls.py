"""Let RAGAS compute its metrics, with our judge and our embedder.

Flow: `ragas_metrics.py` -> **here** -> RAGAS's metrics -> back **here** for each question -> `judge_client.py`.

The only file that knows RAGAS. Its own clients, cache (pickles), retries and executor stay unused: they turn failures
into NaN and average the rest. Two of its metrics exist only in its older modules, which say nothing when they are
imported directly and warn when they are taken from `ragas.metrics`.

RAGAS computes a number from any reply that fits its schema: a verdict of 7 counts sevenfold, a reply without statements
counts as a perfect match. So such replies are refused here, and the cell says why.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import Any, TypeVar

from pydantic import BaseModel
from ragas.dataset_schema import SingleTurnSample
from ragas.embeddings.base import BaseRagasEmbedding
from ragas.llms.base import InstructorBaseRagasLLM
from ragas.metrics._context_precision import NonLLMContextPrecisionWithReference
from ragas.metrics._context_recall import NonLLMContextRecall
from ragas.metrics._string import NonLLMStringSimilarity as OldStringSimilarity
from ragas.metrics.collections import (
    AnswerCorrectness,
    AnswerRelevancy,
    BleuScore,
    ContextPrecision,
    ContextRecall,
    ExactMatch,
    FactualCorrectness,
    Faithfulness,
    NonLLMStringSimilarity,
    RougeScore,
    SemanticSimilarity,
)

from eval.scoring.judge_client import Judge, JudgeUnusableError, model_in
from eval.scoring.judged.scorer import Ask, Material
from eval.similarity import Vectors

Judgement = TypeVar("Judgement", bound=BaseModel)
Embed = Callable[[str], list[float]]
Compute = Callable[..., Awaitable[float]]
"""(metric's name, texts named as RAGAS names them) -> the score."""


def without_judge(vectors: Vectors) -> Compute:
    """Return what computes the metrics without a judge; ImportError if a library that one of them needs is missing."""
    metrics: dict[str, Any] = {
        "ragas_context_recall": NonLLMContextRecall(_distance_measure=_Quiet()),
        "ragas_context_precision": NonLLMContextPrecisionWithReference(distance_measure=_Quiet()),
        "ragas_string_similarity": NonLLMStringSimilarity(),
        "ragas_rouge_score": RougeScore(),
        "ragas_bleu_score": BleuScore(),
        "ragas_exact_match": ExactMatch(),
        "ragas_semantic_similarity": SemanticSimilarity(
            embeddings=_Embeddings(lambda text: list(map(float, vectors.of([text])[text])))
        ),
    }

    async def compute(name: str, **texts: str | list[str]) -> float:
        metric = metrics[name]
        if isinstance(metric, NonLLMContextRecall | NonLLMContextPrecisionWithReference):
            return float(await metric._single_turn_ascore(SingleTurnSample(**texts), None))
        return float((await metric.ascore(**texts)).value)

    return compute


def by_judge(judge: Judge, embed: Embed, repeat: int) -> Ask:
    """Return what computes the judged metrics; many may be under way, and a score may be NaN."""
    embeddings = _Embeddings(embed)

    async def ask(name: str, material: Material) -> float:
        make, names = _JUDGED[name]
        texts = {
            "user_input": material.question,
            "response": material.answer,
            "reference": material.reference,
            "retrieved_contexts": list(material.passages),
        }
        metric = make(_LLM(judge, repeat), embeddings)
        try:
            return float((await metric.ascore(**{name: texts[name] for name in names})).value)
        except (ValueError, TypeError, LookupError, ArithmeticError) as error:
            raise JudgeUnusableError(f"RAGAS cannot compute it: {error}.", "Take another model.") from error

    return ask


class _LLM(InstructorBaseRagasLLM):
    """Our judge, as RAGAS wants to call it. One for each cell, as it counts what is asked more than once."""

    def __init__(self, judge: Judge, repeat: int) -> None:
        self._judge = judge
        self._repeat = repeat
        self._asked: Counter[str] = Counter()

    def generate(self, prompt: str, response_model: type[Judgement]) -> Judgement:
        return asyncio.run(self.agenerate(prompt, response_model))

    async def agenerate(self, prompt: str, response_model: type[Judgement]) -> Judgement:
        nth = f"{self._repeat}.{self._asked[prompt]}"
        self._asked[prompt] += 1
        return await self._judge.ask(prompt, response_model.model_json_schema(), nth, partial(_read, response_model))


class _Embeddings(BaseRagasEmbedding):
    """The project's embedder, as RAGAS wants to call it."""

    def __init__(self, embed: Embed) -> None:
        super().__init__()
        self._embed = embed

    def embed_text(self, text: str, **_: Any) -> list[float]:
        return self._embed(text)

    async def aembed_text(self, text: str, **_: Any) -> list[float]:
        return await asyncio.to_thread(self._embed, text)


class _Quiet(OldStringSimilarity):
    """RAGAS's own, without the report of every call, for which it would make a file in the home folder."""

    async def single_turn_ascore(self, sample: SingleTurnSample, *_: Any) -> float:
        return await self._single_turn_ascore(sample, None)


_JUDGED: dict[str, tuple[Callable[[_LLM, _Embeddings], Any], tuple[str, ...]]] = {
    "faithfulness": (lambda llm, _: Faithfulness(llm), ("user_input", "response", "retrieved_contexts")),
    "answer_relevancy": (AnswerRelevancy, ("user_input", "response")),
    "context_precision": (lambda llm, _: ContextPrecision(llm), ("user_input", "reference", "retrieved_contexts")),
    "context_recall": (lambda llm, _: ContextRecall(llm), ("user_input", "reference", "retrieved_contexts")),
    "answer_correctness": (AnswerCorrectness, ("user_input", "response", "reference")),
    "factual_correctness": (lambda llm, _: FactualCorrectness(llm), ("response", "reference")),
}


def _read(kind: type[Judgement], text: str) -> Judgement:
    """Return the judgement in a reply; refuse one of another kind, whose verdict is neither 0 nor 1, or without any."""
    judgement = model_in(kind, text)
    values = judgement.model_dump()
    if strange := [verdict for verdict in _whole_numbers(values) if verdict not in {0, 1}]:
        raise JudgeUnusableError.of(f"The judge's verdict {strange[0]} is neither 0 nor 1", text)
    lists = [value for value in values.values() if isinstance(value, list)]
    if (lists and not any(lists)) or not str(values.get("question", "?")).strip():
        raise JudgeUnusableError.of("The judge's reply judges nothing", text)
    return judgement


def _whole_numbers(value: Any) -> Iterator[int]:
    if isinstance(value, int):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _whole_numbers(inner)
