"""Tell whoever watches a question what is done for it: its stages, and what the language model is asked.

Flow: `stages.py`, `answerability/classifier.py` and `llms/base.py` tell **this** -> the `Watch` of the request, which a
context variable carries into every thread that works for it. Without one nothing happens. What becomes of it (metrics,
traces, log lines) is the watcher's business.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol


@dataclass(slots=True)
class ModelCall:
    """One call of a language model.

    Attributes:
        provider: as `RAG_LLM__PROVIDER` names it.
        model: its name.
        messages: role and text of each, as they were given.
        prompt: what the model's own template makes of them; empty where only its server has that.
        reply: as far as it came, thoughts included.
        input_tokens, output_tokens: as the model's server counted them; None if it did not.
        count: length of a text in tokens, by the model's own tokenizer; None where only its server has that.
    """

    provider: str
    model: str
    messages: Sequence[tuple[str, str]] = ()
    prompt: str = ""
    reply: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None
    count: Callable[[str], int] | None = None


class Watch(Protocol):
    """Watches one request; called from any of its threads."""

    def asked(self, question: str) -> None:
        """Learn the question."""
        ...

    def part(self, name: str) -> AbstractContextManager[None]:
        """Watch a stage as long as the `with` block lasts."""
        ...

    def model_call(self, call: ModelCall) -> AbstractContextManager[None]:
        """Watch a call as long as the `with` block lasts; `call` is filled in until its end."""
        ...


WATCH: ContextVar[Watch | None] = ContextVar("watch", default=None)


def asked(question: str) -> None:
    """Tell what is asked."""
    if (watch := WATCH.get()) is not None:
        watch.asked(question)


def part(name: str) -> AbstractContextManager[None]:
    """Have the `with` block watched as a stage of this name."""
    watch = WATCH.get()
    return nullcontext() if watch is None else watch.part(name)


def model_call(call: ModelCall) -> AbstractContextManager[None]:
    """Have the `with` block watched as a call of a language model."""
    watch = WATCH.get()
    return nullcontext() if watch is None else watch.model_call(call)
