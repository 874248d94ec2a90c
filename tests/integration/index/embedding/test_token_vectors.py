"""The vectors of tokens are those of the model's last layer, as transformers computes them."""

from pathlib import Path

import numpy as np
import pytest

from index.embedding.model import load_embedding_model
from index.embedding.token_vectors import TokenEncoder
from tests.fakes.encoders import make_encoder

pytestmark = pytest.mark.integration

TEXTS = ["Steam engines were built by Newcomen.", "Cats sleep.", "", "A turbine turns in the wind. " * 60]


def test_they_are_the_last_layers_in_the_order_of_the_texts(model_cache: Path) -> None:
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    model = load_embedding_model("minilm")
    found = TokenEncoder(model, precision="fp32", cache_dir=model_cache).encode(TEXTS * 6)

    bert = transformers.AutoModel.from_pretrained(model.folder, local_files_only=True).eval()
    for text, vectors in zip(TEXTS * 6, found, strict=True):
        ids = model.encode([text])[0].ids
        with torch.no_grad():
            hidden = bert(torch.tensor([ids])).last_hidden_state[0].numpy()
        assert vectors.shape == (len(ids), model.dimension)
        assert np.allclose(vectors, hidden / np.linalg.norm(hidden, axis=1, keepdims=True), atol=1e-3)
    assert len(found[3]) == model.max_tokens


@pytest.mark.slow
def test_a_model_that_pools_its_first_token_will_do_too(tmp_path: Path) -> None:
    model = load_embedding_model(str(make_encoder(tmp_path / "model", load_embedding_model("minilm").folder, "cls")))
    encoder = TokenEncoder(model, precision="fp32", cache_dir=tmp_path / "cache")

    (vectors,) = encoder.encode(["Cats sleep."])

    assert vectors.shape == (5, 32)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
