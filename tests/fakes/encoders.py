"""Real, tiny models with random weights, as sentence-transformers folders: they load and run in seconds."""

import json
import shutil
from pathlib import Path
from typing import Any


def make_encoder(folder: Path, tokenizer_folder: Path, pooling: str = "mean") -> Path:
    """Write a one-layer BERT of 32 dimensions that uses the tokenizer of another model; return its folder."""
    import torch  # noqa: PLC0415  # slow; only some tests need it
    from transformers import BertConfig, BertModel  # noqa: PLC0415

    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=30522, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64
    )
    BertModel(config).save_pretrained(folder)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(tokenizer_folder / name, folder)
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_cls_token": pooling == "cls"}))
    return folder


def make_extractor(folder: Path, tokenizer_folder: Path) -> Path:
    """Write a one-layer BERT that scores each token as the first and as the last of an answer; return its folder."""
    return _make_head("BertForQuestionAnswering", folder, tokenizer_folder)


def make_cross_encoder(folder: Path, tokenizer_folder: Path, outputs: int = 1) -> Path:
    """Write a one-layer BERT that gives `outputs` numbers for a pair of texts; return its folder."""
    network = "BertForSequenceClassification"
    return _make_head(network, folder, tokenizer_folder, max_position_embeddings=64, num_labels=outputs)


def _make_head(network: str, folder: Path, tokenizer_folder: Path, **options: Any) -> Path:
    import torch  # noqa: PLC0415
    import transformers  # noqa: PLC0415

    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=30522,
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=64,
        initializer_range=0.5,
        **options,
    )
    getattr(transformers, network)(config).save_pretrained(folder)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(tokenizer_folder / name, folder)
    return folder
