"""Run a model with OpenVINO GenAI: a GGUF file or a converted folder, on an Intel or AMD CPU or an Intel GPU.

Flow: `build.py` -> **here** -> a LlamaIndex LLM. Not the stock `OpenVINOGenAILLM`: that one shares a single streamer
between calls, applies the chat template twice and cannot be stopped.
"""

import threading
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import openvino_genai
from llama_index.core.base.llms.types import ChatMessage, LLMMetadata
from pydantic import PrivateAttr

from errors import ModelError, SettingsError
from query_engine.llms.base import TOP_P, LoadedModel
from query_engine.llms.gguf import exact_gguf, packaged_gguf, read_header
from query_engine.llms.local import MOST_TOKENS, TEMPLATE_OPTIONS, LocalLLM, ModelThread, first_line, generation_failed
from settings import LLMSettings

_FOLDER_FILES = ("openvino_model.xml", "openvino_model.bin", "openvino_tokenizer.xml", "openvino_detokenizer.xml")


class OpenVINOLLM(LocalLLM):
    """One pipeline, one generation at a time, each with its own streamer, stopped within one token."""

    provider: ClassVar[str] = "openvino"
    model_name: str
    context_window: int

    _pipeline: Any = PrivateAttr()
    _tokenizer: Any = PrivateAttr()
    _config: Any = PrivateAttr()
    _thread: ModelThread = PrivateAttr(default_factory=ModelThread)

    def __init__(self, pipeline: Any, settings: LLMSettings, **fields: Any) -> None:
        super().__init__(**fields)
        self._pipeline = pipeline
        self._tokenizer = pipeline.get_tokenizer()
        self._config = pipeline.get_generation_config()
        self._config.max_new_tokens = settings.max_new_tokens
        self._config.do_sample = settings.temperature > 0
        if settings.temperature > 0:
            self._config.temperature, self._config.top_p = settings.temperature, TOP_P

    @property
    def metadata(self) -> LLMMetadata:
        """What LlamaIndex wants to know."""
        return LLMMetadata(
            model_name=self.model_name,
            context_window=self.context_window,
            num_output=self._config.max_new_tokens,
            is_chat_model=True,
        )

    def templated(self, messages: Sequence[ChatMessage]) -> str:
        """Put messages into the form of the model's chat template, ready for its answer."""
        history = [{"role": message.role.value, "content": message.content or ""} for message in messages]
        prompt: str = self._tokenizer.apply_chat_template(
            history, add_generation_prompt=True, extra_context=TEMPLATE_OPTIONS
        )
        return prompt

    def count_tokens(self, text: str) -> int:
        """Length of a text."""
        return int(self._tokenizer.encode(text, add_special_tokens=False).input_ids.shape[1])

    def control_tokens(self) -> tuple[str, ...]:
        """The tokenizer's special tokens: those that it leaves out when it decodes."""
        names = {number: name for name, number in self._tokenizer.get_vocab().items()}
        numbers = sorted(names)
        texts = self._tokenizer.decode([[number] for number in numbers], skip_special_tokens=True)
        silent = [names[number] for number, text in zip(numbers, texts, strict=True) if not text]
        # Pieces of a character decode to nothing too; they are not UTF-8.
        decoded = (name if isinstance(name, str) else name.decode("utf-8", errors="ignore") for name in silent)
        return tuple(name for name in decoded if len(name) > 1)

    def pieces(self, prompt: str) -> Generator[str, None, None]:
        """Generate from a prompt that already has the chat template's form.

        Raises:
            LLMError: the model failed.
        """
        tokens = self._tokenizer.encode(prompt, add_special_tokens=False)

        def generate(emit: Callable[[str], None], stop: threading.Event) -> None:
            try:
                self._pipeline.generate(tokens, self._config, _Streamer(self._tokenizer, emit, stop))
            except RuntimeError as error:
                raise generation_failed(error) from error

        return self._thread.stream(generate)


class _Streamer(openvino_genai.TextStreamer):  # type: ignore[misc]  # the library has no types
    """Hands finished text on. The library asks `_show` alone: an overridden `write` it never calls."""

    def __init__(self, tokenizer: Any, emit: Callable[[str], None], stop: threading.Event) -> None:
        super().__init__(tokenizer, self._show)
        self._emit = emit
        self._stop = stop

    def _show(self, text: str) -> openvino_genai.StreamingStatus:
        if self._stop.is_set():
            return openvino_genai.StreamingStatus.CANCEL
        if text:
            self._emit(text)
        return openvino_genai.StreamingStatus.RUNNING


def load_openvino(settings: LLMSettings, cache_dir: Path) -> LoadedModel:
    """Load the model that the settings name; a GGUF file may first be converted into `cache_dir`, once.

    Raises:
        ModelError: it is missing or damaged.
        SettingsError: the settings ask for what OpenVINO cannot do.
    """
    if settings.four_bit:
        raise SettingsError("RAG_LLM__FOUR_BIT is for the provider huggingface.", "Unset it.")
    device = "CPU" if settings.device.lower() in {"auto", "cpu"} else settings.device.upper()
    path = Path(settings.model).expanduser() if settings.model else packaged_gguf()
    source, context_tokens = _checked(path, cache_dir)
    try:
        pipeline = openvino_genai.LLMPipeline(str(source), device)
        llm = OpenVINOLLM(
            pipeline,
            settings,
            model_name=path.name,
            context_window=min(settings.context_tokens or MOST_TOKENS, context_tokens or MOST_TOKENS),
        )
        llm.templated([ChatMessage(content="?")])
        llm.learn_roles()
    except RuntimeError as error:
        raise ModelError(
            f"OpenVINO cannot load the model {path} on {device}: {first_line(error)}.",
            "Download it again, choose another model, or set RAG_LLM__DEVICE=CPU.",
        ) from error
    return LoadedModel(
        llm, f"{path.name} on OpenVINO {device}", lambda: llm.context_window, llm.count_tokens, llm.control_tokens()
    )


def _checked(path: Path, cache_dir: Path) -> tuple[Path, int | None]:
    """Return what to load and the model's own context window, if it states one."""
    if path.is_dir():
        missing = [name for name in _FOLDER_FILES if not (path / name).is_file()]
        if missing:
            raise ModelError(
                f"The folder {path} is not an OpenVINO model: {missing[0]} is missing.",
                "Convert the model with `optimum-cli export openvino`, or choose a GGUF file.",
            )
        return path, None
    if path.suffix.lower() != ".gguf":
        raise ModelError(
            f"The OpenVINO model {path} does not exist.", "Set RAG_LLM__MODEL to a GGUF file or a converted folder."
        )
    header = read_header(path)
    exact = exact_gguf(path, header, cache_dir)
    if exact != path:
        read_header(exact)
    return exact, header.context_tokens
