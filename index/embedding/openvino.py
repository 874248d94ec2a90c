"""Embed text on the CPU with OpenVINO: several times as fast as PyTorch, and the service starts without torch.

Flow: ingestion embeds leaves (`batch.py`), retrieval embeds questions -> **here** -> unit vectors. A LlamaIndex
embedder, so that it serves any LlamaIndex index. The model comes converted from `model_cache.py`; GPUs go
through `HuggingFaceEmbedding` (`build.py`).
"""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import PrivateAttr

from index.embedding.base import Embedder
from index.embedding.compiled_model import CompiledModel, compile_model
from index.embedding.model import EmbeddingModel, token_arrays
from index.embedding.model_cache import converted_model

# What stays floating-point in the int8 model is computed in fp32, so that vectors do not depend on the CPU (ADR 0011).
PRECISION_HINTS = {"fp32": "f32", "bf16": "bf16", "int8": "f32"}
BATCH_TEXTS = 16
# A text that is shorter than this share of its batch's longest one begins a batch of its own.
LEAST_FILLED = 0.8
# Widths are multiples of it: OpenVINO keeps code and buffers for every shape it has met. Leaves take 58 MB in steps of
# 24 and 96 MB in steps of 8, at the same speed within 5 %.
WIDTH_STEP = 24
CORES_PER_STREAM = 4


class OpenVINOEmbedding(Embedder):
    """Unit-length sentence vectors from a BERT-like encoder.

    Safe to call from many threads: each inference has its own request, and one compiled model serves all.

    Args:
        model: the model's folder and facts.
        precision: `int8`, `bf16` or `fp32` arithmetic; a CPU without bf16 computes in fp32 what would be bf16.
        cache_dir: where the converted model is kept.
        threads: cores it may use; all of them if None.
        query_prefix: put before each question.
        document_prefix: put before each passage.

    Raises:
        ModelError: the model cannot be converted or loaded.
    """

    query_prefix: str = ""
    document_prefix: str = ""
    _model: EmbeddingModel = PrivateAttr()
    _compiled: CompiledModel = PrivateAttr()
    _inputs: list[str] = PrivateAttr()
    _streams: int = PrivateAttr()

    def __init__(
        self,
        model: EmbeddingModel,
        *,
        precision: str,
        cache_dir: Path,
        threads: int | None = None,
        query_prefix: str = "",
        document_prefix: str = "",
    ) -> None:
        super().__init__(
            model_name=model.folder.name,
            embed_batch_size=BATCH_TEXTS,
            query_prefix=query_prefix,
            document_prefix=document_prefix,
        )
        self._model = model
        # Cores that share a batch have its data in their caches: faster than a batch each.
        self._streams = max(1, (threads or os.cpu_count() or 1) // CORES_PER_STREAM)
        limit = {"INFERENCE_NUM_THREADS": str(threads)} if threads else {}
        options = {"INFERENCE_PRECISION_HINT": PRECISION_HINTS[precision], "NUM_STREAMS": str(self._streams)} | limit
        self._compiled = CompiledModel(partial(compile_model, converted_model(model, precision, cache_dir), options))
        self._inputs = self._compiled.inputs
        # OpenVINO fills internal tables at its first inference, half of it without Python's lock: two threads that
        # come first together deadlock. So the first one happens here, alone.
        self.encode(["first"])

    def encode(self, texts: list[str], check: Callable[[], None] = lambda: None) -> npt.NDArray[np.float32]:
        """Return one unit vector a text, shape (len(texts), dimension), in the order given; no prefixes added.

        An interrupt (Ctrl-C), or what `check` raises before a batch, ends it after the batches under way.
        """
        vectors = np.empty((len(texts), self._model.dimension), np.float32)
        encodings = self._model.encode(texts)
        # Texts of similar length share a batch, so that little is computed on padding. The longest come first: their
        # buffers serve the others, while buffers that grow from batch to batch leave holes that memory keeps.
        order = sorted(range(len(texts)), key=lambda i: len(encodings[i]), reverse=True)
        batches = list(_batches(order, [len(encoding) for encoding in encodings]))

        def run(rows: list[int]) -> None:
            check()
            width = min(-(-len(encodings[rows[0]]) // WIDTH_STEP) * WIDTH_STEP, self._model.max_tokens)
            tokens = token_arrays([encodings[i] for i in rows], self._inputs, width)
            vectors[rows] = self._compiled.run(lambda compiled: _inferred(compiled, tokens))

        if len(batches) == 1:
            run(batches[0])
            return vectors
        # Plain threads, because OpenVINO's own queue aborts the process when its callback outlives the model. One more
        # than streams, so that the next batch is ready when a stream is.
        with ThreadPoolExecutor(self._streams + 1) as pool:
            list(pool.map(run, batches))
        return vectors

    def encode_documents(self, texts: list[str], check: Callable[[], None] = lambda: None) -> npt.NDArray[np.float32]:
        """Return one unit vector a passage, as `encode` does, with the document prefix put before each."""
        return self.encode([self.document_prefix + text for text in texts] if self.document_prefix else texts, check)

    def _get_query_embedding(self, query: str) -> list[float]:
        vector: list[float] = self.encode([self.query_prefix + query])[0].tolist()
        return vector

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        rows: list[list[float]] = self.encode_documents(texts).tolist()
        return rows


def _batches(order: Sequence[int], lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yield batches of an order, longest first: as many as fit in one, and none that would be mostly padding."""
    batch: list[int] = []
    for row in order:
        if batch and (len(batch) == BATCH_TEXTS or lengths[row] < LEAST_FILLED * lengths[batch[0]]):
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch


def _inferred(compiled: Any, tokens: dict[str, npt.NDArray[np.int64]]) -> npt.NDArray[np.float32]:
    request = compiled.create_infer_request()
    request.infer(tokens, share_inputs=True)
    output: npt.NDArray[np.float32] = request.get_output_tensor().data
    return output.copy()
