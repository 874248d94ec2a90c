"""Measure a language model that OpenVINO runs: size on disk, and loss on a text, by the model's own logits.

Flow: `run.py` -> **here** -> a line of its table. `python -m bench model` measures how fast it writes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import openvino
import torch

WINDOW_TOKENS = 512

Logits = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Measured:
    """One form of the model.

    Attributes:
        name: of the form.
        size_mb: of the weights, in 10^6 bytes.
        loss: mean negative log-likelihood of a token of the text, in nats.
        agreement: share of tokens for which it would write what PyTorch would.
    """

    name: str
    size_mb: float
    loss: float
    agreement: float


class Runner:
    """Reads texts with a converted model, from the folder that `convert.save` wrote.

    Args:
        folder: of the model.
        threads: of the CPU; one per core if None.
    """

    def __init__(self, folder: Path, threads: int | None) -> None:
        options = {"INFERENCE_PRECISION_HINT": "f32"} | ({"INFERENCE_NUM_THREADS": threads} if threads else {})
        self._request = (
            openvino.Core().compile_model(folder / "openvino_model.xml", "CPU", options).create_infer_request()
        )

    def logits(self, ids: Sequence[int], *, parts: int = 1) -> Logits:
        """Return the logits of one text, shape (tokens, vocabulary), read in `parts` parts, one after another."""
        self._request.reset_state()
        found = []
        for part in np.array_split(np.arange(len(ids)), parts):
            inputs = {
                "input_ids": np.asarray([ids], np.int64)[:, part],
                "attention_mask": np.ones((1, part[-1] + 1), np.int64),
                "position_ids": part[None].astype(np.int64),
                "beam_idx": np.zeros(1, np.int32),
            }
            found.append(self._request.infer(inputs)["logits"][0].copy())
        return np.concatenate(found)


def torch_logits(model: Any, ids: Sequence[int]) -> Logits:
    """Return the logits that PyTorch computes, shape (tokens, vocabulary)."""
    with torch.inference_mode():
        logits: Logits = model(input_ids=torch.tensor([ids])).logits[0].float().numpy()
    return logits


def losses(logits: Logits, ids: Sequence[int]) -> npt.NDArray[np.float64]:
    """Return the negative log-likelihood of each token but the first, in nats."""
    values = logits[:-1].astype(np.float64)
    values -= values.max(axis=1, keepdims=True)
    normal = np.log(np.exp(values).sum(axis=1))
    wanted: npt.NDArray[np.float64] = normal - values[np.arange(len(ids) - 1), np.asarray(ids[1:])]
    return wanted


def windows(ids: Sequence[int], count: int) -> list[list[int]]:
    """Cut a text's first `count` tokens into pieces of `WINDOW_TOKENS`; a piece of one token is left out."""
    kept = list(ids[:count])
    pieces = [kept[first : first + WINDOW_TOKENS] for first in range(0, len(kept), WINDOW_TOKENS)]
    return [piece for piece in pieces if len(piece) > 1]


def measure(
    name: str,
    folder: Path,
    pieces: Sequence[Sequence[int]],
    wanted: Sequence[Logits],
    threads: int | None,
) -> Measured:
    """Measure the model in `folder` on pieces of a text, beside PyTorch's logits of them."""
    runner = Runner(folder, threads)
    found, same = [], []
    for piece, exact in zip(pieces, wanted, strict=True):
        logits = runner.logits(piece)
        found.append(losses(logits, piece))
        same.append(logits.argmax(axis=1) == exact.argmax(axis=1))
    size_mb = (folder / "openvino_model.bin").stat().st_size / 1e6
    loss, agreement = float(np.concatenate(found).mean()), float(np.concatenate(same).mean())
    return Measured(name, size_mb, loss, agreement)
