"""Questions, passages and answers as tokens, in the form in which the service asks: its prompt, the model's template.

Flow: lines of `{"question", "passages": [{"title", "text"}], "answer"}` -> **here** -> `lora.py`.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from errors import LLMError
from eval.cases import BadCasesError, Text
from eval.questions.files import first_fault, text_lines
from query_engine.llms.base import has_system, without_system
from query_engine.llms.local import TEMPLATE_OPTIONS
from query_engine.prompting.builder import PromptBuilder, read_prompt
from query_engine.schema.passage import Passage
from query_engine.schema.source import Source
from settings import Settings

IGNORED = -100


class Shown(BaseModel):
    """A passage of the prompt."""

    title: str = ""
    text: Text

    def source(self) -> Source:
        """The passage as the prompt takes it: of no document."""
        about: dict[str, Any] = {"node_id": "", "chunk_id": "", "doc_id": "", "url": None, "level": "leaf", "pages": ()}
        place: dict[str, Any] = {"start": 0, "end": len(self.text), "score": 0.0, "scores": {}}
        return Source(Passage(title=self.title, text=self.text, **about, **place))


class Row(BaseModel):
    """One prompt and its answer, which cites passages by rank; None says that they do not answer."""

    model_config = ConfigDict(extra="forbid")

    question: Text
    passages: tuple[Shown, ...] = Field(min_length=1)
    answer: Text | None


def encoded(rows: Sequence[Row], tokenizer: Any, settings: Settings, max_tokens: int) -> Iterator[dict[str, list[int]]]:
    """Yield the tokens of each row that fits `max_tokens`; labels are `IGNORED` where the prompt stands."""

    def count(text: str) -> int:
        return len(tokenizer.encode(text, add_special_tokens=False))

    def templated(messages: Sequence[ChatMessage]) -> str:
        chat = [{"role": message.role.value, "content": message.content or ""} for message in messages]
        return str(tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True, **TEMPLATE_OPTIONS))

    hears_system = has_system(templated)
    declined = read_prompt("abstention")
    for row in rows:
        answer = f"{row.answer or declined}{tokenizer.eos_token}"
        builder = PromptBuilder(
            max_context_chars=settings.answer.max_context_chars,
            max_prompt_tokens=partial(int, max_tokens - count(answer)),
            count_tokens=count,
            control_tokens=tokenizer.all_special_tokens,
            style=settings.llm.prompt,
        )
        try:
            prompt = builder.build(row.question, [shown.source() for shown in row.passages])
        except LLMError:  # it does not fit
            continue
        messages = prompt.messages if hears_system else without_system(prompt.messages)
        before, after = (tokenizer.encode(text, add_special_tokens=False) for text in (templated(messages), answer))
        if len(before) + len(after) <= max_tokens:
            yield {"input_ids": before + after, "labels": [IGNORED] * len(before) + after}


def read_rows(path: Path) -> list[Row]:
    """Return the rows of a file of JSON lines.

    Raises:
        BadCasesError: it cannot be read, or a line is not a row: it is named.
    """
    rows = []
    for place, line in text_lines(path):
        try:
            rows.append(Row.model_validate_json(line))
        except ValidationError as error:
            remedy = 'A row is {"question", "passages": [{"title", "text"}], "answer"}.'
            raise BadCasesError(f"{place} is not a row ({first_fault(error)}).", remedy) from error
    return rows
