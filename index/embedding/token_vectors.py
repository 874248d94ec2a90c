"""One vector for each token of a text, from the same encoder that embeds passages.

Flow: an evaluation compares answers token by token -> **here** -> the converted model, whose last layer is read before
it is pooled. Sentence vectors are `openvino.py`'s; models on a server give no vectors of tokens.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from index.embedding.compiled_model import compile_model
from index.embedding.model import EmbeddingModel, token_arrays
from index.embedding.model_cache import converted_model
from index.embedding.openvino import BATCH_TEXTS, PRECISION_HINTS

# How the operations of the pooling are named, which `convert.py` makes a module of its own.
POOLING = "__module.pooling"

Vectors = npt.NDArray[np.float32]


class TokenEncoder:
    """Embeds the tokens of texts.

    Args:
        model: the model's folder and facts.
        precision: as of `OpenVINOEmbedding`, as the next two.
        cache_dir: where the converted model is kept.
        threads: cores it may use; all of them if None.

    Raises:
        ModelError: the model cannot be converted or loaded.
    """

    def __init__(self, model: EmbeddingModel, *, precision: str, cache_dir: Path, threads: int | None = None) -> None:
        self._model = model
        options = {"INFERENCE_PRECISION_HINT": PRECISION_HINTS[precision]}
        options |= {"INFERENCE_NUM_THREADS": str(threads)} if threads else {}
        self._compiled = compile_model(converted_model(model, precision, cache_dir), options, _with_token_vectors)
        self._inputs = [port.any_name for port in self._compiled.inputs]

    def encode(self, texts: Sequence[str]) -> list[Vectors]:
        """Return unit vectors of each text's tokens, shape (tokens, dimension): first and last are the special tokens.

        Of a text beyond the model's window only its beginning is read.
        """
        vectors: list[Vectors] = [np.empty((0, self._model.dimension), np.float32)] * len(texts)
        encodings = self._model.encode(texts)
        order = sorted(range(len(texts)), key=lambda i: len(encodings[i]), reverse=True)
        request = self._compiled.create_infer_request()
        for begin in range(0, len(order), BATCH_TEXTS):
            rows = order[begin : begin + BATCH_TEXTS]
            request.infer(token_arrays([encodings[i] for i in rows], self._inputs), share_inputs=True)
            hidden = request.get_output_tensor(1).data
            for row, i in enumerate(rows):
                found = hidden[row, : len(encodings[i])]
                vectors[i] = found / np.linalg.norm(found, axis=1, keepdims=True)
        return vectors


def _with_token_vectors(graph: Any) -> Any:
    """Return the converted model with a second output: what its pooling reads of each token."""
    pooling = (node for node in graph.get_ordered_ops() if node.get_friendly_name().startswith(POOLING))
    read = (port.get_source_output() for node in pooling for port in node.inputs())
    outside = (port for port in read if not port.get_node().get_friendly_name().startswith(POOLING))
    graph.add_outputs(next(port for port in outside if port.get_element_type().is_real() and _is_3d(port)))
    return graph


def _is_3d(port: Any) -> bool:
    return bool(port.get_partial_shape().rank == 3)  # texts, tokens, dimension
