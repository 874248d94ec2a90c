"""Settings -> embedder and corpora. The only place that constructs them.

Flow: `ingestion/build.py` and `query_engine/build.py` call this; models are loaded once and shared by all corpora.
"""

from functools import cached_property
from typing import TYPE_CHECKING

from errors import ModelError, SettingsError
from index.corpus import Corpus
from index.embedding.model import EmbeddingModel, load_embedding_model
from index.folder_stores import open_folder
from index.layout.locations import Servers
from index.layout.manifest import Identity, Manifest
from settings import ChunkSettings, EmbedSettings, Settings

if TYPE_CHECKING:  # a second to import; an ingestion that finds nothing new needs none of it
    from llama_index.core.base.embeddings.base import BaseEmbedding

# LlamaIndex's default of 10 leaves a GPU idle.
GPU_BATCH_TEXTS = 256


class Embedding:
    """The embedding model of the settings: its facts at once, the embedder itself when it is first asked for.

    An ingestion that finds nothing new never loads the model.

    Attributes:
        model: folder, tokenizer and window.
        passage_tokens: longest passage that the model reads whole after the document prefix.
        manifest: what a corpus made with these settings records.

    Raises:
        ModelError: the model is missing or damaged.
        SettingsError: a leaf would be cut by the model's window.
    """

    def __init__(self, settings: Settings) -> None:
        embed = settings.embed
        self._settings = embed
        self.model = load_embedding_model(embed.model)
        self.passage_tokens = self.model.text_tokens - self.model.count_tokens(embed.document_prefix)
        _check_window(settings.chunk, self.passage_tokens)
        identity = Identity(
            weights_hash=self.model.weights_hash,
            pooling=self.model.pooling,
            dimension=self.model.dimension,
            query_prefix=embed.query_prefix,
            document_prefix=embed.document_prefix,
            **settings.chunk.model_dump(),
        )
        precision = embed.precision if embed.device == "cpu" else embed.device
        self.manifest = Manifest(identity, embed.model, precision)

    @cached_property
    def embedder(self) -> "BaseEmbedding":
        """The loaded model; raises ModelError when it cannot be loaded."""
        return _build_embedder(self._settings, self.model)


def open_corpus(
    name: str, settings: Settings, manifest: Manifest, *, create: bool = False, service_url: str | None = None
) -> Corpus:
    """Open (or make) the named corpus; raises what `open_folder` raises."""
    folder, servers = settings.index.dir / name, servers_of(settings)
    return open_folder(folder, manifest, servers, create=create, service_url=service_url)


def servers_of(settings: Settings) -> Servers:
    """Return where the settings keep documents and vectors."""
    index = settings.index
    return Servers(index.chroma_url, index.database_url.get_secret_value() if index.database_url else None)


def _build_embedder(embed: EmbedSettings, model: EmbeddingModel) -> "BaseEmbedding":
    if embed.device == "cpu":
        from index.embedding.openvino import OpenVINOEmbedding  # noqa: PLC0415  # a GPU service needs no OpenVINO

        return OpenVINOEmbedding(
            model,
            precision=embed.precision,
            cache_dir=embed.cache_dir,
            threads=embed.threads,
            query_prefix=embed.query_prefix,
            document_prefix=embed.document_prefix,
        )
    from llama_index.embeddings.huggingface import HuggingFaceEmbedding  # noqa: PLC0415  # imports torch

    try:
        return HuggingFaceEmbedding(
            model_name=str(model.folder),
            device=embed.device,
            normalize=True,
            embed_batch_size=GPU_BATCH_TEXTS,
            # An empty instruction counts as none: the prefixes then come from the settings alone.
            query_instruction=embed.query_prefix,
            text_instruction=embed.document_prefix,
        )
    except (RuntimeError, AssertionError, OSError, ValueError) as error:
        raise ModelError(
            f"The embedding model cannot be loaded on {embed.device}: {str(error).splitlines()[0]}.",
            "Set RAG_EMBED__DEVICE=cpu, or check the GPU and its PyTorch build.",
        ) from error


def _check_window(chunk: ChunkSettings, window_tokens: int) -> None:
    if not chunk.leaf_tokens < chunk.middle_tokens < chunk.root_tokens:
        raise SettingsError(
            f"Chunk sizes must fall from root to leaf; they are {chunk.root_tokens}, {chunk.middle_tokens} and "
            f"{chunk.leaf_tokens}.",
            "Set RAG_CHUNK__ROOT_TOKENS, __MIDDLE_TOKENS and __LEAF_TOKENS accordingly.",
        )
    if chunk.leaf_tokens > window_tokens:
        raise SettingsError(
            f"A leaf of {chunk.leaf_tokens} tokens would be cut by the embedding model, which reads {window_tokens} "
            "(RAG_EMBED__DOCUMENT_PREFIX not counted).",
            f"Set RAG_CHUNK__LEAF_TOKENS to {window_tokens} or less.",
        )
