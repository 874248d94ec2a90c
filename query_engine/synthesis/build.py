"""Settings -> the language models: who writes the answer, who takes over, and who helps with the question.

Flow: `build.py` -> **here** -> `llms/build.py`. Those that write unasked, or help, are loaded at the start, so that a
missing one stops it rather than an answer; those of `RAG_LLM__WRITERS` when they are first chosen, so that one that
nobody asks for costs nothing. The extractive synthesizer, who comes after all of them, is `build.py`'s.
"""

import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import SecretStr

from errors import RagError, SettingsError
from query_engine.llms.base import LoadedModel
from settings import LLMSettings, Settings

if TYPE_CHECKING:
    from query_engine.synthesis.generative import GenerativeSynthesizer

# Less room than this for the prompt leaves nothing for documents.
MIN_PROMPT_TOKENS = 384
# The provider without a language model, and the synthesizer that writes then.
EXTRACTIVE = "extractive"
# Names the quotes where a client may choose who writes; the synthesizer's own name does so as well.
QUOTES = "quotes"

logger = logging.getLogger(__name__)


class OnDemand:
    """A language model that is loaded when it is first asked for; safe from many threads.

    Args:
        load: returns who writes with it, and the model itself.

    Attributes:
        loaded: what `load` returned; None before.
    """

    def __init__(self, load: "Callable[[], tuple[GenerativeSynthesizer, LoadedModel]]") -> None:
        self._load = load
        self._loading = threading.Lock()
        self.loaded: tuple[GenerativeSynthesizer, LoadedModel] | None = None

    def get(self) -> "tuple[GenerativeSynthesizer, LoadedModel]":
        """Return what `load` returns; blocks while it loads.

        Raises:
            SettingsError, ModelError: from `load`, which is called again the next time.
        """
        with self._loading:
            self.loaded = self.loaded or self._load()
            return self.loaded


@dataclass(frozen=True, slots=True)
class LanguageModels:
    """The models that work on a question.

    Attributes:
        writers: in the order in which they are asked; empty where answers are quotes.
        query_model: plans, rephrases, condenses and ranks; None if there is no such model.
        named: those that may be chosen to write first, by name.
        helps_all: whether the query model helps every writer; if not, a chosen one helps itself.
    """

    writers: "tuple[GenerativeSynthesizer, ...]" = ()
    query_model: LoadedModel | None = None
    named: Mapping[str, OnDemand] = field(default_factory=dict)
    helps_all: bool = False

    def chosen(self, name: str | None) -> "LanguageModels":
        """Return the models for an answer by this writer, which is loaded if need be.

        Args:
            name: see `writer_names`. A model has the fallbacks of the settings; quotes have no help of a model. None
                leaves it to the settings.

        Raises:
            RagError: no writer has this name.
            SettingsError, ModelError: its model cannot be loaded.
        """
        if name is None:
            return self
        if name in {QUOTES, EXTRACTIVE}:
            return LanguageModels()
        if name not in self.named:
            raise _unknown_writer(name, [*self.named, QUOTES])
        writer, model = self.named[name].get()
        fallbacks = (other for other in self.writers[1:] if other is not writer)
        return LanguageModels((writer, *fallbacks), self.query_model if self.helps_all else model)

    def is_loaded(self, name: str | None) -> bool:
        """Return whether `chosen` has nothing to load."""
        one = self.named.get(name or "")
        return one is None or one.loaded is not None

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
    if llm.provider == EXTRACTIVE and llm.fallbacks:
        raise SettingsError(
            "RAG_LLM__FALLBACKS names models that take over, but RAG_LLM__PROVIDER names none that could fail.",
            "Set RAG_LLM__PROVIDER, or unset RAG_LLM__FALLBACKS.",
        )
    others = [*_entries(llm.fallbacks), *_entries(llm.writers), llm.query_model or ""]
    if unnamed := _other_keys(llm).keys() - {other.partition("@")[2] for other in others}:
        raise SettingsError(
            f"RAG_LLM__OTHER_KEYS holds a key for {min(unnamed)}, which no model is asked at.",
            "Write the URL as RAG_LLM__FALLBACKS, RAG_LLM__WRITERS or RAG_LLM__QUERY_MODEL writes it.",
        )
    _check_writers(llm)
    unasked = [OnDemand(partial(_load, settings, one)) for one in _unasked(llm)]
    writers = tuple(one.get()[0] for one in unasked)
    named: dict[str, OnDemand] = {}
    for one, model in zip(_unasked(llm), unasked, strict=True):
        named.setdefault(_writer_name(one), model)
    named |= {name: OnDemand(partial(_load, settings, one)) for name, one in _to_choose(llm).items()}
    query_model = unasked[0].get()[1] if unasked else None
    if llm.query_model is not None:
        from query_engine.llms.build import build_model  # noqa: PLC0415  # quoting needs no model

        query_model = build_model(settings.model_copy(update={"llm": other_model(llm, llm.query_model)}))
    return LanguageModels(writers, query_model, named, helps_all=llm.query_model is not None)


