"""Read a reader's weights from a checkpoint, or recover them from an export; average them.

Flow: a checkpoint, or `query_engine/reader/model/` -> **here** -> `fit.py` goes on from them, `export.py` writes them.
The fp32 checkpoint of the shipped reader is too large for the repository. Its int8 export holds each weight to within
1/255 of the range of its row. What quantization moved between layers (SmoothQuant, Xiao et al., 2023, arXiv 2211.10438)
is moved back.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import openvino
import torch
from safetensors.torch import load_file

from training.reader.model import Reader

Array = npt.NDArray[np.float32]


def read_weights(path: Path, encoder: Path) -> dict[str, torch.Tensor]:
    """Return the weights of a `Reader`.

    Args:
        path: a checkpoint of `fit.py`, or a folder that `export.py` wrote.
        encoder: folder of the encoder that the reader was trained from: its vectors of words are not trained.
    """
    return _recovered(path, encoder) if path.is_dir() else load_file(path)


def mean_weights(weights: Sequence[Mapping[str, torch.Tensor]]) -> dict[str, torch.Tensor]:
    """Return the mean of several readers' weights (Wortsman et al., 2022, arXiv 2203.05482)."""
    return {name: torch.stack([one[name].float() for one in weights]).mean(dim=0) for name in weights[0]}


def _recovered(folder: Path, encoder: Path) -> dict[str, torch.Tensor]:
    model = openvino.Core().read_model(folder / "reader.xml")
    state: dict[str, torch.Tensor] = Reader(encoder).state_dict()
    for operation in model.get_ordered_ops():
        name = operation.get_friendly_name().replace("__module.", "").split("/")[0]
        if operation.get_type_name() == "MatMul" and _is_constant(_before(operation, 1)):
            weight = _value(operation, 1)
            weight = weight if operation.get_attributes().get("transpose_b") else weight.T
            moved = _moved(operation)
            _put(state, f"{name}.weight", weight if moved is None else weight * moved)
            _put(state, f"{name}.bias", _factor(_after(operation, "Add")))
        elif operation.get_type_name() == "MVN":
            scaled = _after(operation, "Multiply")
            _put(state, f"{name}.weight", _factor(scaled))
            _put(state, f"{name}.bias", _factor(_after(scaled, "Add")))
    state["nearness"] = torch.tensor(_nearness(model))
    return state


def _put(state: dict[str, torch.Tensor], name: str, value: Array) -> None:
    state[name] = torch.tensor(np.ascontiguousarray(value)).reshape(state[name].shape)


def _before(node: Any, place: int) -> Any:
    return node.input(place).get_source_output().get_node()


def _after(node: Any, kind: str) -> Any:
    return next(one for one in _following(node) if one.get_type_name() == kind)


def _following(node: Any) -> Iterator[Any]:
    for output in node.outputs():
        for target in output.get_target_inputs():
            yield target.get_node()


def _is_constant(node: Any) -> bool:
    """Whether a node depends on no input of the model."""
    open_nodes = [node]
    while open_nodes:
        one = open_nodes.pop()
        if one.get_type_name() == "Parameter":
            return False
        open_nodes += [port.get_source_output().get_node() for port in one.inputs()]
    return True


def _value(node: Any, place: int) -> Array:
    """Compute a constant input: int8 weights with their scales."""
    constant = openvino.Model([node.input(place).get_source_output()], [], "constant")
    return np.array(openvino.compile_model(constant, "CPU")([])[0], dtype=np.float32)


def _factor(node: Any) -> Array:
    """Return the constant one of a node's two inputs."""
    return _value(node, 0 if _is_constant(_before(node, 0)) else 1)


def _moved(multiplication: Any) -> Array | None:
    """Return what SmoothQuant multiplied a layer's inputs by, and divided its weights by."""
    node = _before(multiplication, 0)
    while node.get_type_name() in {"FakeQuantize", "Convert"}:
        node = _before(node, 0)
    smooth = node.get_type_name() == "Multiply" and "smooth_quant" in node.get_friendly_name()
    return _factor(node).reshape(1, -1) if smooth else None


def _nearness(model: Any) -> float:
    """Return the weight of a token's nearness to the question: the last sum adds it to the first score."""
    scores = _before(model.get_results()[0], 0)
    joined = next(node for node in (_before(scores, 0), _before(scores, 1)) if node.get_type_name() == "Concat")
    return float(_factor(_before(joined, 0)).reshape(()))
