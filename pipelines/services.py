"""What the steps may call: corpora, models, settings.

Flow: `build.py` makes it from the engines -> **here** -> `handler.py` hands it to every step. Models are asked for when
a step needs one, so that pipelines without any never load them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from llama_index.core.base.embeddings.base import BaseEmbedding

from query_engine.llms.base import LoadedModel
from query_engine.reader.model import PassageReader
from query_engine.retrieval.reranking.base import Reranker
from query_engine.runtime.lease_pool import Lease
from research.schema import Engine
from settings import Settings


class Engines(Protocol):
    """Opens corpora."""

    def lease(self, name: str | None = None) -> Lease[Engine]:
        """Return the engine of a corpus, None meaning the default one; blocks while it is opened."""
        ...

    def names(self) -> list[str]:
        """Return the names of the corpora on disk."""
        ...


@dataclass(frozen=True, slots=True)
class Services:
    """What the steps may call.

    Attributes:
        settings: all of them.
        engines: open corpora.
        embedder: returns the embedding model.
        embedding_name: returns what names that model and how it computes.
        reranker: returns the reranker of the settings; None if none is set.
        model: returns the language model that is asked on the side; None if none is set.
        reader: returns what scores the units of passages.
    """

    settings: Settings
    engines: Engines
    embedder: Callable[[], BaseEmbedding]
    embedding_name: Callable[[], str]
    reranker: Callable[[], Reranker | None]
    model: Callable[[], LoadedModel | None]
    reader: Callable[[], PassageReader]

    def other_embedder(self, model: str) -> str:
        """Return a warning that an embedding model is not the loaded one; empty if it is, or for no name."""
        loaded = self.settings.embed.plain_model
        if model in {"", loaded}:
            return ""
        return f"The embedding model {model!r} is not served; {loaded!r} is, and was used."
