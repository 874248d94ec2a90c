"""Embed text on the CPU with OpenVINO: about twice as fast as PyTorch, and the service starts without torch.

Flow: ingestion embeds leaves, retrieval embeds questions. A LlamaIndex `BaseEmbedding`, so that it serves any
LlamaIndex index. The only file that runs OpenVINO on embeddings; the model is converted once by `convert.py` and
kept per weights hash. GPUs go through `HuggingFaceEmbedding` (`build.py`).
"""

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import openvino
from llama_index.core.base.embeddings.base import BaseEmbedding
from pydantic import PrivateAttr

from errors import ModelError
from index.embedding_model import EmbeddingModel

PRECISION_HINTS = {"fp32": "f32", "bf16": "bf16"}
BATCH_TEXTS = 16


class OpenVINOEmbedding(BaseEmbedding):
    """Unit-length sentence vectors from a BERT-like encoder.

    Safe to call from many threads: each inference has its own request, and one compiled model serves all.

    Args:
        model: the model's folder and facts.
        precision: `fp32` or `bf16` arithmetic; a CPU without bf16 computes in fp32.
        cache_dir: where the converted model is kept.
        query_prefix: put before each question.
        document_prefix: put before each passage.

    Raises:
        ModelError: the model cannot be converted or loaded.
    """

    query_prefix: str = ""
    document_prefix: str = ""
    _model: EmbeddingModel = PrivateAttr()
    _compiled: Any = PrivateAttr()
    _tokenizer: Any = PrivateAttr()

    def __init__(
        self,
        model: EmbeddingModel,
        *,
        precision: str,
        cache_dir: Path,
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
        self._compiled = _compile(converted_model(model, cache_dir), precision)
        self._tokenizer = type(model.tokenizer).from_str(model.tokenizer.to_str())
        self._tokenizer.enable_truncation(model.max_tokens)
        self._tokenizer.enable_padding()

    @classmethod
    def class_name(cls) -> str:
        """Name for LlamaIndex's events."""
        return "OpenVINOEmbedding"

    def encode(self, texts: list[str]) -> npt.NDArray[np.float32]:
        """Return one unit vector a text, shape (len(texts), dimension), in the order given; no prefixes added."""
        vectors = np.empty((len(texts), self._model.dimension), np.float32)
        # Texts of like length share a batch, so that little is computed on padding.
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        batches = [order[i : i + BATCH_TEXTS] for i in range(0, len(order), BATCH_TEXTS)]

        def run(rows: list[int]) -> None:
            vectors[rows] = self._encode_batch([texts[i] for i in rows])

        if len(batches) == 1:
            run(batches[0])
            return vectors
        # Plain threads, because OpenVINO's own queue aborts the process when its callback outlives the model.
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(run, batches))
        return vectors

    def encode_documents(self, texts: list[str]) -> npt.NDArray[np.float32]:
        """Return one unit vector a passage, as `encode` does, with the document prefix put before each."""
        return self.encode([self.document_prefix + text for text in texts] if self.document_prefix else texts)

    def _encode_batch(self, texts: list[str]) -> npt.NDArray[np.float32]:
        encoded = self._tokenizer.encode_batch(texts)
        mask = np.array([item.attention_mask for item in encoded])
        request = self._compiled.create_infer_request()
        request.infer(self._inputs(encoded, mask))
        return _pooled(request.get_output_tensor().data, mask, self._model.pooling)

    def _inputs(self, encoded: list[Any], mask: npt.NDArray[np.int64]) -> dict[str, npt.NDArray[np.int64]]:
        inputs = {"input_ids": np.array([item.ids for item in encoded]), "attention_mask": mask}
        if len(self._compiled.inputs) == 3:
            inputs["token_type_ids"] = np.zeros_like(mask)
        return inputs

    def _get_query_embedding(self, query: str) -> list[float]:
        vector: list[float] = self.encode([self.query_prefix + query])[0].tolist()
        return vector

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return await asyncio.to_thread(self._get_query_embedding, query)

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        rows: list[list[float]] = self.encode_documents(texts).tolist()
        return rows


def converted_model(model: EmbeddingModel, cache_dir: Path) -> Path:
    """Return the model's OpenVINO file, converting it first if this cache does not hold it (about 10 s).

    Raises:
        ModelError: the conversion failed; torch and transformers are needed for it, once.
    """
    target = cache_dir / f"{model.weights_hash}-openvino" / "model.xml"
    if target.is_file():
        return target
    cache_dir.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache_dir) as scratch:
        made = Path(scratch) / "made" / "model.xml"
        command = [sys.executable, "-m", "index.convert", str(model.folder), str(made)]
        home = Path(__file__).parent.parent
        run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=home)  # noqa: S603  # our own module
        if run.returncode != 0:
            last = run.stderr.strip().splitlines()[-1:] or ["no message"]
            raise ModelError(
                f"The embedding model in {model.folder} cannot be converted: {last[0]}.",
                "Check the folder, and that requirements-torch.txt is installed (torch is needed this once).",
            )
        try:
            made.parent.rename(target.parent)
        except OSError:
            # Another process converted the same weights meanwhile: its result is as good.
            shutil.rmtree(made.parent)
    return target


def _compile(path: Path, precision: str) -> Any:
    try:
        return openvino.Core().compile_model(
            path,
            "CPU",
            {
                "INFERENCE_PRECISION_HINT": PRECISION_HINTS[precision],
                "NUM_STREAMS": str(os.cpu_count() or 1),
            },
        )
    except RuntimeError as error:
        raise ModelError(
            f"The converted embedding model {path} cannot be loaded: {str(error).splitlines()[0]}.",
            f"Delete {path.parent}; it is made again at the next start.",
        ) from error


def _pooled(hidden: npt.NDArray[np.float32], mask: npt.NDArray[np.int64], pooling: str) -> npt.NDArray[np.float32]:
    """Token vectors (texts, tokens, dimension) to unit vectors (texts, dimension)."""
    if pooling == "cls":
        pooled = hidden[:, 0]
    else:
        weights = mask[:, :, None].astype(np.float32)
        pooled = (hidden * weights).sum(axis=1) / weights.sum(axis=1)
    unit: npt.NDArray[np.float32] = pooled / np.linalg.norm(pooled, axis=1, keepdims=True)
    return unit
