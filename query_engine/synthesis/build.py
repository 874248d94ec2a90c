"""Settings -> the language models: who writes the answer, who takes over, and who helps with the question.

Flow: `build.py` -> **here** -> `llms/build.py`. All are loaded at the start, so that a missing one stops it rather
than an answer. The extractive synthesizer, who comes after all of them, is `build.py`'s.
"""

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import SecretStr

from errors import SettingsError, UnknownModelError
from query_engine.llms.base import LoadedModel
from query_engine.synthesis.health import MonitoredSynthesizer
from settings import LLMSettings, Settings

if TYPE_CHECKING:
    from query_engine.synthesis.generative import GenerativeSynthesizer

# Less room than this for the prompt leaves nothing for documents.
MIN_PROMPT_TOKENS = 384
# Names the quotes where a client may choose who writes.
QUOTES = "extractive"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LanguageModels:
    """The models of one process.

    Attributes:
        writers: in the order in which they are asked; empty where answers are quotes.
        query_model: plans, rephrases, condenses and ranks; None if there is no such model.
        names: of the writers, in their order, see `writer_names`.
    """

    writers: tuple[MonitoredSynthesizer, ...] = ()
    query_model: LoadedModel | None = None
    names: tuple[str, ...] = ()

    def chosen(self, name: str | None) -> tuple[MonitoredSynthesizer, ...]:
        """Return the writers of this name: none for quotes, all for None.

        Raises:
            UnknownModelError: there is none of this name.
        """
        if name is None:
            return self.writers
        if name not in (QUOTES, *self.names):
            raise UnknownModelError.of(name, [QUOTES, *self.names], "Choose another.")
        return tuple(writer for writer, known in zip(self.writers, self.names, strict=True) if known == name)

    @property
    def ready(self) -> bool:
        """Whether a model is expected to write the next answer, or none is set."""
        return not self.writers or any(writer.ready for writer in self.writers)

    @property
    def reason(self) -> str:
        """How the writers did when they were last used, as a sentence."""
        if not self.writers:
            return "No language model is used: answers are quotes."
        if len(self.writers) == 1:
            return self.writers[0].reason
        return " ".join(f"{place}. {writer.name}: {writer.reason}" for place, writer in enumerate(self.writers, 1))


def build_language_models(settings: Settings) -> LanguageModels:
    """Load or reach the models that `settings.llm` names.

    Args:
        settings: all of them.

    Raises:
        SettingsError: the settings contradict each other.
        ModelError: a model is missing or damaged.
    """
    llm = settings.llm
    if llm.provider == "extractive" and llm.fallbacks:
        raise SettingsError(
            "RAG_LLM__FALLBACKS names models that take over, but RAG_LLM__PROVIDER names none that could fail.",
            "Set RAG_LLM__PROVIDER, or unset RAG_LLM__FALLBACKS.",
        )
    named = {name.partition("@")[2] for name in [*_names(llm), llm.query_model or ""]}
    if unnamed := _other_keys(llm).keys() - named:
        raise SettingsError(
            f"RAG_LLM__OTHER_KEYS holds a key for {min(unnamed)}, which no model is asked at.",
            "Write the URL as RAG_LLM__FALLBACKS or RAG_LLM__QUERY_MODEL writes it.",
        )
    chosen = [] if llm.provider == "extractive" else [llm, *(other_model(llm, name) for name in _names(llm))]
    if not chosen and llm.query_model is None:
        return LanguageModels()
    from query_engine.llms.build import build_model  # noqa: PLC0415  # quoting needs no model

    writers, models = [], []
    for one in chosen:
        of_one = settings.model_copy(update={"llm": one})
        models.append(build_model(of_one))
        logger.info("Answers are written by %s", models[-1].label)
        writers.append(MonitoredSynthesizer(build_synthesizer(of_one, models[-1])))
    if llm.query_model is not None:
        query_model = build_model(settings.model_copy(update={"llm": other_model(llm, llm.query_model)}))
    else:
        query_model = models[0]
    return LanguageModels(tuple(writers), query_model, tuple(map(_writer_name, chosen)))


def writer_names(llm: LLMSettings) -> list[str]:
    """Return the names by which a client may choose who writes: quotes first, then models as they are asked."""
    if llm.provider == QUOTES:
        return [QUOTES]
    return [QUOTES, *map(_writer_name, [llm, *(other_model(llm, name) for name in _names(llm))])]


def public_name(llm: LLMSettings) -> str | None:
    """Return the name of a model; None where the settings name none.

    Of a folder or file only its name: its place on the machine is not disclosed.
    """
    if llm.provider == QUOTES or llm.model is None:
        return None
    here = llm.provider not in {"openai", "ollama"} and Path(llm.model).exists()
    return Path(llm.model).name if here else llm.model


def build_synthesizer(settings: Settings, model: LoadedModel) -> "GenerativeSynthesizer":
    """Return the synthesizer that writes with a language model.

    Args:
        settings: all of them.
        model: made by `build_model`.

    Raises:
        SettingsError: the answer's length leaves no room for a prompt.
    """
    from query_engine.prompting.builder import PromptBuilder  # noqa: PLC0415  # quoting needs none of these
    from query_engine.synthesis.generative import GenerativeSynthesizer  # noqa: PLC0415

    known, answer_tokens = settings.llm.context_tokens, settings.llm.max_new_tokens
    if known is not None and known - answer_tokens < MIN_PROMPT_TOKENS:
        raise SettingsError(
            f"RAG_LLM__MAX_NEW_TOKENS={answer_tokens} leaves {max(0, known - answer_tokens)} tokens "
            f"of the model's {known} for the prompt.",
            "Lower it, or raise RAG_LLM__CONTEXT_TOKENS if the model allows it.",
        )
    prompts = PromptBuilder(
        max_context_chars=settings.answer.max_context_chars,
        max_prompt_tokens=lambda: model.window() - min(answer_tokens, model.window() // 2),
        count_tokens=model.count_tokens,
        control_tokens=model.control_tokens,
        style=settings.llm.prompt,
    )
    llm = settings.llm
    return GenerativeSynthesizer(llm.provider, model.label, model.llm, prompts, max_words=llm.max_words)


def other_model(llm: LLMSettings, name: str) -> LLMSettings:
    """Return the settings of a model that is named `PROVIDER:MODEL@URL`; what the name leaves out is as in `llm`.

    A key goes to the server it was set for, and to no other.
    """
    named, _, url = name.partition("@")
    provider, _, model = named.partition(":")
    base_url = url or llm.base_url
    return llm.model_copy(
        update={
            "provider": provider,
            "model": model or (llm.model if provider == llm.provider else None),
            "base_url": base_url,
            "api_key": _other_keys(llm).get(url) or (llm.api_key if base_url == llm.base_url else None),
            "four_bit": llm.four_bit and provider == "huggingface",
        }
    )


def _writer_name(llm: LLMSettings) -> str:
    return public_name(llm) or llm.provider


def _other_keys(llm: LLMSettings) -> dict[str, SecretStr]:
    pairs = llm.other_keys.get_secret_value().split(",") if llm.other_keys else []
    return {url: SecretStr(key) for url, _, key in (pair.partition("=") for pair in pairs)}


def _names(llm: LLMSettings) -> list[str]:
    return [name.strip() for name in (llm.fallbacks or "").split(",") if name.strip()]
