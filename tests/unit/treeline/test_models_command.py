"""`treeline models` lists what answers, and the lines that it prints are settings."""

from urllib.parse import urlsplit

import pytest

from settings import load_settings
from tests.servers.scripted_llm import ScriptedLLM
from treeline.models_command import Server, found


@pytest.mark.parametrize("provider", ["ollama", "openai"])
def test_the_lines_for_a_server_that_answers_are_settings(
    server: ScriptedLLM, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = urlsplit(server.base_url).port
    assert port is not None

    (told,) = found([Server("Some server", provider, port), Server("Nothing", "openai", 9)])

    for line in told.splitlines()[1:]:
        name, _, value = line.strip().partition("=")
        monkeypatch.setenv(name, value)
    llm = load_settings().llm
    assert (llm.provider, llm.model) == (provider, server.model)
    assert llm.base_url == (server.base_url if provider == "openai" else None)
