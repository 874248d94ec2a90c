"""Quantize a converted embedding model to int8 (ADR 0011): `python -m index.embedding.quantize FOLDER FP32 OUT`.

Flow: `convert.py` -> `model_cache.py` runs **this** in a separate process -> `openvino.py`. Weights and activations
become int8 by NNCF's post-training quantization; the passages in `calibration.txt` show which ranges activations take.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from index.embedding.cpu import int8_options
from index.embedding.model import CALIBRATION, load_embedding_model, token_arrays

# Lower than NNCF's 0.95: shifting more of the activations' range into the weights lost less on all texts tried.
SMOOTH_QUANT_ALPHA = 0.9
# The pooling, and a vocabulary table that is decoded as it is read (`e5_network.py`).
LEFT_EXACT = [r"__module\.pooling.*", r".*\.word_embeddings/.*"]
MIN_MEAN_COSINE = 0.99


def quantize(folder: Path, source: Path, target: Path) -> None:
    """Write the int8 form of `source` to `target`.

    Raises:
        SystemExit: its vectors are too far from the exact ones, as they are with models that quantize badly.
    """
    import nncf  # noqa: PLC0415  # slow to import, and needed in this process only
    import openvino  # noqa: PLC0415

    model = load_embedding_model(str(folder))
    texts = CALIBRATION.read_text(encoding="utf-8").strip().split("\n\n")
    core = openvino.Core()
    exact = core.read_model(source)
    names = [port.any_name for port in exact.inputs]
    # One text at a time: padding would count as text.
    inputs = [token_arrays([encoding], names) for encoding in model.encode(texts)]
    quantized = nncf.quantize(
        exact,
        nncf.Dataset(inputs),
        preset=nncf.QuantizationPreset.MIXED,
        subset_size=len(inputs),
        model_type=nncf.ModelType.TRANSFORMER,
        ignored_scope=nncf.IgnoredScope(patterns=LEFT_EXACT),
        advanced_parameters=nncf.AdvancedQuantizationParameters(
            smooth_quant_alphas=nncf.AdvancedSmoothQuantParameters(matmul=SMOOTH_QUANT_ALPHA)
        ),
    )
    require_close(_vectors(core, source, inputs), _vectors(core, quantized, inputs))
    target.parent.mkdir(parents=True, exist_ok=True)
    openvino.save_model(quantized, target, compress_to_fp16=False)


def require_close(exact: npt.NDArray[np.float32], quantized: npt.NDArray[np.float32]) -> None:
    """Raise SystemExit unless the vectors (texts, dimension) have a mean cosine of `MIN_MEAN_COSINE` at least."""
    cosine = float(np.mean(np.sum(exact * quantized, axis=1)))
    # Also true of NaN.
    if not cosine >= MIN_MEAN_COSINE:
        sys.exit(
            f"in int8 its vectors have a mean cosine of {cosine:.3f} to the exact ones (at least {MIN_MEAN_COSINE})"
        )


def _vectors(core: Any, model: Any, inputs: list[dict[str, npt.NDArray[np.int64]]]) -> npt.NDArray[np.float32]:
    compiled = core.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"} | int8_options())
    return np.concatenate([compiled(item)[0] for item in inputs])


if __name__ == "__main__":
    quantize(*map(Path, sys.argv[1:4]))
