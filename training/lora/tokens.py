"""Turn rows into tokens in the form that the service uses: our prompt, the model's chat template, the answer.

Flow: `rows.py` -> **here**, by `query_engine/prompting/builder.py` -> `fit.py`. Only the answer's tokens count in the
loss.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, MessageRole

from errors import LLMError
from query_engine.llms.base import has_system, without_system
from query_engine.llms.local import TEMPLATE_OPTIONS
from query_engine.prompting.builder import PROMPTS, PromptBuilder
from query_engine.schema.passage import Passage
from query_engine.schema.source import Source
from settings import Settings
from training.lora.rows import Row

IGNORED = -100


@dataclass(frozen=True, slots=True)
class Tokens:
    """A prompt and its answer; `labels` are `IGNORED` where the prompt stands."""

    input_ids: list[int]
    labels: list[int]


def encode(rows: Sequence[Row], tokenizer: Any, settings: Settings, max_tokens: int) -> list[Tokens]:
    """Return those rows whose prompt and answer take `max_tokens` at most, with all that the answer cites in it.

    Args:
        rows: questions, passages, answers.
        tokenizer: of the model, with a chat template.
        settings: the form of the prompt, as it will be served.
        max_tokens: longer passages are cut, as in serving.
    """

    def count(text: str) -> int:
        return len(tokenizer.encode(text, add_special_tokens=False))

    abstention = (PROMPTS / "abstention.txt").read_text(encoding="utf-8").strip()
    hears_system = has_system(partial(_templated, tokenizer))
    found = []
    for row in rows:
        answer = row.answer or abstention
        builder = PromptBuilder(
            max_context_chars=settings.answer.max_context_chars,
            max_prompt_tokens=partial(int, max_tokens - count(answer)),
            count_tokens=count,
            control_tokens=tokenizer.all_special_tokens,
            style=settings.llm.prompt,
        )
        try:
            prompt = builder.build(row.question, [Source(_passage(shown.title, shown.text)) for shown in row.passages])
        except LLMError:
            continue
        if max(row.cited(), default=0) > len(prompt.sources):
            continue
        messages = prompt.messages if hears_system else without_system(prompt.messages)
        text = _templated(tokenizer, messages)
        before = tokenizer.encode(text, add_special_tokens=False)
        after = tokenizer.encode(_ended(tokenizer, messages, text, answer), add_special_tokens=False)
        if len(before) + len(after) <= max_tokens:
            found.append(Tokens(before + after, [IGNORED] * len(before) + after))
    return found


def _ended(tokenizer: Any, messages: Sequence[ChatMessage], prompt: str, answer: str) -> str:
    """Return the answer with the tokens by which the template ends a message."""
    whole = _templated(tokenizer, [*messages, ChatMessage(role=MessageRole.ASSISTANT, content=answer)], ask=False)
    # Some templates write the last answer in another way than they open it.
    return whole[len(prompt) :].rstrip("\n") if whole.startswith(prompt) else answer + tokenizer.eos_token


def _templated(tokenizer: Any, messages: Sequence[ChatMessage], *, ask: bool = True) -> str:
    chat = [{"role": message.role.value, "content": message.content or ""} for message in messages]
    text: str = tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=ask, **TEMPLATE_OPTIONS)
    return text


def _passage(title: str, text: str) -> Passage:
    return Passage(
        node_id="",
        chunk_id="",
        doc_id="",
        title=title,
        url=None,
        level="leaf",
        start=0,
        end=len(text),
        pages=(),
        score=0.0,
        scores={},
        text=text,
    )
