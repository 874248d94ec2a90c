"""Measure how fast the configured language model writes: time to its first token, tokens a second after it.

Flow: a loaded model + texts -> **here** -> one table. Retrieval, prompts and the check of what is written are left out;
`load.py` measures whole answers.
"""

import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, MessageRole

from errors import LLMError
from query_engine.llms.base import LoadedModel

TASK = "Write a long and detailed essay about everything that these notes tell."


@dataclass(frozen=True, slots=True)
class Written:
    """One answer.

    Attributes:
        prompt_tokens, answer_tokens: by the model's own tokenizer, without what its chat template adds.
        first_token_s: from the call to the first piece of text.
        tokens_per_s: of the rest; None after a single token.
    """

    prompt_tokens: int
    answer_tokens: int
    first_token_s: float
    tokens_per_s: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready values."""
        return asdict(self)


def measure_model(model: LoadedModel, texts: Sequence[str], prompt_tokens: int, repeats: int) -> list[Written]:
    """Ask the model `repeats` times after one call that is not timed, each time about other text.

    Raises:
        LLMError: the model failed, or wrote nothing.
    """
    prompts = _prompts(model, texts, prompt_tokens)
    _write(model, next(prompts))
    return [_write(model, next(prompts)) for _ in range(repeats)]


def table(model: LoadedModel, written: Sequence[Written]) -> str:
    """Return the medians as a Markdown table."""
    rates = [one.tokens_per_s for one in written if one.tokens_per_s is not None]
    rate = f"{statistics.median(rates):.0f}" if rates else "–"
    return (
        "| model | answers | tokens of a prompt | of an answer | first token, s | tokens/s after it |\n"
        "|---|---|---|---|---|---|\n"
        f"| {model.label} | {len(written)} | {statistics.median(one.prompt_tokens for one in written):.0f} | "
        f"{statistics.median(one.answer_tokens for one in written):.0f} | "
        f"{statistics.median(one.first_token_s for one in written):.2f} | {rate} |"
    )


def _prompts(model: LoadedModel, texts: Sequence[str], tokens: int) -> Iterator[str]:
    """Yield prompts of at most so many tokens that begin differently: no model can reuse what it read before."""
    words = " ".join(texts).split()
    step = max(1, len(words) // 97)
    number = 0
    while True:
        begin = number * step % len(words)
        turned = words[begin:] + words[:begin]
        fewest, most = 1, len(turned)
        while fewest < most:
            middle = (fewest + most + 1) // 2
            fits = model.count_tokens(_prompt(number, turned[:middle])) <= tokens
            fewest, most = (middle, most) if fits else (fewest, middle - 1)
        yield _prompt(number, turned[:fewest])
        number += 1


def _prompt(number: int, words: Sequence[str]) -> str:
    return f"{number}. {TASK}\n\n{' '.join(words)}"


def _write(model: LoadedModel, prompt: str) -> Written:
    text, first_s, started = "", 0.0, time.perf_counter()
    with closing(model.llm.stream_chat([ChatMessage(role=MessageRole.USER, content=prompt)])) as stream:
        for chunk in stream:
            if chunk.delta and not text:
                first_s = time.perf_counter() - started
            text += chunk.delta or ""
    total_s = time.perf_counter() - started
    if not text:
        raise LLMError("The language model wrote nothing.", "Try another model.", code="llm_empty")
    answer_tokens = model.count_tokens(text)
    rate = (answer_tokens - 1) / (total_s - first_s) if answer_tokens > 1 else None
    return Written(model.count_tokens(prompt), answer_tokens, first_s, rate)