def writer_names(llm: LLMSettings) -> list[str]:
    """Return the names by which a client may choose who writes; the first one writes where none is chosen."""
    models = list(dict.fromkeys([*map(_writer_name, _unasked(llm)), *_to_choose(llm)]))
    return [QUOTES, *models] if llm.provider == EXTRACTIVE else [*models, QUOTES]


def check_writer(llm: LLMSettings, name: str | None) -> None:
    """Raise RagError if a client may not choose this name; None chooses nothing."""
    known = writer_names(llm)
    if name is not None and name not in {EXTRACTIVE, *known}:
        raise _unknown_writer(name, known)


def _unknown_writer(name: str, known: list[str]) -> RagError:
    fact, remedy = f"This service has no writer {name!r}.", f"Name one of {', '.join(known)}, or leave it out."
    return RagError(fact, remedy, "unknown_writer")


def has_model(llm: LLMSettings, name: str | None) -> bool:
    """Say whether a language model writes where this writer, one of `writer_names`, or None is chosen."""
    return (name or writer_names(llm)[0]) not in {QUOTES, EXTRACTIVE}


def public_name(llm: LLMSettings) -> str | None:
    """Return the name of a model; None where the settings name none.

    Of a folder or file only its name: its place on the machine is not disclosed.
    """
    if llm.provider == EXTRACTIVE or llm.model is None:
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
    return GenerativeSynthesizer(llm.provider, model.llm, prompts, max_words=llm.max_words)


def other_model(llm: LLMSettings, name: str) -> LLMSettings:
    """Return the settings of a model that is named `PROVIDER:MODEL@URL`; what the name leaves out is as in `llm`.

    A key goes to the server it was set for, and to no other.
    """
    named, _, url = name.partition("@")
    provider, _, model = named.partition(":")
    # Ollama has an address of its own, which that of another server must not replace.
    base_url = url or (llm.base_url if provider != "ollama" or llm.provider == "ollama" else None)
    return llm.model_copy(
        update={
            "provider": provider,
            "model": model or (llm.model if provider == llm.provider else None),
            "base_url": base_url,
            "api_key": _other_keys(llm).get(url) or (llm.api_key if base_url == llm.base_url else None),
            "four_bit": llm.four_bit and provider == "huggingface",
        }
    )


def _load(settings: Settings, llm: LLMSettings) -> "tuple[GenerativeSynthesizer, LoadedModel]":
    from query_engine.llms.build import build_model  # noqa: PLC0415  # quoting needs no model

    of_one = settings.model_copy(update={"llm": llm})
    model = build_model(of_one)
    logger.info("Answers can be written by %s", model.label)
    return build_synthesizer(of_one, model), model


def _unasked(llm: LLMSettings) -> list[LLMSettings]:
    """Return the models that write where none is chosen, as they are asked."""
    return [] if llm.provider == EXTRACTIVE else [llm, *(other_model(llm, name) for name in _entries(llm.fallbacks))]


def _to_choose(llm: LLMSettings) -> dict[str, LLMSettings]:
    """Return the models of `RAG_LLM__WRITERS` by name."""
    pairs = (entry.partition("=") for entry in _entries(llm.writers))
    return {name: other_model(llm, model) for name, _, model in pairs}


def _check_writers(llm: LLMSettings) -> None:
    """Raise SettingsError for what would otherwise fail only when it is chosen, and be a client's problem."""
    names = [entry.partition("=")[0] for entry in _entries(llm.writers)]
    taken = [EXTRACTIVE, QUOTES, *map(_writer_name, _unasked(llm))]
    if twice := [name for place, name in enumerate(names) if name in taken + names[:place]]:
        raise SettingsError(f"RAG_LLM__WRITERS: {twice[0]} names another writer already.", "Choose another name.")
    for name, one in _to_choose(llm).items():
        served = one.provider in {"openai", "ollama"}
        if served and (one.model is None or (one.provider == "openai" and one.base_url is None)):
            raise SettingsError(
                f"RAG_LLM__WRITERS: {name} needs a model, and `openai` its server.",
                f"Write {name}=openai:MODEL@http://host/v1 or {name}=ollama:MODEL.",
            )


def _writer_name(llm: LLMSettings) -> str:
    return public_name(llm) or llm.provider


def _other_keys(llm: LLMSettings) -> dict[str, SecretStr]:
    pairs = llm.other_keys.get_secret_value().split(",") if llm.other_keys else []
    return {url: SecretStr(key) for url, _, key in (pair.partition("=") for pair in pairs)}


def _entries(listed: str | None) -> list[str]:
    return [entry.strip() for entry in (listed or "").split(",") if entry.strip()]
