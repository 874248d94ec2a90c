"""Run a model with transformers: a hub id, a local folder or a GGUF file, on the CPU or a GPU.

Flow: `build.py` -> **here** -> a LlamaIndex `HuggingFaceLLM` that can be stopped. The hub is asked only for a hub id.
Only safetensors and GGUF files are read: other weight files can carry code.
"""

import struct
import threading
from collections.abc import Callable, Generator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

import torch
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.llms.huggingface import HuggingFaceLLM
from pydantic import PrivateAttr
from safetensors import SafetensorError
from transformers import BitsAndBytesConfig, StoppingCriteria, StoppingCriteriaList, TextStreamer

from errors import ModelError, SettingsError, first_line
from index.embedding.cpu import multiplies_bf16
from query_engine.llms.base import TOP_P, LoadedModel
from query_engine.llms.local import (
    MOST_TOKENS,
    TEMPLATE_OPTIONS,
    LocalLLM,
    ModelThread,
    generation_failed,
    packaged_gguf,
)
from query_engine.llms.reply import LengthReached
from settings import LLMSettings


class StoppableHuggingFaceLLM(LocalLLM, HuggingFaceLLM):
    """A `HuggingFaceLLM` with one generation at a time, each with its own streamer, stopped within one token."""

    provider: ClassVar[str] = "huggingface"
    _thread: ModelThread = PrivateAttr(default_factory=ModelThread)

    def count_tokens(self, text: str) -> int:
        """Length of a text."""
        return len(self._tokenizer.encode(text, add_special_tokens=False))

    def control_tokens(self) -> tuple[str, ...]:
        """The tokenizer's special tokens."""
        added = (str(token) for token in self._tokenizer.added_tokens_decoder.values() if token.special)
        return tuple({*self._tokenizer.all_special_tokens, *added})

    def templated(self, messages: Sequence[ChatMessage]) -> str:
        """Put messages into the form of the model's chat template, ready for its answer."""
        chat = [{"role": message.role.value, "content": message.content or ""} for message in messages]
        prompt: str = self._tokenizer.apply_chat_template(
            chat, tokenize=False, add_generation_prompt=True, **TEMPLATE_OPTIONS
        )
        return prompt

    def pieces(
        self, prompt: str, *, max_tokens: int | None = None, temperature: float | None = None
    ) -> Generator[str, None, None]:
        """Generate from a prompt that already has the chat template's form.

        Raises:
            LLMError: the model failed, usually for lack of memory.
        """
        # The template has written the special tokens already.
        most = min(self.max_new_tokens, max_tokens or self.max_new_tokens)
        sampling = self.generate_kwargs if temperature is None else _sampling(temperature)
        inputs = self._tokenizer(prompt, return_tensors="pt", add_special_tokens=False)

        def generate(emit: Callable[[str], None], stop: threading.Event) -> None:
            try:
                output = self._model.generate(
                    input_ids=inputs["input_ids"].to(self._model.device),
                    attention_mask=inputs["attention_mask"].to(self._model.device),
                    streamer=_Streamer(self._tokenizer, emit),
                    stopping_criteria=StoppingCriteriaList([_Stopped(stop)]),
                    max_new_tokens=most,
                    **sampling,
                )
            except RuntimeError as error:
                raise generation_failed(error) from error
            if output.shape[1] - inputs["input_ids"].shape[1] >= most:
                emit(LengthReached())

        return self._thread.stream(generate)


class _Streamer(TextStreamer):
    """Hands each finished piece of text on."""

    def __init__(self, tokenizer: Any, emit: Callable[[str], None]) -> None:
        super().__init__(tokenizer, skip_prompt=True, skip_special_tokens=True)
        self._emit = emit

    def on_finalized_text(self, text: str, stream_end: bool = False) -> None:  # noqa: ARG002  # the base class's signature
        if text:
            self._emit(text)


class _Stopped(StoppingCriteria):
    """Ends a generation once `stop` is set; asked after every token."""

    def __init__(self, stop: threading.Event) -> None:
        self._stop = stop

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor, **_: Any) -> torch.Tensor:  # noqa: ARG002  # as above
        return torch.full((input_ids.shape[0],), self._stop.is_set(), dtype=torch.bool, device=input_ids.device)


