"""How texts are measured for a model on a server, whose tokenizer may be unknown."""

from pathlib import Path

import pytest

from errors import ModelError, SettingsError
from index.build import Embedding
from index.embedding.model import load_embedding_model, served_model
from settings import ChunkSettings, EmbedSettings, Settings

ENGLISH = "The usual mixture is 60 per cent sodium nitrate and 40 per cent potassium nitrate."


def test_without_its_tokenizer_half_of_the_window_is_used() -> None:
    model = served_model(512, None)

    assert model.estimated
    assert model.text_tokens == 255
    assert model.count_tokens(ENGLISH) == load_embedding_model("minilm").count_tokens(ENGLISH)


def test_what_the_packaged_tokenizer_does_not_know_counts_as_its_bytes() -> None:
    count = served_model(512, None).count_tokens

    assert load_embedding_model("minilm").count_tokens("🐋") == 1
    assert count("🐋") == 4
    assert count("a" * 150) == 150  # a word of so many characters is unknown as a whole


def test_its_own_tokenizer_counts_and_the_whole_window_is_used() -> None:
    folder = load_embedding_model("minilm").folder

    for place in (folder, folder / "tokenizer.json"):
        model = served_model(512, place)
        assert not model.estimated
        assert model.text_tokens == 510
        assert model.count_tokens("🐋") == 1


def test_a_tokenizer_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="Set RAG_EMBED__TOKENIZER"):
        served_model(512, tmp_path)


def test_the_identity_is_known_without_the_server() -> None:
    embed = EmbedSettings(base_url="http://127.0.0.1:9/v1", model="bge-m3", dimensions=256)
    embedding = Embedding(Settings(embed=embed))

    assert embedding.manifest.identity.weights_hash == "server:bge-m3"
    assert embedding.manifest.identity.dimension == 256
    assert embedding.manifest.model == "bge-m3"


def test_a_leaf_that_the_server_would_cut_is_refused() -> None:
    embed = EmbedSettings(base_url="http://127.0.0.1:9/v1", max_tokens=256)

    with pytest.raises(SettingsError, match=r"leaf of 200 tokens would be cut .* which reads 127"):
        Embedding(Settings(embed=embed, chunk=ChunkSettings(leaf_tokens=200)))
