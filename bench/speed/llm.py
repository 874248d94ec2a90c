"""Measure how fast the configured language model writes: `python -m bench model`.

Flow: a loaded model + texts of the sample corpus -> **here** -> one table. Retrieval, prompts and the check of what is
written are left out; `load.py` measures whole answers.
"""

import argparse
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass

from llama_index.core.base.llms.types import ChatMessage, MessageRole

from bench.arguments import add_count
from bench.datasets import SAMPLE
from bench.figures import keep, made_on
from errors import LLMError
from eval.tables import aligned, figure
from query_engine.llms.base import LoadedModel
from query_engine.llms.build import build_model
from settings import Settings

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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `python -m bench model`."""
    add_count(parser, "--tokens", "of a prompt", 750)
    add_count(parser, "--repeats", "answers", 5)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Give the model prompts of text from the sample corpus, and time what it writes."""
    model = build_model(settings)
    texts = [path.read_text(encoding="utf-8") for path in sorted((SAMPLE / "corpus").rglob("*.md"))]
    written = measure_model(model, texts, arguments.tokens, arguments.repeats)
    print(f"{table(model.label, written)}\n\n{made_on()}")
    keep("model", {model.label: [asdict(one) for one in written]}, settings)
    return 0


def measure_model(model: LoadedModel, texts: Sequence[str], prompt_tokens: int, repeats: int) -> list[Written]:
    """Ask the model `repeats` times after one call that is not timed, each time about other text.

    Raises:
        LLMError: the model failed, or wrote nothing.
    """
    prompts = _prompts(model, texts, prompt_tokens)
    _write(model, next(prompts))
    return [_write(model, next(prompts)) for _ in range(repeats)]


def table(label: str, written: Sequence[Written]) -> str:
    """Return the medians."""
    rates = [one.tokens_per_s for one in written if one.tokens_per_s is not None]
    median = statistics.median
    cells = (
        *(label, str(len(written)), figure(median(one.prompt_tokens for one in written), 0)),
        *(
            figure(median(one.answer_tokens for one in written), 0),
            figure(median(one.first_token_s for one in written), 2),
        ),
        figure(median(rates) if rates else None, 0),
    )
    return aligned(
        ["model", "answers", "tokens of a prompt", "of an answer", "first token, s", "tokens/s after"], [cells]
    )


def _prompts(model: LoadedModel, texts: Sequence[str], tokens: int) -> Iterator[str]:
    """Yield prompts of about this many tokens that begin differently: no model can reuse what it read before."""
    words = " ".join(texts).split()
    per_token = len(words) / max(1, model.count_tokens(" ".join(words)))
    count = max(1, int((tokens - model.count_tokens(TASK) - 4) * per_token))
    step = max(1, len(words) // 97)
    for place in range(len(words) * step):
        begin = place * step % len(words)
        yield f"{place}. {TASK}\n\n{' '.join((words[begin:] + words[:begin])[:count])}"


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
