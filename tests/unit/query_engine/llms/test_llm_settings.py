import subprocess
import sys
from pathlib import Path

import pytest

from errors import ModelError, SettingsError
from query_engine.llms.build import build_model
from query_engine.synthesis.build import build_synthesizer
from query_engine.synthesis.generative import GenerativeSynthesizer
from settings import LLMSettings, Settings

HOME = Path(__file__).parents[4]


def synthesizer_of(llm: LLMSettings) -> GenerativeSynthesizer:
    settings = Settings(llm=llm)
    return build_synthesizer(settings, build_model(settings))


@pytest.mark.parametrize(
    ("llm", "fact"),
    [
        (LLMSettings(), "extractive uses no language model"),
        (LLMSettings(provider="openai", model="m"), "needs RAG_LLM__BASE_URL"),
        (LLMSettings(provider="openai", base_url="http://127.0.0.1/v1"), "needs RAG_LLM__MODEL"),
        (LLMSettings(provider="ollama"), "needs RAG_LLM__MODEL"),
        (
            LLMSettings(
                provider="openai", base_url="http://127.0.0.1/v1", model="m", max_new_tokens=4000, context_tokens=4096
            ),
            "MAX_NEW_TOKENS=4000 leaves 96 tokens of the model's 4096 for the prompt",
        ),
    ],
    ids=["no model", "no server", "no model name", "no model of Ollama", "no room for a prompt"],
)
def test_settings_that_cannot_work_are_refused(llm: LLMSettings, fact: str) -> None:
    with pytest.raises(SettingsError, match=fact):
        synthesizer_of(llm)


def test_a_server_is_described_without_its_key() -> None:
    llm = LLMSettings(provider="openai", base_url="http://127.0.0.1:1/v1", model="m", api_key="secret")

    assert build_model(Settings(llm=llm)).label == "m at http://127.0.0.1:1/v1"


def test_a_provider_without_its_library_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "query_engine.llms.huggingface", raising=False)
    monkeypatch.setitem(sys.modules, "torch", None)

    with pytest.raises(ModelError, match=r"huggingface needs torch.* KEEP_TORCH=true"):
        synthesizer_of(LLMSettings(provider="huggingface"))


def test_no_model_library_is_imported_before_a_provider_is_chosen() -> None:
    libraries = {"torch", "transformers", "openai", "llama_cpp"}
    code = f"import sys, query_engine.llms.build; print(sorted({libraries} & set(sys.modules)))"

    run = subprocess.run([sys.executable, "-c", code], cwd=HOME, capture_output=True, text=True, check=True)

    assert run.stdout.strip() == "[]"
