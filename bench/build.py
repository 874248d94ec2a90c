"""Data set -> our engine, and the stock recipe over the very same texts.

Flow: a measurement or a training -> **here** -> `ingestion/`, `query_engine/`, `baseline/`. Indexes are kept below
`RAG_BENCH__DIR`, one folder a data set, and brought up to date when a measurement opens them.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from bench.datasets import DataSet
from errors import IndexMismatchError
from eval.progress_bar import tell
from index.embedding.model import load_embedding_model
from ingestion.build import ingest
from query_engine.build import Engines
from query_engine.engine import Engine
from settings import Settings

if TYPE_CHECKING:
    from bench.baseline.llamaindex import StockRecipe

OURS, STOCK = "ours", "stock"
CORPUS = "ours"
STOCK_MODEL = "minilm"


@contextmanager
def open_engine(data_set: DataSet, settings: Settings) -> Iterator[Engine]:
    """Open an engine as `open_engines` does."""
    with open_engines(data_set, settings) as engines:
        yield engines.get()


@contextmanager
def open_engines(data_set: DataSet, settings: Settings) -> Iterator[Engines]:
    """Bring the data set's corpus into its own index, and open engines of which it is the default.

    An index that was made with other settings, or holds documents that are gone, is rebuilt.

    Raises:
        RagError: from ingestion or the engine.
    """
    settings = with_index(settings, data_set.name)
    tell(f"{data_set.name}: bringing {data_set.corpus} up to date")
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
            engines = Engines(settings)
        for entry in (*summary.skipped, *summary.failed):
            tell(f"left out: {entry['source']}: {entry['reason']}")
        yield engines
    finally:
        engines.close()


def open_stock(data_set: DataSet, engine: Engine, settings: Settings) -> "StockRecipe":
    """Open the stock recipe over the texts of the engine's corpus, and build it if need be; close it after use."""
    from bench.baseline.llamaindex import StockRecipe  # noqa: PLC0415  # imports torch, which ours does without

    stored = engine.corpus.documents
    documents = [document for doc_id in stored.versions() if (document := stored.get(doc_id))]
    tell(f"{data_set.name}: opening the stock recipe over {len(documents)} documents")
    folder = settings.bench.dir / data_set.name / STOCK
    return StockRecipe(documents, folder, load_embedding_model(STOCK_MODEL).folder)


def with_index(settings: Settings, set_name: str) -> Settings:
    """Return settings whose index is the data set's."""
    index = settings.index.model_copy(update={"dir": settings.bench.dir / set_name, "corpus": CORPUS})
    return settings.model_copy(update={"index": index})


def service_variables(settings: Settings, set_name: str, corpus: str = CORPUS) -> dict[str, str]:
    """Return the environment of a service over a data set's index."""
    return {
        "RAG_INDEX__DIR": str((settings.bench.dir / set_name).resolve()),
        "RAG_INDEX__CORPUS": corpus,
        "RAG_SERVE__PORT": "0",
        "RAG_LLM__PROVIDER": "extractive",
    }


def stored_text(engine: Engine) -> Callable[[str], str | None]:
    """Return a function from doc_id to the stored text, None if there is no such document."""

    def text_of(doc_id: str) -> str | None:
        document = engine.corpus.documents.get(doc_id)
        return document.text if document else None

    return text_of
