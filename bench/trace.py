"""Count what one question enters of the product: `python -m bench trace`.

Flow: two documents of the sample -> the service's application in this process -> one `POST /query`, profiled **here**.

A function counts once, however often it is called; comprehensions and generator expressions do not count, nor does what
an import runs. Another question is asked before, so that what is loaded or made once does not count either. The names
behind the figures go to the JSON file.
"""

import argparse
import asyncio
import inspect
import sys
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType

import httpx

from api.serve import application
from bench.build import open_engines, with_index
from bench.datasets import SAMPLE, DataSet
from bench.figures import keep
from eval.tables import aligned
from settings import HOME, Settings

# A corpus of its own: the figures must not change with the sample's other documents.
DOCUMENTS = DataSet("trace", SAMPLE / "corpus" / "solar", SAMPLE / "questions.jsonl")
WARM_UP, QUESTION = "How does a concentrating solar plant work?", "What is solar salt made of?"
NO_FUNCTIONS = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})
NO_PRODUCT = frozenset({"bench", "tests", ".venv", "var"})
NOTING = "feedback"  # the thread that notes answers, before or after the reply as it happens
URL = "http://127.0.0.1:8000"  # of a service on this machine; nothing listens there


@dataclass(slots=True)
class Trace:
    """What was entered while `on`, in any thread that was started under `profiled`."""

    on: bool = False
    codes: dict[int, CodeType] = field(default_factory=dict)  # by id: equal functions of two files are equal objects

    def enter(self, frame: FrameType, event: str, _: object) -> None:
        """Take a call; the profile function of `sys.setprofile`."""
        if self.on and event == "call" and not threading.current_thread().name.startswith(NOTING):
            self.codes[id(frame.f_code)] = frame.f_code

    def entered(self) -> dict[str, list[str]]:
        """Return the functions of the product by file, as `name`, or `async generator name`, in order."""
        found = defaultdict(list)
        for code in self.codes.values():
            path = Path(code.co_filename)
            # Only functions have fast local variables: bodies of modules and classes do not.
            if (
                code.co_name in NO_FUNCTIONS
                or not code.co_flags & inspect.CO_OPTIMIZED
                or not path.is_relative_to(HOME)
            ):
                continue
            if (file := path.relative_to(HOME)).parts[0] not in NO_PRODUCT:
                kind = "async generator " if code.co_flags & inspect.CO_ASYNC_GENERATOR else ""
                found[file.as_posix()].append(f"{kind}{code.co_qualname}")
        return {file: sorted(names) for file, names in sorted(found.items())}

    def figures(self) -> dict[str, int]:
        """Return how many files, functions and async generators of the product were entered."""
        entered = self.entered()
        names = [name for names in entered.values() for name in names]
        generators = sum(name.startswith("async generator ") for name in names)
        return {"files": len(entered), "functions": len(names), "async_generators": generators}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `python -m bench trace`: none."""


def run(arguments: argparse.Namespace, settings: Settings) -> int:  # noqa: ARG001  # all measurements are run so
    """Trace a question, print the figures and keep them with the names."""
    trace = traced(settings)
    figures = trace.figures()
    print(aligned([f"entered by {QUESTION!r}", "number"], [[name, str(n)] for name, n in figures.items()]))
    keep("trace", {DOCUMENTS.name: {**figures, "entered": trace.entered()}}, settings)
    return 0


def traced(settings: Settings) -> Trace:
    """Return what one question enters of a service with these settings.

    Raises:
        RagError: from ingestion or the engine.
    """
    with open_engines(DOCUMENTS, settings):
        pass  # brings the corpus up to date
    with profiled() as trace, application(with_index(settings, DOCUMENTS.name), URL) as app:
        asyncio.run(_ask(httpx.ASGITransport(app), trace))
    return trace


@contextmanager
def profiled() -> Iterator[Trace]:
    """Yield a trace that sees this thread and all that are started meanwhile."""
    trace = Trace()
    threading.setprofile(trace.enter)
    sys.setprofile(trace.enter)
    try:
        yield trace
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


async def _ask(transport: httpx.ASGITransport, trace: Trace) -> None:
    async with httpx.AsyncClient(transport=transport, base_url=URL) as client:
        for question in (WARM_UP, QUESTION):
            trace.on = question == QUESTION
            reply = await client.post("/query", json={"question": question})
            trace.on = False
            reply.raise_for_status()
            assert reply.json()["answer"], "the documents answer both questions"
