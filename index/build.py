"""Settings -> embedder and corpora. The only place that constructs them.

Flow: `ingestion/build.py` and `query_engine/build.py` call this; models are loaded once and shared by all corpora.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING

from errors import IndexDamagedError, ModelError, SettingsError
from index.corpus import Corpus, exists
from index.embedding import cpu, probe
from index.embedding.choice import choose
from index.embedding.model import EmbeddingModel, MeasuringModel, ServedModel, load_embedding_model, served_model
from index.folder_stores import open_folder
from index.layout.access import Access
from index.layout.locations import Servers
from index.layout.manifest import Identity, Manifest
from settings import MINILM, MULTILINGUAL, ChunkSettings, EmbedSettings, Settings

if TYPE_CHECKING:  # a second to import; an ingestion that finds nothing new needs none of it
    from llama_index.core.base.embeddings.base import BaseEmbedding

    from index.embedding.openai_server import ServerEmbedding

# LlamaIndex's default of 10 leaves a GPU idle.
GPU_BATCH_TEXTS = 256
# In the identity of a corpus whose model is on a server: in place of a hash and of the pooling.
ON_SERVER = "server"
# The same, in place of the dimension, where the settings leave it to the server.
SERVERS_CHOICE = 0


class Embedding:
    """The embedding model of the settings: its facts at once, the embedder itself when it is first asked for.

    An ingestion that finds nothing new never loads a local model. A server is asked by `opening_manifest` and by the
    embedder, by nothing else: what needs no vectors works while it is down.

    Attributes:
        model: its tokenizer and window.
        settings: those that it was made of.
        passage_tokens: longest passage that the model reads whole after the document prefix.
        manifest: what a corpus made with these settings records, as far as the settings tell.

    Raises:
        ModelError: the model is missing or damaged.
        SettingsError: a leaf would be cut by the model's window, or no server is named.
    """

    def __init__(self, settings: Settings) -> None:
        embed = settings.embed.model_copy(
            update={"precision": cpu.resolved(settings.embed.precision), "model": settings.embed.plain_model}
        )
        facts = _served(embed) if embed.base_url else _local(embed)
        self.model, weights_hash, pooling, dimension, precision = facts
        if isinstance(self.model, EmbeddingModel):
            wanted = {"query_prefix": self.model.query_prefix, "document_prefix": self.model.document_prefix}
            embed = embed.model_copy(update={name: getattr(embed, name) or own for name, own in wanted.items()})
        self.settings = settings
        self._settings = embed
        self.passage_tokens = self.model.text_tokens - self.model.count_tokens(embed.document_prefix)
        _check_window(settings.chunk, self.passage_tokens)
        identity = Identity(
            weights_hash=weights_hash,
            pooling=pooling,
            dimension=dimension,
            query_prefix=embed.query_prefix,
            document_prefix=embed.document_prefix,
            **settings.chunk.model_dump(),
        )
        self.manifest = Manifest(identity, embed.model, precision)

    @property
    def multilingual(self) -> bool:
        """Whether a question in one language is near a passage in another one that answers it."""
        return isinstance(self.model, EmbeddingModel) and self.model.multilingual

    @property
    def batch_leaves(self) -> int | None:
        """Leaves that an ingestion embeds together to keep a server busy; None for a local model, which needs fewer."""
        if isinstance(self.model, EmbeddingModel):
            return None
        # A batch ends with a document, so it has a few more, which must not become a slice of their own.
        return max(1, self._settings.slice_texts * 15 // 16)

    @cached_property
    def embedder(self) -> "BaseEmbedding":
        """The loaded model; raises ModelError when it cannot be loaded."""
        if isinstance(self.model, EmbeddingModel):
            return _build_embedder(self._settings, self.model)
        return self._server

    def opening_manifest(self) -> Manifest:
        """Return `manifest` with the fingerprint of a server's model, as it answers now: to open or make a corpus.

        Raises:
            ModelServerError: the server does not answer.
            ModelError: it refuses, or answers with something else than vectors.
        """
        if isinstance(self.model, EmbeddingModel):
            return self.manifest
        return replace(self.manifest, model_vectors=probe.to_text(self._server.probe()))

    def close(self) -> None:
        """Close the connections to a server; nothing can be embedded afterwards. Without a server it does nothing."""
        if (server := self.__dict__.get("_server")) is not None:
            server.close()

    @cached_property
    def _server(self) -> "ServerEmbedding":
        from index.embedding.openai_server import ServerEmbedding  # noqa: PLC0415  # a second to import

        assert isinstance(self.model, ServedModel)
        return ServerEmbedding(self._settings, self.model)


class Embeddings:
    """The embedding models of a process, each made once: that of the settings, or with `auto` each corpus's own.

    A corpus keeps the model that its manifest names; the manifest is read at each call. Thread-safe.

    Args:
        settings: name the model, and where the corpora are.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._made: dict[str, Embedding] = {}
        self._lock = Lock()

    @property
    def chooses(self) -> bool:
        """Whether a corpus gets the packaged model that fits its first documents."""
        return self._settings.embed.chooses

    def of(self, corpus: str) -> Embedding:
        """Return the model of a corpus in the index folder; of one that does not exist, that for no corpus.

        A manifest that cannot be read names no model; opening the corpus raises the error.

        Raises:
            ModelError, SettingsError: see `Embedding`.
        """
        folder = self._settings.index.dir / corpus
        if self.chooses and exists(folder):
            with suppress(IndexDamagedError):
                return self.recorded(Manifest.read(folder))
        return self.named()

    def recorded(self, manifest: Manifest) -> Embedding:
        """Return the model that a corpus recorded, if it is one that `auto` chooses; raises as `of`."""
        return self.named(manifest.model if manifest.model in {MINILM, MULTILINGUAL} else None)

    def fitting(self, languages: Mapping[str, int]) -> Embedding:
        """Return the model for documents of these languages, see `choice.choose`; raises as `of`."""
        return self.named(choose(languages).model)

    def named(self, model: str | None = None) -> Embedding:
        """Return a packaged model where the settings say `auto`, else the one of the settings; raises as `of`.

        Args:
            model: `minilm` or `multilingual`; None: the one for what belongs to no corpus.
        """
        embed = self._settings.embed
        name = (model or embed.plain_model) if self.chooses else embed.model
        with self._lock:
            if name not in self._made:
                own = embed.model_copy(update={"model": name})
                self._made[name] = Embedding(self._settings.model_copy(update={"embed": own}))
            return self._made[name]

    def close(self) -> None:
        """Close the connections to a server; nothing can be embedded afterwards. Without a server it does nothing."""
        for embedding in list(self._made.values()):
            embedding.close()


