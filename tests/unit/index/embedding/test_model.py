"""What a sentence-transformers folder says of its model, in the older and the newer spelling of its files."""

import json
from pathlib import Path

import pytest

from errors import ModelError
from index.embedding.model import load_embedding_model


def _folder(folder: Path, pooling: dict[str, object] | None, **files: dict[str, object]) -> str:
    config: dict[str, object] = {"hidden_size": 8, "max_position_embeddings": 514}
    named = {"config.json": config} | {f"{name}.json": content for name, content in files.items()}
    if pooling is not None:
        (folder / "1_Pooling").mkdir()
        named["1_Pooling/config.json"] = pooling
    for name, content in named.items():
        (folder / name).write_text(json.dumps(content))
    (folder / "model.safetensors").write_bytes(b"weights")
    return str(folder)


@pytest.mark.parametrize(
    ("config", "pooling"),
    [
        (None, "mean"),
        ({"word_embedding_dimension": 8}, "mean"),
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, "cls"),
        ({"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True}, "mean"),
        ({"embedding_dimension": 8, "pooling_mode": "cls", "include_prompt": True}, "cls"),
        ({"embedding_dimension": 8, "pooling_mode": "mean", "include_prompt": True}, "mean"),
        ({"pooling_mode": ["cls"]}, "cls"),
    ],
)
def test_both_spellings_of_pooling_are_read(tmp_path: Path, config: dict[str, object] | None, pooling: str) -> None:
    assert load_embedding_model(_folder(tmp_path, config)).pooling == pooling


@pytest.mark.parametrize(
    "config", [{"pooling_mode": "lasttoken"}, {"pooling_mode_max_tokens": True}, {"pooling_mode": ["mean", "max"]}]
)
def test_a_pooling_that_is_not_computed_here_is_refused(tmp_path: Path, config: dict[str, object]) -> None:
    with pytest.raises(ModelError, match="neither by mean nor by cls"):
        load_embedding_model(_folder(tmp_path, config))


def test_the_window_is_that_of_sentence_transformers(tmp_path: Path) -> None:
    tokenizer: dict[str, object] = {"model_max_length": 512}
    folder = _folder(tmp_path, None, sentence_bert_config={"max_seq_length": 256}, tokenizer_config=tokenizer)
    assert load_embedding_model(folder).max_tokens == 256


@pytest.mark.parametrize(("stated", "window"), [(256, 256), (10**30, 514), (None, 514)])
def test_newer_folders_keep_the_window_with_the_tokenizer(tmp_path: Path, stated: int | None, window: int) -> None:
    tokenizer: dict[str, object] = {} if stated is None else {"model_max_length": stated}
    folder = _folder(tmp_path, None, sentence_bert_config={"transformer_task": "x"}, tokenizer_config=tokenizer)
    assert load_embedding_model(folder).max_tokens == window