def load_huggingface(settings: LLMSettings) -> LoadedModel:
    """Load the model that the settings name.

    Raises:
        ModelError: it is missing, damaged, no chat model, or cannot be fetched.
        SettingsError: the device or 4-bit loading is not to be had here.
    """
    device = _device(settings.device)
    name, options = _source(settings, device)
    tokenizer_options = {key: options[key] for key in ("gguf_file", "local_files_only") if key in options}
    try:
        llm = StoppableHuggingFaceLLM(
            model_name=name,
            tokenizer_name=name,
            context_window=settings.context_tokens or MOST_TOKENS,
            max_new_tokens=settings.max_new_tokens,
            device_map=device,
            model_kwargs=options,
            tokenizer_kwargs=tokenizer_options,
            generate_kwargs=_sampling(settings.temperature),
            is_chat_model=True,
        )
        llm.templated([ChatMessage(role=MessageRole.USER, content="?")])
        llm.learn_roles()
    except (OSError, ValueError, RuntimeError, KeyError, ImportError, SafetensorError, struct.error) as error:
        raise _load_error(
            str(options.get("gguf_file", name)), error, local=bool(options.get("local_files_only"))
        ) from error
    label = f"{options.get('gguf_file', name)} on {device}" + (" in 4 bits" if settings.four_bit else "")
    # LlamaIndex lowers it to what the model was made for.
    return LoadedModel(llm, label, lambda: llm.context_window, llm.count_tokens, llm.control_tokens())


def _sampling(temperature: float) -> dict[str, Any]:
    return {"do_sample": True, "temperature": temperature, "top_p": TOP_P} if temperature else {"do_sample": False}


def _source(settings: LLMSettings, device: str) -> tuple[str, dict[str, Any]]:
    """Return the folder or hub id, and the options of `from_pretrained`."""
    options: dict[str, Any] = {"dtype": "auto", "use_safetensors": True}
    path = Path(settings.model).expanduser() if settings.model else packaged_gguf()
    if path.suffix.lower() == ".gguf" and path.is_file():
        if settings.four_bit:
            raise SettingsError("RAG_LLM__FOUR_BIT cannot be used with a GGUF file.", "A GGUF file has its own format.")
        return str(path.parent), {"gguf_file": path.name, "dtype": _unpacked_dtype(device), "local_files_only": True}
    if path.is_dir():
        options["local_files_only"] = True
    elif (
        path.is_absolute()
        or path.exists()
        or path.suffix.lower() == ".gguf"
        or len(path.parts) > 2
        or str(settings.model).startswith((".", "~"))
    ):
        raise ModelError(
            f"The model {path} does not exist.", "Set RAG_LLM__MODEL to a folder, a GGUF file or a hub id."
        )
    if settings.four_bit:
        if device == "cpu" or find_spec("bitsandbytes") is None:
            raise SettingsError(
                "RAG_LLM__FOUR_BIT needs a CUDA device and bitsandbytes.",
                "Run `pip install bitsandbytes` on a machine with a GPU, or unset it.",
            )
        options["quantization_config"] = BitsAndBytesConfig(  # type: ignore[no-untyped-call]
            load_in_4bit=True,
            bnb_4bit_quant_type="nf4",
            bnb_4bit_compute_dtype=torch.bfloat16,
            bnb_4bit_use_double_quant=True,
        )
    return str(path) if path.is_dir() else str(settings.model), options


def _unpacked_dtype(device: str) -> torch.dtype:
    """What a GGUF file is unpacked to: 16 bits wherever they are computed with, which is several times faster."""
    return torch.bfloat16 if device != "cpu" or multiplies_bf16() else torch.float32


def _device(wanted: str) -> str:
    if wanted == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    device = wanted.lower()
    if device != "cpu" and not device.startswith("cuda"):
        raise SettingsError(
            f"RAG_LLM__DEVICE={wanted} is not a device of transformers.", "Use auto, cpu, cuda or cuda:1."
        )
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise SettingsError(
            f"RAG_LLM__DEVICE={wanted}, but PyTorch sees no GPU.", "Set it to cpu, or install a CUDA build of PyTorch."
        )
    return device


def _load_error(name: str, error: Exception, *, local: bool) -> ModelError:
    reason = first_line(error)
    if "chat_template" in reason or "chat template" in reason:
        return ModelError(f"The model {name} has no usable chat template.", "Choose an instruct or chat model.")
    if local:
        return ModelError(f"The model {name} cannot be loaded: {reason}.", "Download it again, or choose another.")
    return ModelError(
        f"The model {name} cannot be fetched from the Hugging Face hub or loaded: {reason}.",
        "Check its name and the network, or set RAG_LLM__MODEL to a local folder or GGUF file.",
    )
