"""A watch that writes down what it is told."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from query_engine.runtime.watching import WATCH, ModelCall


@dataclass
class FakeWatch:
    """Attributes: `parts` in the order in which they began, nested ones as `outer/inner`; `calls` that ended."""

    questions: list[str] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    calls: list[ModelCall] = field(default_factory=list)
    open: list[str] = field(default_factory=list)

    def asked(self, question: str) -> None:
        self.questions.append(question)

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        self.open.append(name)
        self.parts.append("/".join(self.open))
        try:
            yield
        finally:
            self.open.pop()

    @contextmanager
    def model_call(self, call: ModelCall) -> Iterator[None]:
        try:
            yield
        finally:
            self.calls.append(call)


@contextmanager
def watched() -> Iterator[FakeWatch]:
    """Watch what happens in the `with` block, and in the threads that begin in it."""
    watch = FakeWatch()
    token = WATCH.set(watch)
    try:
        yield watch
    finally:
        WATCH.reset(token)
