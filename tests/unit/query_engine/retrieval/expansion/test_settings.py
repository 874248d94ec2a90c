import pytest

from errors import SettingsError
from query_engine.retrieval.expansion.build import check_expansion
from settings import ExpansionSettings, LLMSettings, Settings


@pytest.mark.parametrize("name", ["hyde", "multi_query"])
def test_what_the_language_model_shall_write_needs_one(name: str) -> None:
    wanted = ExpansionSettings.model_validate({name: True})

    with pytest.raises(
        SettingsError, match=rf"RAG_EXPANSION__{name.upper()}=true needs a language model\. Set RAG_LLM"
    ):
        check_expansion(Settings(expansion=wanted))
    check_expansion(Settings(expansion=wanted, llm=LLMSettings(provider="huggingface")))
