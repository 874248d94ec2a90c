"""Load the language model that the settings name with transformers, to train it.

`fit.py` takes model and tokenizer. In 32 bits: 16 lose the small steps of a training.
"""

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers.utils import logging

from errors import ModelError
from query_engine.llms.local import packaged_gguf
from settings import LLMSettings


@dataclass(frozen=True, slots=True)
class BaseModel:
    """A causal language model with a chat template.

    Attributes:
        name: for people.
        model: of transformers, in float32, ready to be evaluated.
        tokenizer: of transformers.
        from_gguf: it was unpacked from a GGUF file.
    """

    name: str
    model: Any
    tokenizer: Any
    from_gguf: bool


def load_base(settings: LLMSettings) -> BaseModel:
    """Load the model; the packaged SmolLM2 if the settings name none.

    Raises:
        ModelError: it is missing, damaged, or has no chat template.
    """
    path = Path(settings.model).expanduser() if settings.model else packaged_gguf()
    from_gguf = path.suffix.lower() == ".gguf"
    name, options = str(settings.model), dict[str, Any]()
    if from_gguf:
        name, options = str(path.parent), {"gguf_file": path.name, "local_files_only": True}
    elif path.is_dir():
        name, options = str(path), {"local_files_only": True}
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        tokenizer = AutoTokenizer.from_pretrained(name, **options)
        tokenizer.apply_chat_template([{"role": "user", "content": "?"}], tokenize=False)
        model: Any = AutoModelForCausalLM.from_pretrained(name, dtype=torch.float32, use_safetensors=True, **options)
    except (OSError, ValueError, RuntimeError, KeyError, ImportError, struct.error) as error:
        raise ModelError(
            f"The model {path} cannot be loaded by transformers: {str(error).strip().splitlines()[0]}.",
            "Set RAG_LLM__MODEL to a chat model: a hub id, a folder with safetensors, or a GGUF file.",
        ) from error
    if from_gguf:
        # It is unpacked, but still marked as quantized: it could be neither trained nor loaded again once saved.
        model.is_quantized, model.hf_quantizer = False, None
        if hasattr(model.config, "quantization_config"):
            del model.config.quantization_config
    model.eval()
    return BaseModel(path.name, model, tokenizer, from_gguf)
