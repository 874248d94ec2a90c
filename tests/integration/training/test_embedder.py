"""A tiny encoder is fine-tuned on questions and their texts, and taken as an embedding model."""

import json
from pathlib import Path

import pytest

from index.build import Embedding
from index.embedding.model import load_embedding_model
from settings import load_settings
from tests.fakes.encoders import make_encoder
from training.embedder import main, pairs_of

pytest.importorskip("torch")
pytest.importorskip("datasets")
pytestmark = pytest.mark.slow

SUBJECTS = "turbine battery panel reactor boiler pump engine valve axle anchor".split()


@pytest.fixture
def questions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return four questions to each of ten documents, with the settings of a tiny encoder."""
    folder = make_encoder(tmp_path / "encoder", load_embedding_model("minilm").folder, "cls")
    known = {"MODEL": str(folder), "PRECISION": "fp32", "CACHE_DIR": str(tmp_path / "cache"), "DOCUMENT_PREFIX": "p: "}
    for name, value in known.items():
        monkeypatch.setenv(f"RAG_EMBED__{name}", value)
    rows = [
        {"id": f"{subject}-{number}", "question": f"Which {subject} was built in {1900 + number}?"}
        | {"reference_context": f"The {subject} of series {number} was built in {1900 + number}."}
        | {"relevant_docs": [f"{subject}.md"]}
        for subject in SUBJECTS
        for number in (3, 11, 17, 23)
    ]
    path = tmp_path / "questions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.promise("B19")
def test_the_trained_model_is_taken_as_an_embedding_model(
    questions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = [str(questions), "--out", str(tmp_path / "tuned"), "--batch", "4", "--rate", "1e-3"]

    assert main(command) == 0

    assert "| cosine_mrr@10 " in capsys.readouterr().out
    old, new = load_embedding_model(str(tmp_path / "encoder")), load_embedding_model(str(tmp_path / "tuned"))
    assert (new.pooling, new.max_tokens, new.dimension) == (old.pooling, old.max_tokens, old.dimension)
    assert new.weights_hash != old.weights_hash
    monkeypatch.setenv("RAG_EMBED__MODEL", str(tmp_path / "tuned"))
    assert len(Embedding(load_settings()).embedder.get_query_embedding("pump")) == 32
    assert main(command) == 1
    assert "not overwritten" in capsys.readouterr().err


def test_documents_are_held_out_whole_and_prefixes_are_there(questions: Path) -> None:
    learnt, held = pairs_of([questions], load_settings().embed)

    subjects = [{subject for subject in SUBJECTS for _, text in side if subject in text} for side in (learnt, held)]
    assert len(learnt) + len(held) == 40
    assert not subjects[0] & subjects[1]
    assert all(text.startswith("p: The ") for _, text in learnt + held)
