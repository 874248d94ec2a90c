from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pydantic import SecretStr

from errors import SettingsError
from query_engine.llms.base import LoadedModel
from query_engine.synthesis.build import build_language_models, other_model, writer_names
from settings import LLMSettings, Settings, load_settings
from tests.failing import failing
from tests.fakes.llm import FakeLLM

SERVER = LLMSettings(provider="openai", model="large", base_url="http://one.example/v1", api_key="secret")


def test_a_name_gives_provider_model_and_server_and_the_rest_is_as_set() -> None:
    other = other_model(SERVER, "openai:org/small@http://two.example/v1")

    assert (other.provider, other.model, other.base_url) == ("openai", "org/small", "http://two.example/v1")
    assert other.max_new_tokens == SERVER.max_new_tokens


def test_the_key_goes_to_the_server_it_was_set_for_and_to_no_other() -> None:
    assert other_model(SERVER, "openai:small").api_key == SERVER.api_key
    assert other_model(SERVER, "openai:small@http://two.example/v1").api_key is None


def test_another_server_gets_the_key_that_was_set_for_it() -> None:
    values = {
        "RAG_LLM__PROVIDER": "openai",
        "RAG_LLM__BASE_URL": "http://one.example/v1",
        "RAG_LLM__API_KEY": "first",
        "RAG_LLM__FALLBACKS": "openai:b@http://two.example/v1, openai:c@http://three.example/v1",
        "RAG_LLM__OTHER_KEYS": "http://two.example/v1=sk-2==,http://three.example/v1=sk-3",
    }
    llm = load_settings(values, None).llm

    keys = [
        other_model(llm, f"openai:x{server}").api_key
        for server in ("@http://two.example/v1", "@http://four.example", "")
    ]

    assert [key and key.get_secret_value() for key in keys] == ["sk-2==", None, "first"]
    assert "sk-" not in f"{llm!r} {llm.model_dump_json()}"


def test_a_key_for_a_server_that_nobody_is_asked_at_is_refused_without_naming_it() -> None:
    llm = SERVER.model_copy(update={"other_keys": SecretStr("http://two.example/v1/=sk-2")})

    with pytest.raises(SettingsError, match=r"holds a key for http://two\.example/v1/, which no model") as caught:
        build_language_models(Settings(llm=llm))
    assert "sk-2" not in str(caught.value)


@pytest.mark.parametrize("value", ["sk-2", "two.example=sk-2", "http://two.example/v1=", "http://two.example/v1=sk-2 "])
def test_keys_without_their_servers_are_refused_and_not_repeated(value: str) -> None:
    with pytest.raises(SettingsError, match="RAG_LLM__OTHER_KEYS is not valid: each is the server's URL") as caught:
        load_settings({"RAG_LLM__OTHER_KEYS": value}, None)
    assert "sk-2" not in str(caught.value)


def test_a_local_fallback_does_not_get_the_servers_model_name() -> None:
    assert other_model(SERVER, "huggingface").model is None


def test_models_are_asked_in_the_order_of_the_settings() -> None:
    llm = SERVER.model_copy(update={"fallbacks": "openai:b, openai:c@http://two.example/v1"})

    roster = build_language_models(Settings(llm=llm))

    assert [writer.name for writer in roster.writers] == ["openai"] * 3
    assert roster.query_model is not None
    assert roster.query_model.label == "large at http://one.example/v1"


@pytest.mark.promise("G28")
def test_another_model_can_help_with_the_question_also_where_answers_are_quotes() -> None:
    llm = LLMSettings(query_model="openai:small@http://two.example/v1")

    roster = build_language_models(Settings(llm=llm))

    assert roster.writers == ()
    assert roster.query_model is not None
    assert roster.query_model.label == "small at http://two.example/v1"
    assert roster.ready


def test_without_any_model_nobody_writes_and_nobody_helps() -> None:
    roster = build_language_models(Settings())

    assert (roster.writers, roster.query_model, roster.ready) == ((), None, True)


def test_the_writers_are_ready_as_long_as_one_of_them_is() -> None:
    llm = SERVER.model_copy(update={"fallbacks": "openai:b"})
    roster = build_language_models(Settings(llm=llm))

    roster.writers[0].ready = False
    assert roster.ready
    roster.writers[1].ready = False
    assert not roster.ready
    assert roster.reason == "1. openai: Loaded, not used yet. 2. openai: Loaded, not used yet."


def test_fallbacks_without_a_model_that_could_fail_are_refused() -> None:
    with pytest.raises(SettingsError, match="names none that could fail"):
        build_language_models(Settings(llm=LLMSettings(fallbacks="huggingface")))


