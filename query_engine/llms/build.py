"""Settings -> a language model.

Flow: `synthesis/build.py` -> **here** -> the provider's module. Only the chosen provider's library is imported: they
take seconds and hundreds of megabytes.
"""

from errors import INSTALL_TORCH, SettingsError, packages_for
from query_engine.llms.base import LoadedModel
from settings import Settings


def build_model(settings: Settings) -> LoadedModel:
    """Load or reach the language model that `settings.llm` names.

    Raises:
        SettingsError: the settings contradict each other, or name no language model.
        ModelError: a model file is missing or damaged, or the library that runs it is not installed.
    """
    match settings.llm.provider:
        case "huggingface":
            with packages_for("RAG_LLM__PROVIDER=huggingface", INSTALL_TORCH):
                from query_engine.llms.huggingface import load_huggingface  # noqa: PLC0415
            return load_huggingface(settings.llm)
        case "openai" | "ollama":
            from query_engine.llms.openai import connect_openai  # noqa: PLC0415

            return connect_openai(settings.llm)
        case _:
            raise SettingsError(
                "RAG_LLM__PROVIDER=extractive uses no language model.", "Set it to huggingface, ollama or openai."
            )
