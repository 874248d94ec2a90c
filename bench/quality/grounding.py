"""Measure the check of generated sentences: how many planted ones it catches, and how many true ones it spares.

Flow: `planted_claims.py` -> a scripted language model that writes each sentence, citing its passage -> the generative
synthesizer -> **here** -> table and JSON. The same counts for a real model come from the answers of an engine that it
writes for.
"""

import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    ChatResponseGen,
    CompletionResponse,
    CompletionResponseGen,
    LLMMetadata,
)
from llama_index.core.llms import CustomLLM

from bench.quality.planted_claims import Planted
from errors import LLMError
from query_engine.prompting.builder import PromptBuilder
from query_engine.schema.citations import Checked, Citations
from query_engine.schema.passage import Passage
from query_engine.synthesis.draft import UNSUPPORTED
from query_engine.synthesis.generative import GenerativeSynthesizer

# Enough for every planted passage; the synthesizer is scripted and counts nothing.
_ROOM = 100_000


class ScriptedModel(CustomLLM):
    """Says what it was given to say."""

    says: str = ""

    @property
    def metadata(self) -> LLMMetadata:
        """What LlamaIndex wants to know."""
        return LLMMetadata(model_name="scripted", is_chat_model=True)

    def stream_chat(self, messages: Sequence[ChatMessage], **_: Any) -> ChatResponseGen:
        """Stream it word by word."""
        for word in self.says.split(" "):
            yield ChatResponse(message=messages[-1], delta=f"{word} ")

    def complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponse:
        """Return it as a whole."""
        return CompletionResponse(text=self.says, raw=(prompt, formatted))

    def stream_complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponseGen:
        """Return it in one piece."""
        yield self.complete(prompt, formatted)


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of a planted sentence: `shown`, `replaced` or `dropped`."""

    planted: Planted
    became: str

    @property
    def right(self) -> bool:
        """Supported ones are to be shown, others are not."""
        return (self.became == "shown") == self.planted.supported

    def to_dict(self) -> dict[str, Any]:
        """Return the row as JSON-ready values."""
        one = self.planted
        return {"kind": one.kind, "supported": one.supported, "became": self.became, "text": one.text}


def judge(planted: Sequence[Planted], embedder: BaseEmbedding) -> list[Fate]:
    """Have the generative synthesizer write each sentence, and see what it shows."""
    llm = ScriptedModel()
    prompts = PromptBuilder(max_context_chars=_ROOM, max_prompt_tokens=_ROOM, count_tokens=len)
    synthesizer = GenerativeSynthesizer("openai", "scripted", llm, prompts, embedder=embedder)
    fates = []
    for one in planted:
        llm.says = f"{one.text[:-1]} [{one.rank}]."
        fates.append(Fate(one, _became(write(synthesizer, "What is said?", one.passages))))
    return fates


def write(synthesizer: GenerativeSynthesizer, question: str, passages: Sequence[Passage]) -> Checked | None:
    """Return how the sentences of one answer fared; None where the model failed otherwise or declined."""
    citations = Citations()
    try:
        for _ in synthesizer.write(question, passages, citations, threading.Event()):
            pass
    except LLMError as error:
        if error.code != UNSUPPORTED:
            return None
    return citations.checked


def table(fates: dict[str, list[Fate]]) -> str:
    """Return a Markdown table by set and kind, and the sums of both sorts."""
    lines = ["| set | sentences | kind | judged rightly | of |", "|---|---|---|---:|---:|"]
    everything = [fate for rows in fates.values() for fate in rows]
    for name, rows in fates.items():
        for supported in (True, False):
            some = [fate for fate in rows if fate.planted.supported == supported]
            counts, right = (
                Counter(fate.planted.kind for fate in some),
                Counter(f.planted.kind for f in some if f.right),
            )
            sort = "supported" if supported else "unsupported"
            lines += [f"| {name} | {sort} | {kind} | {right[kind]} | {counts[kind]} |" for kind in counts]
    for supported, words in ((False, "unsupported, caught"), (True, "supported, shown")):
        some = [fate for fate in everything if fate.planted.supported == supported]
        lines.append(f"| **all** | {words} | **all** | **{sum(fate.right for fate in some)}** | **{len(some)}** |")
    return "\n".join(lines)


def _became(checked: Checked | None) -> str:
    if checked is None or checked.dropped:
        return "dropped"
    return "replaced" if checked.replaced else "shown"
