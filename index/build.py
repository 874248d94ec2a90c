"""Settings -> embedder and corpora. The only place that constructs them.

Flow: `ingestion/build.py` and `query_engine/build.py` call this; models are loaded once and shared by all corpora.
"""

from dataclasses import dataclass

from llama_index.core.base.embeddings.base import BaseEmbedding

from errors import ModelError, SettingsError
from index.corpus import Corpus
from index.embedding_model import EmbeddingModel, load_embedding_model
from index.manifest import Identity, Manifest
from settings import ChunkSettings, EmbedSettings, Settings


@dataclass(frozen=True, slots=True)
class Embedding:
    """A loaded embedder with the facts of its model and the manifest of what it builds."""

    embedder: BaseEmbedding
    model: EmbeddingModel
    manifest: Manifest


def build_embedding(settings: Settings) -> Embedding:
    """Load the embedding model.

    Raises:
        ModelError: the model is missing or damaged.
        SettingsError: a leaf would be cut by the model's window.
    """
    model = load_embedding_model(settings.embed.model)
    _check_window(settings.chunk, model)
    embedder = _build_embedder(settings.embed, model)
    identity = Identity(
        weights_hash=model.weights_hash,
        pooling=model.pooling,
        dimension=model.dimension,
        query_prefix=settings.embed.query_prefix,
        document_prefix=settings.embed.document_prefix,
        **settings.chunk.model_dump(),
    )
    precision = settings.embed.precision if settings.embed.device == "cpu" else settings.embed.device
    return Embedding(embedder, model, Manifest(identity, settings.embed.model, precision))


def open_corpus(
    name: str, settings: Settings, manifest: Manifest, *, create: bool = False, service_url: str | None = None
) -> Corpus:
    """Open (or make) the named corpus; raises what `Corpus` raises."""
    return Corpus(settings.index.dir / name, manifest, create=create, service_url=service_url)


def _build_embedder(embed: EmbedSettings, model: EmbeddingModel) -> BaseEmbedding:
    if embed.device == "cpu":
        from index.embedder import OpenVINOEmbedding  # noqa: PLC0415  # a GPU service needs no OpenVINO

        return OpenVINOEmbedding(
            model,
            precision=embed.precision,
            cache_dir=embed.cache_dir,
            query_prefix=embed.query_prefix,
            document_prefix=embed.document_prefix,
        )
    from llama_index.embeddings.huggingface import HuggingFaceEmbedding  # noqa: PLC0415  # imports torch

    try:
        return HuggingFaceEmbedding(
            model_name=str(model.folder),
            device=embed.device,
            normalize=True,
            # An empty instruction counts as none: the prefixes then come from the settings alone.
            query_instruction=embed.query_prefix,
            text_instruction=embed.document_prefix,
        )
    except (RuntimeError, AssertionError, OSError, ValueError) as error:
        raise ModelError(
            f"The embedding model cannot be loaded on {embed.device}: {str(error).splitlines()[0]}.",
            "Set RAG_EMBED__DEVICE=cpu, or check the GPU and its PyTorch build.",
        ) from error


def _check_window(chunk: ChunkSettings, model: EmbeddingModel) -> None:
    if not chunk.leaf_tokens < chunk.middle_tokens < chunk.root_tokens:
        raise SettingsError(
            f"Chunk sizes must fall from root to leaf; they are {chunk.root_tokens}, {chunk.middle_tokens} and "
            f"{chunk.leaf_tokens}.",
            "Set RAG_CHUNK__ROOT_TOKENS, __MIDDLE_TOKENS and __LEAF_TOKENS accordingly.",
        )
    if chunk.leaf_tokens > model.text_tokens:
        raise SettingsError(
            f"A leaf of {chunk.leaf_tokens} tokens would be cut by the embedding model, which reads "
            f"{model.text_tokens}.",
            f"Set RAG_CHUNK__LEAF_TOKENS to {model.text_tokens} or less.",
        )
