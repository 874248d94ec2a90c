"""Data set -> what is measured on it: our engine, and the stock recipe over the very same texts.

Flow: `__main__.py` -> **here** -> `retrieval.py`, `answers.py`. Indexes are kept below `RAG_BENCH__DIR`, one folder a
data set, and brought up to date when a measurement opens them.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from bench.datasets import DataSet
from bench.retrieval import STOCK, Retrieve
from errors import IndexMismatchError
from eval.metrics import BUDGETS_CHARS
from index.embedding_model import load_embedding_model
from ingestion.build import ingest
from query_engine.build import Engines
from query_engine.engine import Engine
from settings import Settings

if TYPE_CHECKING:
    from bench.stock import StockRecipe

CORPUS = "ours"
STOCK_MODEL = "minilm"


@contextmanager
def open_engine(data_set: DataSet, settings: Settings) -> Iterator[Engine]:
    """Bring the data set's corpus into an index of its own, and open an engine on it.

    An index that was made with other settings, or holds documents that are gone, is built anew.

    Raises:
        RagError: whatever ingestion or the engine raises.
    """
    index = settings.index.model_copy(update={"dir": settings.bench.dir / data_set.name, "corpus": CORPUS})
    settings = settings.model_copy(update={"index": index})
    _tell(f"{data_set.name}: bringing {data_set.corpus} up to date")
    try:
        summary = ingest(data_set.corpus, settings, corpus=CORPUS)
    except IndexMismatchError:
        summary = ingest(data_set.corpus, settings, corpus=CORPUS, rebuild=True)
    engines = Engines(settings)
    try:
        # Ingestion keeps documents whose files are gone; a measurement must not find them.
        if engines.get().corpus.documents.count() != summary.new + summary.changed + summary.unchanged:
            engines.close()
            summary = ingest(data_set.corpus, settings, corpus=CORPUS, rebuild=True)
        for entry in (*summary.skipped, *summary.failed):
            _tell(f"left out: {entry['source']}: {entry['reason']}")
        yield engines.get()
    finally:
        engines.close()


def open_stock(data_set: DataSet, engine: Engine, settings: Settings) -> "StockRecipe":
    """Open the stock recipe over the texts of the engine's corpus, and build it if need be; close it after use."""
    from bench.stock import StockRecipe  # noqa: PLC0415  # imports torch, which answers are measured without

    stored = engine.corpus.documents
    documents = [document for doc_id in stored.versions() if (document := stored.get(doc_id))]
    _tell(f"{data_set.name}: opening the stock recipe over {len(documents)} documents")
    folder = settings.bench.dir / data_set.name / STOCK
    return StockRecipe(documents, folder, load_embedding_model(STOCK_MODEL).folder)


def our_retrieval(engine: Engine, settings: Settings, *, merge: bool) -> Retrieve:
    """Return our retrieval within the largest budget that is scored."""
    options = settings.retrieval.model_copy(update={"budget_chars": max(BUDGETS_CHARS), "merge": merge})
    return lambda question: engine.retrieve(question, options).passages


def stored_text(engine: Engine) -> Callable[[str], str | None]:
    """Return a function from doc_id to the stored text, None if there is no such document."""

    def text_of(doc_id: str) -> str | None:
        document = engine.corpus.documents.get(doc_id)
        return document.text if document else None

    return text_of


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
