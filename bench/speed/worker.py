"""One system in a separate process, which answers questions one by one.

Flow: `latency.py` writes a question to stdin -> **here** -> how long it took, to stdout. `python -m bench.speed.worker
stock FOLDER MODEL` opens the stock recipe, `ours` the corpus of the settings. It sleeps while another system is asked.

The stages are measured from outside, by wrapping what the retrieval calls; whole retrievals are measured without that.
"""

import json
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

EMBEDDING, DENSE, LEXICAL, DOCUMENTS = "embedding", "dense search", "lexical search (beside)", "documents"
EVIDENCE, MERGING, REST = "evidence", "merging", "all else"
STAGES = (EMBEDDING, DENSE, LEXICAL, DOCUMENTS, EVIDENCE, MERGING, REST)

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


def answers(lines: Iterable[str], retrieve: Retrieve) -> Iterator[str]:
    """Yield what each retrieval took, as JSON: `ms`, and `stages` in milliseconds where the question asks for them.

    Args:
        lines: JSON objects with `question` and `stages`.
        retrieve: what is measured.
    """
    for line in lines:
        asked = json.loads(line)
        if asked["stages"]:
            with stages_watched() as stages_ms:
                ms = _timed_ms(retrieve, asked["question"])
            aside = sum(taken for stage, taken in stages_ms.items() if stage != LEXICAL)
            yield json.dumps({"ms": ms, "stages": {**stages_ms, REST: ms - aside}})
        else:
            yield json.dumps({"ms": _timed_ms(retrieve, asked["question"])})


@contextmanager
def stages_watched() -> Iterator[dict[str, float]]:
    """Add up what the stages of our retrieval take while this is open, in milliseconds."""
    from index.documents.store import DocumentStore  # noqa: PLC0415  # the stock recipe's process must not hold ours
    from index.lexical.tantivy_index import LexicalIndex  # noqa: PLC0415
    from index.vectors.store import LeafVectorStore  # noqa: PLC0415
    from query_engine.retrieval import hybrid  # noqa: PLC0415
    from query_engine.retrieval.merging import retriever  # noqa: PLC0415

    places = [
        (hybrid.LeafRetriever, "embedding", EMBEDDING),
        (LeafVectorStore, "search", DENSE),
        (LexicalIndex, "search", LEXICAL),
        (LexicalIndex, "held", LEXICAL),
        (DocumentStore, "get_versions", DOCUMENTS),
        (DocumentStore, "parent_vectors", DOCUMENTS),
        (hybrid, "score_leaves", EVIDENCE),
        (retriever, "choose_passages", MERGING),
    ]
    taken_ms: defaultdict[str, float] = defaultdict(float)
    with ExitStack() as stack:
        for owner, name, stage in places:
            stack.enter_context(patch.object(owner, name, _adding(getattr(owner, name), stage, taken_ms)))
        yield taken_ms


def _adding(function: Callable[..., Any], stage: str, taken_ms: defaultdict[str, float]) -> Callable[..., Any]:
    def timed(*arguments: Any, **named: Any) -> Any:
        started = time.perf_counter()
        try:
            return function(*arguments, **named)
        finally:
            taken_ms[stage] += (time.perf_counter() - started) * 1000

    return timed


def _timed_ms(retrieve: Retrieve, question: str) -> float:
    started = time.perf_counter()
    retrieve(question)
    return (time.perf_counter() - started) * 1000


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