@pytest.mark.parametrize("value", ["gpt", "openai:", "openai:a openai:b", "openai:a@ftp://x", ","])
def test_a_name_that_is_none_is_refused_at_the_start(value: str) -> None:
    with pytest.raises(SettingsError, match="RAG_LLM__FALLBACKS is not valid"):
        load_settings({"RAG_LLM__FALLBACKS": value}, None)


def test_a_client_chooses_among_quotes_and_the_models_that_are_set(tmp_path: Path) -> None:
    weights = tmp_path / "private" / "small.gguf"
    weights.parent.mkdir()
    weights.touch()
    set_so = SERVER.model_copy(update={"fallbacks": f"huggingface:{weights}, huggingface"})

    assert writer_names(set_so) == ["large", "small.gguf", "huggingface", "quotes"]
    assert writer_names(LLMSettings()) == ["quotes"]
    beside_quotes = "fast=ollama:qwen3:4b, big=openai:b@http://two.example/v1"
    assert writer_names(LLMSettings(writers=beside_quotes)) == ["quotes", "fast", "big"]
    assert writer_names(SERVER.model_copy(update={"writers": beside_quotes})) == ["large", "fast", "big", "quotes"]


def test_the_chosen_model_writes_and_the_fallbacks_of_the_settings_come_after_it() -> None:
    llm = SERVER.model_copy(update={"fallbacks": "openai:b", "writers": "fast=ollama:qwen3:4b"})
    models = build_language_models(Settings(llm=llm))
    first, second = models.writers

    assert models.chosen(None) is models
    assert models.chosen("large").writers == (first, second)
    assert models.chosen("b").writers == (second,)
    fast, *after = models.chosen("fast").writers
    assert (fast.name, after) == ("ollama", [second])
    for name in ("quotes", "extractive"):
        assert (models.chosen(name).writers, models.chosen(name).query_model) == ((), None)
    with failing("unknown_writer", match=r"no writer 'gemma2'\. Name one of large, b, fast, quotes"):
        models.chosen("gemma2")


def test_a_model_to_choose_is_loaded_once_and_by_the_first_who_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    loads: list[str | None] = []

    def connect(llm: LLMSettings) -> LoadedModel:
        loads.append(llm.model)
        return LoadedModel(FakeLLM(says=[]), "fake", lambda: 4096, len)

    monkeypatch.setattr("query_engine.llms.openai.connect_openai", connect)
    models = build_language_models(Settings(llm=LLMSettings(writers="fast=ollama:f, big=ollama:b")))
    assert (models.writers, loads, models.is_loaded("fast"), models.is_loaded("quotes")) == ((), [], False, True)

    with ThreadPoolExecutor(4) as threads:
        chosen = list(threads.map(models.chosen, ["fast"] * 4))

    assert (loads, models.is_loaded("fast"), models.is_loaded("big")) == (["f"], True, False)
    assert len({id(one.writers[0]) for one in chosen}) == 1


@pytest.mark.parametrize(
    ("query_model", "label"), [(None, "f at http://127.0.0.1:11434/v1"), ("ollama:q", "q at http://127.0.0.1:11434/v1")]
)
def test_a_chosen_model_helps_with_the_question_unless_another_one_is_set_to(
    query_model: str | None, label: str
) -> None:
    llm = LLMSettings(writers="fast=ollama:f", query_model=query_model)

    helper = build_language_models(Settings(llm=llm)).chosen("fast").query_model

    assert helper is not None
    assert helper.label == label


def test_ollama_without_an_address_is_not_asked_at_that_of_another_server() -> None:
    assert other_model(SERVER, "ollama:qwen3:4b").base_url is None
    assert other_model(SERVER, "ollama:qwen3:4b").api_key is None
    own = LLMSettings(provider="ollama", model="m", base_url="http://one.example/v1")
    assert other_model(own, "ollama:qwen3:4b").base_url == own.base_url


@pytest.mark.parametrize(
    "writers",
    [
        "quotes=ollama:a",
        "extractive=ollama:a",
        "a=ollama:a, a=ollama:b",
        "large=ollama:a",
        "a=openai:b@http://x/v1, c=openai",
    ],
)
def test_a_writer_that_nobody_could_choose_is_refused_at_the_start(writers: str) -> None:
    llm = LLMSettings(provider="ollama", model="large", writers=writers)
    with pytest.raises(SettingsError, match="RAG_LLM__WRITERS"):
        build_language_models(Settings(llm=llm))


@pytest.mark.parametrize("value", ["ollama:a", "=ollama:a", "a b=ollama:a", "a=gpt", "a=ollama:a b=ollama:b", "a=,b="])
def test_writers_without_their_names_are_refused(value: str) -> None:
    with pytest.raises(SettingsError, match="RAG_LLM__WRITERS is not valid"):
        load_settings({"RAG_LLM__WRITERS": value}, None)
