"""Let RAGAS compute its metrics with our judge and our embedder.

Flow: `ragas_metrics.py` -> **here** -> RAGAS's metrics -> back **here** for every question to the judge ->
`scoring/judge_client/client.py`.

The only file that knows RAGAS's judged metrics. Its own clients, cache (pickles), retries and executor stay unused:
they turn failures into NaN and average the rest.
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from llama_index.core.base.embeddings.base import BaseEmbedding
from pydantic import BaseModel
from ragas.embeddings.base import BaseRagasEmbedding
from ragas.llms.base import InstructorBaseRagasLLM
from ragas.metrics.collections import (
    AnswerCorrectness,
    AnswerRelevancy,
    ContextPrecision,
    ContextRecall,
    FactualCorrectness,
    Faithfulness,
)

from eval.scoring.judge_client.client import Judge
from eval.scoring.judge_client.replies import read_judgement
from eval.scoring.judge_client.server import JudgeUnusableError
from eval.scoring.judged.scorer import Material

Judgement = TypeVar("Judgement", bound=BaseModel)


class RagasCalls:
    """Computes one metric of one row at a time; many may be under way.

    Args:
        judge: decides.
        embedder: tells how alike two texts are.
        repeat: which scoring this is.
    """

    def __init__(self, judge: Judge, embedder: BaseEmbedding, repeat: int) -> None:
        self._judge = judge
        self._embeddings = _Embeddings(embedder)
        self._repeat = repeat

    async def score(self, name: str, material: Material) -> float:
        """Return the score; it may be NaN.

        Raises:
            JudgeError: the judge gave no judgement, or one that RAGAS cannot compute with.
        """
        make, names = _METRICS[name]
        texts = {
            "user_input": material.question,
            "response": material.answer,
            "reference": material.reference,
            "retrieved_contexts": list(material.passages),
        }
        metric = make(_LLM(self._judge, self._repeat), self._embeddings)
        try:
            result = await metric.ascore(**{name: texts[name] for name in names})
            return float(result.value)
        except (ValueError, TypeError, LookupError, ArithmeticError) as error:
            raise JudgeUnusableError(f"RAGAS cannot compute it: {error}.", "Take another model.") from error


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
        return await self._judge.ask(
            prompt, response_model.model_json_schema(), nth, partial(read_judgement, response_model)
        )


class _Embeddings(BaseRagasEmbedding):
    """The project's embedder, as RAGAS wants to call it."""

    def __init__(self, embedder: BaseEmbedding) -> None:
        super().__init__()
        self._embedder = embedder

    def embed_text(self, text: str, **_: Any) -> list[float]:
        return self._embedder.get_text_embedding(text)

    async def aembed_text(self, text: str, **_: Any) -> list[float]:
        return await asyncio.to_thread(self._embedder.get_text_embedding, text)


_METRICS: dict[str, tuple[Callable[[_LLM, _Embeddings], Any], tuple[str, ...]]] = {
    "faithfulness": (lambda llm, _: Faithfulness(llm), ("user_input", "response", "retrieved_contexts")),
    "answer_relevancy": (AnswerRelevancy, ("user_input", "response")),
    "context_precision": (lambda llm, _: ContextPrecision(llm), ("user_input", "reference", "retrieved_contexts")),
    "context_recall": (lambda llm, _: ContextRecall(llm), ("user_input", "reference", "retrieved_contexts")),
    "answer_correctness": (AnswerCorrectness, ("user_input", "response", "reference")),
    "factual_correctness": (lambda llm, _: FactualCorrectness(llm), ("response", "reference")),
}
