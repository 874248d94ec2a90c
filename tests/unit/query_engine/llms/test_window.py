"""How large a served model's context window is, as each kind of server tells it."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import httpx
import pytest

from query_engine.llms.window import ASSUMED_TOKENS, OLLAMA_TOKENS, ServedWindow

URL = "http://127.0.0.1:1/v1"


def window_of(monkeypatch: pytest.MonkeyPatch, replies: Mapping[str, Any]) -> tuple[ServedWindow, list[str]]:
    """Return the window of model `m` on a server that has these addresses, and what it was asked."""
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.path)
        if replies is DOWN:
            raise httpx.ConnectError("refused")
        reply = replies.get(request.url.path)
        return httpx.Response(404) if reply is None else httpx.Response(200, json=reply)

    monkeypatch.setattr(httpx, "Client", partial(httpx.Client, transport=httpx.MockTransport(answer)))
    return ServedWindow(URL, "m", "key"), asked


DOWN: Mapping[str, Any] = {"down": True}


@pytest.mark.parametrize(
    ("replies", "tokens"),
    [
        ({"/v1/models": {"data": [{"id": "other", "max_model_len": 9}, {"id": "m", "max_model_len": 20_000}]}}, 20_000),
        ({"/v1/models": {"data": [{"id": "m"}]}, "/props": {"default_generation_settings": {"n_ctx": 6144}}}, 6144),
        ({"/api/ps": {"models": [{"name": "m:latest", "context_length": 8192}]}}, 8192),
        ({"/v1/models": {"data": [{"id": "m", "context_window": 131_072}]}}, 131_072),
        ({"/v1/models": {"data": [{"id": "m"}]}}, ASSUMED_TOKENS),
        ({"/v1/models": ["m"], "/props": "none"}, ASSUMED_TOKENS),
        ({}, ASSUMED_TOKENS),
    ],
    ids=["vLLM", "llama.cpp", "Ollama", "a hosted one", "one that does not say", "one that says nonsense", "nothing"],
)
def test_each_kind_of_server_is_asked_its_way_and_once(
    monkeypatch: pytest.MonkeyPatch, replies: Mapping[str, Any], tokens: int
) -> None:
    window, asked = window_of(monkeypatch, replies)

    assert window.tokens() == tokens
    before = len(asked)
    assert (window.tokens(), len(asked)) == (tokens, before)


def test_what_ollama_has_not_loaded_yet_has_the_window_that_it_would_load(monkeypatch: pytest.MonkeyPatch) -> None:
    replies: dict[str, Any] = {"/api/ps": {"models": []}}
    window, _ = window_of(monkeypatch, replies)
    monkeypatch.setattr("query_engine.llms.window.RETRY_S", 0)

    assert window.tokens() == OLLAMA_TOKENS
    replies["/api/ps"] = {"models": [{"model": "m", "context_length": 16_384}]}
    assert window.tokens() == 16_384


def test_a_server_that_is_down_is_asked_again_later(monkeypatch: pytest.MonkeyPatch) -> None:
    window, asked = window_of(monkeypatch, DOWN)

    assert window.tokens() == ASSUMED_TOKENS
    assert window.tokens() == ASSUMED_TOKENS
    assert len(asked) == 1
    monkeypatch.setattr("query_engine.llms.window.RETRY_S", 0)
    monkeypatch.setattr(window, "_next_s", 0.0)
    window.tokens()
    assert len(asked) == 2
