import pytest

from errors import SettingsError
from query_engine.roster import build_roster, other_model
from settings import LLMSettings, Settings, load_settings
from tests.fakes.embedding import WordHashEmbedding

SERVER = LLMSettings(provider="openai", model="large", base_url="http://one.example/v1", api_key="secret")


def test_a_name_gives_provider_model_and_server_and_the_rest_is_as_set() -> None:
    other = other_model(SERVER, "openai:org/small@http://two.example/v1")

    assert (other.provider, other.model, other.base_url) == ("openai", "org/small", "http://two.example/v1")
    assert other.max_new_tokens == SERVER.max_new_tokens


def test_the_key_goes_to_the_server_it_was_set_for_and_to_no_other() -> None:
    assert other_model(SERVER, "openai:small").api_key == SERVER.api_key
    assert other_model(SERVER, "openai:small@http://two.example/v1").api_key is None


def test_a_local_fallback_does_not_get_the_servers_model_name() -> None:
    assert other_model(SERVER, "openvino").model is None


def test_models_are_asked_in_the_order_of_the_settings() -> None:
    llm = SERVER.model_copy(update={"fallbacks": "openai:b, openai:c@http://two.example/v1"})

    roster = build_roster(Settings(llm=llm), WordHashEmbedding())

    assert [writer.name for writer in roster.writers] == ["openai"] * 3
    assert roster.query_model is not None
    assert roster.query_model.label == "large at http://one.example/v1"


def test_another_model_can_help_with_the_question_also_where_answers_are_quotes() -> None:
    llm = LLMSettings(query_model="openai:small@http://two.example/v1")

    roster = build_roster(Settings(llm=llm), WordHashEmbedding())

    assert roster.writers == ()
    assert roster.query_model is not None
    assert roster.query_model.label == "small at http://two.example/v1"
    assert roster.ready


def test_without_any_model_nobody_writes_and_nobody_helps() -> None:
    roster = build_roster(Settings(), WordHashEmbedding())

    assert (roster.writers, roster.query_model, roster.ready) == ((), None, True)


def test_the_writers_are_ready_as_long_as_one_of_them_is() -> None:
    llm = SERVER.model_copy(update={"fallbacks": "openai:b"})
    roster = build_roster(Settings(llm=llm), WordHashEmbedding())

    roster.writers[0].ready = False
    assert roster.ready
    roster.writers[1].ready = False
    assert not roster.ready
    assert roster.reason == "1. openai: Loaded, not used yet. 2. openai: Loaded, not used yet."


def test_fallbacks_without_a_model_that_could_fail_are_refused() -> None:
    with pytest.raises(SettingsError, match="names none that could fail"):
        build_roster(Settings(llm=LLMSettings(fallbacks="openvino")), WordHashEmbedding())


@pytest.mark.parametrize("value", ["gpt", "openai:", "openai:a openai:b", "openai:a@ftp://x", ","])
def test_a_name_that_is_none_is_refused_at_the_start(value: str) -> None:
    with pytest.raises(SettingsError, match="RAG_LLM__FALLBACKS is not valid"):
        load_settings({"RAG_LLM__FALLBACKS": value}, None)
