"""`RAG_EMBED__DEVICE=cuda`, with the CPU in the GPU's place: the same PyTorch path in every run, also without a GPU."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from index.build import GPU_BATCH_TEXTS, Embedding
from index.embedding.batch import embed_documents
from settings import EmbedSettings, Settings

pytest.importorskip("torch")
from llama_index.embeddings import huggingface

pytestmark = pytest.mark.slow

TEXTS = ["Steam engines were built by Newcomen.", "Cats sleep.", "A turbine turns in the wind. " * 60]
PREFIXES = {"query_prefix": "query: ", "document_prefix": "passage: "}


@pytest.fixture
def on_cpu(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Put the CPU in the place of every device; return the devices that were asked for."""
    asked: list[str] = []

    class OnCpu(huggingface.HuggingFaceEmbedding):
        def __init__(self, *, device: str, **arguments: Any) -> None:
            asked.append(device)
            super().__init__(device="cpu", **arguments)

    monkeypatch.setattr(huggingface, "HuggingFaceEmbedding", OnCpu)
    return asked


def embedding(model_cache: Path, device: str, **options: Any) -> Embedding:
    return Embedding(
        Settings(embed=EmbedSettings(device=device, precision="fp32", cache_dir=model_cache, **PREFIXES, **options))
    )


def rows(embedding: Embedding) -> npt.NDArray[np.float32]:
    """Return the vectors of each text as a passage and as a question, one a row."""
    embedder = embedding.embedder
    questions = [embedder.get_query_embedding(text) for text in TEXTS]
    return np.concatenate([embed_documents(embedder, TEXTS), np.asarray(questions, np.float32)])


@pytest.mark.parametrize("device", ["cuda", "cuda:1"])
def test_vectors_on_a_gpu_are_those_of_the_cpu(on_cpu: list[str], model_cache: Path, device: str) -> None:
    gpu, cpu = embedding(model_cache, device), embedding(model_cache, "cpu")

    vectors = rows(gpu)

    assert on_cpu == [device]
    assert vectors.shape == (2 * len(TEXTS), gpu.manifest.identity.dimension)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert np.allclose(vectors, rows(cpu), atol=1e-4)
    assert not np.allclose(vectors[0], vectors[len(TEXTS)], atol=1e-2)  # the prefixes differ
    assert gpu.embedder.embed_batch_size == GPU_BATCH_TEXTS


def test_an_index_made_on_a_gpu_is_one_for_the_cpu(model_cache: Path) -> None:
    gpu, cpu = embedding(model_cache, "cuda").manifest, embedding(model_cache, "cpu").manifest

    assert gpu.identity == cpu.identity
    assert (gpu.precision, cpu.precision) == ("cuda", "fp32")
