"""Settings -> a synthesizer that writes with a language model.

Flow: `query_engine/build.py` -> **here** -> `generative.py`. Only the chosen provider's library is imported: they take
seconds and hundreds of megabytes.
"""

import logging

from llama_index.core.base.embeddings.base import BaseEmbedding

from errors import ModelError, SettingsError
from query_engine.drafting import Rules
from query_engine.generative import GenerativeSynthesizer
from query_engine.llms.model import LoadedModel
from query_engine.prompting import PromptBuilder
from settings import Settings

# Less room than this for the prompt leaves nothing for documents.
MIN_PROMPT_TOKENS = 384
# What the template `short` promises.
SHORT_WORDS = 50

logger = logging.getLogger(__name__)


def build_model(settings: Settings) -> LoadedModel:
    """Load or reach the language model that `settings.llm` names.

    Raises:
        SettingsError: the settings contradict each other, or name no language model.
        ModelError: a model file is missing or damaged, or the library that runs it is not installed.
    """
    match settings.llm.provider:
        case "huggingface":
            try:
                from query_engine.llms.huggingface import load_huggingface  # noqa: PLC0415
            except ModuleNotFoundError as error:
                raise ModelError(
                    f"RAG_LLM__PROVIDER=huggingface needs {error.name}, which is not installed.",
                    "Install requirements-torch.txt, or build the image with KEEP_TORCH=true.",
                ) from error
            return load_huggingface(settings.llm)
        case "openvino":
            from query_engine.llms.openvino import load_openvino  # noqa: PLC0415

            return load_openvino(settings.llm, settings.embed.cache_dir)
        case "openai":
            from query_engine.llms.openai import connect_openai  # noqa: PLC0415

            return connect_openai(settings.llm)
        case _:
            raise SettingsError(
                "RAG_LLM__PROVIDER=extractive uses no language model.", "Set it to huggingface, openvino or openai."
            )


def build_synthesizer(settings: Settings, model: LoadedModel, embedder: BaseEmbedding) -> GenerativeSynthesizer:
    """Return the author that writes with a language model.

    Args:
        settings: all of them.
        model: made by `build_model`.
        embedder: the corpora's own; compares what is written with the passages.

    Raises:
        SettingsError: the answer's length leaves no room for a prompt.
    """
    prompt_tokens = model.context_tokens - settings.llm.max_new_tokens
    if prompt_tokens < MIN_PROMPT_TOKENS:
        raise SettingsError(
            f"RAG_LLM__MAX_NEW_TOKENS={settings.llm.max_new_tokens} leaves {max(0, prompt_tokens)} tokens "
            f"of the model's {model.context_tokens} for the prompt.",
            "Lower it, or raise RAG_LLM__CONTEXT_TOKENS if the model allows it.",
        )
    prompts = PromptBuilder(
        max_context_chars=settings.answer.max_context_chars,
        max_prompt_tokens=prompt_tokens,
        count_tokens=model.count_tokens,
        control_tokens=model.control_tokens,
        style=settings.llm.prompt,
    )
    rules = Rules(settings.llm.grounding, SHORT_WORDS if settings.llm.prompt == "short" else None)
    logger.info("Answers are written by %s", model.label)
    tree = settings.llm.long_evidence == "tree"
    name, label = settings.llm.provider, model.label
    return GenerativeSynthesizer(name, label, model.llm, prompts, embedder=embedder, rules=rules, tree=tree)
