"""One system in a separate process, which answers questions one by one.

Flow: `latency.py` writes a question to stdin -> **here** -> how long it took, to stdout. `python -m bench.speed.worker
stock FOLDER MODEL` opens the stock recipe, `ours` the corpus of the settings. It sleeps while another system is asked.
"""

import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

Retrieve = Callable[[str], object]


def main(arguments: list[str]) -> None:
    """Open a system, say so by an empty line, and answer until stdin ends."""
    with ExitStack() as stack:
        if arguments[0] == "stock":
            retrieve = stack.enter_context(_stock(*map(Path, arguments[1:])))
        else:
            retrieve = stack.enter_context(_ours())
        print(flush=True)
        for line in answers(sys.stdin, retrieve):
            print(line, flush=True)


def answers(questions: Iterable[str], retrieve: Retrieve) -> Iterator[str]:
    """Yield the milliseconds that each retrieval took; questions are JSON strings, one a line."""
    for question in map(json.loads, questions):
        started = time.perf_counter()
        retrieve(question)
        yield str((time.perf_counter() - started) * 1000)


@contextmanager
def _stock(folder: Path, model_dir: Path) -> Iterator[Retrieve]:
    from bench.baseline.llamaindex import StockRecipe  # noqa: PLC0415

    with closing(StockRecipe(None, folder, model_dir)) as recipe:
        yield recipe.retrieve


@contextmanager
def _ours() -> Iterator[Retrieve]:
    from query_engine.build import Engines  # noqa: PLC0415
    from query_engine.inquiry import Inquiry  # noqa: PLC0415
    from settings import load_settings  # noqa: PLC0415

    with closing(Engines(load_settings())) as engines:
        engine = engines.get()
        yield lambda question: engine.retrieve(Inquiry(question))


if __name__ == "__main__":
    main(sys.argv[1:])