def open_corpus(
    name: str, settings: Settings, manifest: Manifest, *, create: bool = False, access: Access | None = None
) -> Corpus:
    """Open (or make) the named corpus; raises what `open_folder` raises."""
    folder, servers = settings.index.dir / name, servers_of(settings)
    return open_folder(folder, manifest, servers, create=create, access=access)


def servers_of(settings: Settings) -> Servers:
    """Return where the settings keep documents and vectors."""
    index = settings.index
    return Servers(index.chroma_url, index.database_url.get_secret_value() if index.database_url else None)


# Model, weights_hash, pooling, dimension, precision.
_Facts = tuple[MeasuringModel, str, str, int, str]


def _local(embed: EmbedSettings) -> _Facts:
    model = load_embedding_model(embed.model, embed.cache_dir)
    precision = embed.precision if embed.device == "cpu" else embed.device
    return model, model.weights_hash, model.pooling, model.dimension, precision


def _served(embed: EmbedSettings) -> _Facts:
    # What only the model's vectors show is added by `opening_manifest`.
    model = served_model(embed.max_tokens, embed.tokenizer)
    return model, f"{ON_SERVER}:{embed.model}", ON_SERVER, embed.dimensions or SERVERS_CHOICE, ON_SERVER


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
    if model.multilingual:
        raise SettingsError(
            f"RAG_EMBED__MODEL=multilingual runs on the CPU only, not on {embed.device}.",
            "Set RAG_EMBED__DEVICE=cpu, or RAG_EMBED__MODEL to the folder of a multilingual model.",
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
