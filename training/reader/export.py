"""Write a trained reader for the service: OpenVINO, int8, with its tokenizer.

Flow: `weights.py` -> **here** -> `query_engine/reader/model/`. Weights and activations become int8 as those of
the embedding model do (ADR 0011); the passages it was trained on show which ranges activations take.
"""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import nncf
import numpy as np
import openvino
import torch

from training.reader.fit import Row
from training.reader.model import Reader

SMOOTH_QUANT_ALPHA = 0.9
CALIBRATION_ROWS = 200
INPUTS = ("input_ids", "attention_mask", "token_type_ids")


def export(weights: Mapping[str, torch.Tensor], encoder: Path, rows: Sequence[Row], target: Path) -> None:
    """Write `reader.xml`, `reader.bin` and `tokenizer.json` to the folder `target`.

    Args:
        weights: of a `Reader`.
        encoder: folder of the encoder that it was trained from.
        rows: examples, of which some calibrate the quantization.
        target: a folder, made if missing.
    """
    reader = Reader(encoder)
    reader.load_state_dict(weights)
    reader.eval()
    step = max(1, len(rows) // CALIBRATION_ROWS)
    inputs = [
        {
            "input_ids": np.asarray([row.ids]),
            "attention_mask": np.ones((1, len(row.ids)), np.int64),
            "token_type_ids": np.asarray([row.types]),
        }
        for row in rows[::step]
    ]
    example = tuple(torch.tensor(inputs[0][name]) for name in INPUTS)
    converted = openvino.convert_model(reader, example_input=example)
    for port, name in zip(converted.inputs, INPUTS, strict=True):
        port.get_tensor().set_names({name})
    quantized = nncf.quantize(
        converted,
        nncf.Dataset(inputs),
        preset=nncf.QuantizationPreset.MIXED,
        subset_size=len(inputs),
        model_type=nncf.ModelType.TRANSFORMER,
        advanced_parameters=nncf.AdvancedQuantizationParameters(
            smooth_quant_alphas=nncf.AdvancedSmoothQuantParameters(matmul=SMOOTH_QUANT_ALPHA)
        ),
    )
    target.mkdir(parents=True, exist_ok=True)
    openvino.save_model(quantized, target / "reader.xml", compress_to_fp16=True)
    shutil.copyfile(encoder / "tokenizer.json", target / "tokenizer.json")
