"""Ask a model's server how many tokens prompt and answer may have together.

Flow: `openai.py` -> **here** -> vLLM's and LM Studio's list of models, llama.cpp's `/props`, Ollama's `/api/ps`. What a
model was made for (`/api/show`, `n_ctx_train`) is not read: Ollama loads less of it, and cuts longer prompts silently.
"""

import logging
import time
from collections.abc import Iterator
from typing import Any

import httpx

from loopback import may_use_proxy

# Of servers that say nothing, the hosted ones: all of them have more.
ASSUMED_TOKENS = 32_768
# What Ollama loads where nothing else is set, until it has loaded the model and says.
OLLAMA_TOKENS = 4096
TIMEOUT_S = 2.0
# Until then a server that could not say is not asked again.
RETRY_S = 30.0
_LISTED = ("max_model_len", "loaded_context_length", "context_length", "context_window")

logger = logging.getLogger(__name__)


class ServedWindow:
    """The context window of one model on a server; safe from many threads.

    Args:
        base_url: ends in `/v1`.
        model: as the server names it.
        api_key: None where the server has none.
    """

    def __init__(self, base_url: str, model: str, api_key: str | None) -> None:
        self._base = base_url.rstrip("/")
        self._model = model
        self._headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._tokens = ASSUMED_TOKENS
        self._known = False
        self._next_s = 0.0  # on the monotonic clock

    def tokens(self) -> int:
        """Return it; asks the server until it has said, and so may block for some seconds."""
        if not self._known and time.monotonic() >= self._next_s:
            self._next_s = time.monotonic() + RETRY_S
            try:
                with httpx.Client(
                    timeout=TIMEOUT_S, headers=self._headers, trust_env=may_use_proxy(self._base)
                ) as client:
                    self._ask(client)
            except httpx.HTTPError as error:
                logger.info("The server of %s does not tell its context window: %s", self._model, error)
        return self._tokens

    def _ask(self, client: httpx.Client) -> None:
        root = self._base.removesuffix("/v1")
        loaded = _json(client, f"{root}/api/ps")
        if isinstance(loaded.get("models"), list):  # Ollama
            self._take(_of(loaded["models"], self._model), ("context_length",))
            self._tokens = self._tokens if self._known else OLLAMA_TOKENS
            return
        self._take(_of(_json(client, f"{self._base}/models").get("data"), self._model), _LISTED)
        if not self._known:
            self._take(_dict(_json(client, f"{root}/props").get("default_generation_settings")), ("n_ctx",))
        self._known = True  # also that it says nothing

    def _take(self, told: dict[str, Any], names: tuple[str, ...]) -> None:
        for name in names:
            if isinstance(told.get(name), int) and told[name] > 0:
                self._tokens, self._known = told[name], True
                return


def _json(client: httpx.Client, url: str) -> dict[str, Any]:
    """Return what stands at an address; nothing where the server knows no such address."""
    response = client.get(url)
    try:
        return _dict(response.json()) if response.is_success else {}
    except ValueError:
        return {}


def _of(models: object, name: str) -> dict[str, Any]:
    listed = list(_dicts(models))
    names = {name, f"{name}:latest"}
    return next((one for one in listed if names & {one.get("id"), one.get("name"), one.get("model")}), {})


def _dicts(found: object) -> Iterator[dict[str, Any]]:
    yield from (one for one in found if isinstance(one, dict)) if isinstance(found, list) else ()


def _dict(found: object) -> dict[str, Any]:
    return found if isinstance(found, dict) else {}
