"""A program that was begun with the competition's starter template runs on Treeline."""

import inspect
from pathlib import Path

import pytest
import yaml

import starter
from errors import SettingsError
from tests.servers.scripted_llm import Script, ScriptedLLM

pytestmark = pytest.mark.integration

BETZ = "The German physicist Albert Betz published the limit of wind turbines in 1919."
SALT = "Solar salt is 60 per cent sodium nitrate and 40 per cent potassium nitrate by weight."
QUESTION = "Who published the limit of wind turbines?"
# Of the template's `src/`.
SIGNATURES = {
    "run_rag": ["query", "config_path"],
    "load_corpus": ["path"],
    "clean_text": ["text"],
    "tokenize": ["text"],
    "chunk_tokens": ["tokens", "size", "overlap"],
    "build_index": ["chunks", "index_path"],
    "retrieve": ["query", "index_path", "top_k"],
    "generate_answer": ["query", "contexts", "model_name"],
}


@pytest.fixture(autouse=True)
def _models(model_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_EMBED__CACHE_DIR", str(model_cache))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    (folder / "wind").mkdir(parents=True)
    (folder / "wind" / "betz.html").write_text(f"<html><body><p>{BETZ}</p></body></html>", encoding="utf-8")
    (folder / "salt.txt").write_text(SALT, encoding="utf-8")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 and nothing else")
    return folder


@pytest.mark.promise("A51")
@pytest.mark.parametrize("name", SIGNATURES)
def test_each_function_takes_what_the_templates_takes(name: str) -> None:
    assert list(inspect.signature(getattr(starter, name)).parameters) == SIGNATURES[name]


@pytest.mark.promise("A50")
@pytest.mark.slow
def test_the_pipeline_answers_from_a_yaml_file(data: Path, tmp_path: Path) -> None:
    config = {"data_dir": str(data), "index_path": str(tmp_path / "index.faiss"), "top_k": 5, "chunk_size": 512}
    config |= {"hf_model": "sentence-transformers/all-MiniLM-L6-v2", "RAG_ANSWER__DECLINE": "exact"}
    file = tmp_path / "config.yaml"
    file.write_text(yaml.safe_dump(config), encoding="utf-8")

    assert "Albert Betz" in starter.run_rag(QUESTION, str(file))
    assert starter.run_rag("Which colour has the zebra mussel?", str(file)) == "I don't know."


@pytest.mark.parametrize("text", ["- a list", "data_dir: x", "a: [", None])
def test_a_configuration_that_is_not_one_is_refused(text: str | None, tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    if text is not None:
        file.write_text(text, encoding="utf-8")

    with pytest.raises(SettingsError, match=r"config\.yaml"):
        starter.run_rag("Why?", str(file))


@pytest.mark.promise("A51")
def test_a_folder_is_read_and_what_cannot_be_is_logged(data: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert sorted(starter.load_corpus(str(data))) == [("salt.txt", SALT), ("wind/betz.html", BETZ)]
    assert "PDF" in caplog.text


@pytest.mark.promise("A51")
def test_text_is_cleaned_tokenized_and_cut() -> None:
    assert starter.clean_text(" Wind\x00   power\r\n\t\r\n\r\nblows.\nblows. ") == "Wind power\n\nblows.\nblows."
    tokens = starter.tokenize("Wind is moving air.")
    assert len(tokens) == 5
    assert starter.chunk_tokens(tokens, 3, 1) == [tokens[:3], tokens[2:]]
    assert starter.chunk_tokens(tokens, 5, 4) == [tokens]
    assert starter.chunk_tokens([], 3, 1) == []
    for overlap in (3, -1):
        with pytest.raises(ValueError, match="overlap"):
            starter.chunk_tokens(tokens, 3, overlap)


@pytest.mark.promise("A51")
def test_an_index_of_chunks_is_searched_and_replaced(tmp_path: Path) -> None:
    index = str(tmp_path / "index.faiss")

    starter.build_index([BETZ, SALT, "Tides rise and fall."], index)
    assert starter.retrieve("What is solar salt?", index, 1) == [SALT]
    starter.build_index([BETZ], index)
    assert starter.retrieve("What is solar salt?", index, 5) == [BETZ]


@pytest.mark.promise("A51")
def test_an_answer_is_written_from_the_contexts_by_the_named_model(monkeypatch: pytest.MonkeyPatch) -> None:
    assert BETZ.partition("published")[0].strip() in starter.generate_answer(QUESTION, [SALT, BETZ], "")
    with ScriptedLLM(Script(text="Albert Betz published it in 1919 [1].")) as server:
        monkeypatch.setenv("RAG_LLM__PROVIDER", "openai")
        monkeypatch.setenv("RAG_LLM__BASE_URL", server.base_url)
        assert starter.generate_answer(QUESTION, [BETZ], "my-model") == "Albert Betz published it in 1919 [1]."

    assert server.requests[0]["model"] == "my-model"
