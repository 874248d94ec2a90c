"""Convert a causal language model of transformers to OpenVINO, with a cache of keys and values as OpenVINO's state.

Flow: `run.py` -> **here** -> the folder that `RAG_LLM__PROVIDER=openvino` takes. Optimum Intel does
this for many more kinds of models; its releases lag behind those of transformers, and 2.2.0 cannot be installed beside
the one that is pinned here. So only models are converted whose cache is plain: a growing tensor of keys and one of
values for each layer, as in Llama, Qwen and SmolLM. The caller compares what comes out with PyTorch.
"""

import logging
import warnings
from pathlib import Path
from typing import Any, Literal

import nncf
import numpy as np
import openvino
import torch
from openvino import opset13
from openvino._offline_transformations import apply_make_stateful_transformation
from openvino_tokenizers import convert_tokenizer
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer

from errors import ModelError
from training.base_model import BaseModel

Bits = Literal["int8", "int4"]

# Weights of a group share a scale; 64 divides the widths of small models too.
GROUP = 64
# What is traced with these would hold for one length of text only.
LENGTH_DEPENDENT_ROPE = {"dynamic", "longrope"}
NAMES = ("input_ids", "attention_mask", "position_ids")


def convert(base: BaseModel) -> openvino.Model:
    """Return the model with inputs `input_ids`, `attention_mask`, `position_ids`, `beam_idx` and output `logits`.

    Raises:
        ModelError: it is of a kind that cannot be converted here.
    """
    model = base.model
    rope = (getattr(model.config, "rope_parameters", None) or {}).get("rope_type", "default")
    if rope in LENGTH_DEPENDENT_ROPE:
        raise _refused(base, f"its positions are scaled by {rope}")
    with torch.inference_mode():
        cache = model(input_ids=torch.ones(1, 2, dtype=torch.long), use_cache=True).past_key_values
    layers = getattr(cache, "layers", [])
    if not layers or any(type(layer) is not DynamicLayer for layer in layers):
        raise _refused(base, "its cache is not one of plain keys and values")
    shapes = [tensor.shape for layer in layers for tensor in (layer.keys, layer.values)]
    past = [torch.randn(2, shape[1], 3, shape[3]) for shape in shapes]
    ids = torch.ones(2, 4, dtype=torch.long)
    example = (ids, torch.ones(2, 7, dtype=torch.long), torch.arange(3, 7).expand(2, 4), *past)
    try:
        with warnings.catch_warnings(), torch.inference_mode():
            warnings.simplefilter("ignore")  # about what tracing makes constant; the caller compares the result
            converted = openvino.convert_model(_WithCache(model), example_input=example)
    except RuntimeError as error:
        raise _refused(base, str(error).strip().splitlines()[0]) from error
    _make_stateful(converted, [tuple(shape) for shape in shapes])
    return converted


def compress(model: openvino.Model, bits: Bits) -> openvino.Model:
    """Return the model with rounded weights: 8 bits a channel, or 4 bits a group (embeddings and head keep 8)."""
    nncf.set_log_level(logging.WARNING)  # its tables would stand on stdout
    if bits == "int8":
        return nncf.compress_weights(model, mode=nncf.CompressWeightsMode.INT8_ASYM)
    return nncf.compress_weights(
        model,
        mode=nncf.CompressWeightsMode.INT4_SYM,
        group_size=GROUP,
        ratio=1.0,
        advanced_parameters=nncf.AdvancedCompressionParameters(
            group_size_fallback_mode=nncf.GroupSizeFallbackMode.ADJUST
        ),
    )


def save(model: openvino.Model, base: BaseModel, folder: Path) -> None:
    """Write the model, its configuration and both halves of its tokenizer to a new folder."""
    folder.mkdir(parents=True)
    openvino.save_model(model, folder / "openvino_model.xml")  # floating-point weights in 16 bits
    tokenizer, detokenizer = convert_tokenizer(base.tokenizer, with_detokenizer=True)
    openvino.save_model(tokenizer, folder / "openvino_tokenizer.xml")
    openvino.save_model(detokenizer, folder / "openvino_detokenizer.xml")
    base.tokenizer.save_pretrained(folder)
    base.model.config.save_pretrained(folder)
    base.model.generation_config.save_pretrained(folder)


class _WithCache(torch.nn.Module):
    """The model with its cache among inputs and outputs, so that it can be traced."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor, position_ids: torch.Tensor, *past: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        cache = DynamicCache()
        for keys, values in zip(past[::2], past[1::2], strict=True):
            layer = DynamicLayer()  # type: ignore[no-untyped-call]
            layer.dtype, layer.device = keys.dtype, keys.device
            layer.keys, layer.values, layer.is_initialized = keys, values, True
            cache.layers.append(layer)
        out = self.model(
            input_ids=input_ids,
            attention_mask=attention_mask,
            position_ids=position_ids,
            past_key_values=cache,
            use_cache=True,
        )
        present = [tensor for layer in out.past_key_values.layers for tensor in (layer.keys, layer.values)]
        return (out.logits, *present)


def _make_stateful(model: openvino.Model, shapes: list[tuple[int, ...]]) -> None:
    """Turn the cache from inputs and outputs into state, in the form that OpenVINO GenAI knows."""
    count = len(shapes) // 2
    past = [f"past_key_values.{layer}.{kind}" for layer in range(count) for kind in ("key", "value")]
    present = [f"present.{layer}.{kind}" for layer in range(count) for kind in ("key", "value")]
    for port, name in zip(model.inputs, [*NAMES, *past], strict=True):
        port.get_tensor().set_names({name})
    for port, name in zip(model.outputs, ["logits", *present], strict=True):
        port.get_tensor().set_names({name})
    # Beams take over each other's past: of no effect when there is one, and required by OpenVINO GenAI.
    beams = opset13.parameter([-1], dtype=np.int32, name="beam_idx")
    beams.output(0).get_tensor().add_names({"beam_idx"})
    model.add_parameters([beams])
    for name, shape in zip(past, shapes, strict=True):
        port = model.input(name)
        readers = port.get_target_inputs()
        port.get_node().set_partial_shape(openvino.PartialShape([-1, shape[1], -1, shape[3]]))
        chosen = opset13.gather(port.get_node(), beams, opset13.constant(0, dtype=np.int64))
        for reader in readers:
            reader.replace_source_output(chosen.output(0))
    model.validate_nodes_and_infer_types()
    apply_make_stateful_transformation(model, dict(zip(past, present, strict=True)))
    # The state begins empty: of as many texts as there are, and of no token.
    zero = opset13.constant(0, dtype=np.int64)
    texts = opset13.gather(opset13.shape_of(model.input("input_ids")), opset13.constant([0], dtype=np.int64), zero)
    for node in model.get_ops():
        if node.get_type_name() == "ReadValue":
            _, heads, _, width = node.get_output_partial_shape(0)
            dimensions = [
                texts,
                *(opset13.constant([n], dtype=np.int64) for n in (heads.get_length(), 0, width.get_length())),
            ]
            empty = opset13.broadcast(opset13.constant(0.0, dtype=np.float32), opset13.concat(dimensions, axis=0))
            node.set_arguments([empty])
    model.validate_nodes_and_infer_types()


def _refused(base: BaseModel, why: str) -> ModelError:
    return ModelError(
        f"The model {base.name} cannot be converted here: {why}.",
        "Convert it with `optimum-cli export openvino` in an environment that has optimum-intel, or take a GGUF file.",
    )
