"""Measure a language model that OpenVINO runs: size on disk, loss on a text, tokens a second.

Flow: `run.py` -> **here** -> a line of its table. The loss is read from the model's own logits; the speed is measured
as the service writes, through `query_engine/llms/openvino.py`.
"""

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import openvino
import torch
from llama_index.core.base.llms.types import ChatMessage, MessageRole

from query_engine.llms.openvino import load_openvino
from settings import Settings

QUESTION = "Explain in a few paragraphs how a wind turbine makes electricity."
SPEED_TOKENS, REPEATS = 64, 3
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
        tokens_per_s: while it writes, the time to the first token left out; median of `REPEATS`.
    """

    name: str
    size_mb: float
    loss: float
    agreement: float
    tokens_per_s: float


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
        """Return the logits of one text, shape (tokens, vocabulary), read in so many parts, one after the other."""
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
    *,
    settings: Settings,
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
    del runner
    return Measured(name, size_mb, loss, agreement, _speed(folder, settings))


def _speed(folder: Path, settings: Settings) -> float:
    changes = {"model": str(folder), "temperature": 0.0, "max_new_tokens": SPEED_TOKENS, "device": "auto"}
    loaded = load_openvino(settings.llm.model_copy(update=changes), settings.embed.cache_dir)
    question = ChatMessage(role=MessageRole.USER, content=QUESTION)
    speeds = []
    for _ in range(REPEATS):
        text, began = "", 0.0
        for response in loaded.llm.stream_chat([question]):
            if response.delta:
                began = began or time.perf_counter()
                text += response.delta
        elapsed_s = time.perf_counter() - began
        speeds.append(max(0, loaded.count_tokens(text) - 1) / elapsed_s if elapsed_s > 0 else 0.0)
    return statistics.median(speeds)
