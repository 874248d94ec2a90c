"""Settings -> the reranker, or none.

Flow: `query_engine/build.py` -> **here** -> `cross_encoder.py`, `listwise.py` or `server.py`. Only what is
chosen is imported.
"""

import logging
from collections.abc import Sequence
from typing import NoReturn

from errors import INSTALL_TORCH, ModelError, SettingsError, packages_for
from query_engine.llms.base import LoadedModel
from query_engine.llms.helper import PromptHelper
from query_engine.retrieval.reranking.base import Reranker
from query_engine.retrieval.reranking.listwise import TOKENS_PER_NUMBER, ListwiseReranker
from query_engine.runtime.deadline import Deadline
from settings import RerankSettings, Settings

logger = logging.getLogger(__name__)

# Passages that a language model ranks in one call; the next call keeps half of them.
WINDOW = 10


class Unavailable:
    """A reranker that could not be loaded: says why whenever it is asked.

    Raised at the start, the same error would stop a service that works without it.
    """

    def __init__(self, name: str, error: ModelError) -> None:
        self.name = name
        self._error = error

    def score(self, question: str, texts: Sequence[str], deadline: Deadline) -> NoReturn:  # noqa: ARG002  # protocol
        """Raise ModelError: the reason."""
        raise ModelError(self._error.fact, self._error.remedy)


def build_reranker(settings: Settings, model: LoadedModel | None) -> Reranker | None:
    """Load what `settings.rerank` names.

    Args:
        settings: all of them.
        model: the configured language model, if there is one.

    Returns:
        None if reranking is off; `Unavailable` where a cross-encoder cannot be loaded.

    Raises:
        SettingsError: the settings contradict each other.
    """
    options = settings.rerank
    match options.method:
        case "listwise":
            return _listwise(settings, model)
        case "http" | "tei":
            return _served(options)
        case "none":
            return None
        case None if options.model is None:
            return None
    if options.model is None:
        raise SettingsError(
            "RAG_RERANK__METHOD=cross_encoder needs RAG_RERANK__MODEL.",
            "Set it to a folder or hub id, for example cross-encoder/ms-marco-MiniLM-L6-v2.",
        )
    try:
        return _cross_encoder(options.model)
    except ModelError as error:
        logger.warning("Passages are not reranked: %s", error)
        return Unavailable("cross_encoder", error)


def _cross_encoder(model: str) -> Reranker:
    with packages_for("A cross-encoder", INSTALL_TORCH):
        from query_engine.retrieval.reranking.cross_encoder import CrossEncoderReranker  # noqa: PLC0415  # seconds to import
    return CrossEncoderReranker(model)


def _served(options: RerankSettings) -> Reranker:
    needed = {"BASE_URL": options.base_url} | ({"MODEL": options.model} if options.method == "http" else {})
    for name, value in needed.items():
        if value is None:
            raise SettingsError(
                f"RAG_RERANK__METHOD={options.method} needs RAG_RERANK__{name}.",
                "Set it, for example to http://127.0.0.1:8002/v1."
                if name == "BASE_URL"
                else "Set it to the name that the server knows the model by.",
            )
    base_url, key = options.base_url or "", options.api_key.get_secret_value() if options.api_key else ""
    from query_engine.retrieval.reranking import server  # noqa: PLC0415  # httpx takes its time

    reranker = server.TEIReranker if options.method == "tei" else server.ServerReranker
    return reranker(base_url, options.model or "", key)


def _listwise(settings: Settings, model: LoadedModel | None) -> Reranker:
    if model is None:
        raise SettingsError(
            "RAG_RERANK__METHOD=listwise needs a language model.",
            "Set RAG_LLM__PROVIDER to huggingface, ollama or openai.",
        )
    reply_tokens = WINDOW * TOKENS_PER_NUMBER
    if reply_tokens > settings.llm.max_new_tokens:
        raise SettingsError(
            f"Ranking {WINDOW} passages takes {reply_tokens} tokens; "
            f"RAG_LLM__MAX_NEW_TOKENS={settings.llm.max_new_tokens} allows fewer.",
            "Raise it.",
        )
    return ListwiseReranker(PromptHelper(model, settings.llm.max_new_tokens), WINDOW, WINDOW // 2)
