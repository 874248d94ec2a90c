"""A tiny encoder is fine-tuned on a small corpus: resumed as if never broken, and taken as an embedding model."""

import argparse
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from errors import IndexMismatchError
from index.build import Embedding
from index.embedding.model import load_embedding_model
from ingestion.build import ingest
from settings import Settings, load_settings
from tests.fakes.encoders import make_encoder
from training.unfinished import TrainingError

pytest.importorskip("torch")
pytest.importorskip("datasets")
pytestmark = pytest.mark.slow

SUBJECTS = "turbine battery panel reactor boiler pump engine valve sensor cable".split()
CORPUS = "tiny"


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Return settings whose index holds ten documents, embedded by a tiny encoder."""
    home = tmp_path_factory.mktemp("home")
    folder = make_encoder(home / "encoder", load_embedding_model("minilm").folder, "cls")
    for subject in SUBJECTS:
        text = f"# The {subject}\n" + "".join(
            f"The {subject} of series {number} was built in {1900 + number} for a customer in the north. "
            for number in range(30)
        )
        (home / "docs").mkdir(exist_ok=True)
        (home / "docs" / f"{subject}.md").write_text(text)
    loaded = load_settings()
    embed = loaded.embed.model_copy(
        update={"model": str(folder), "precision": "fp32", "cache_dir": home / "cache", "threads": 1}
    )
    index = loaded.index.model_copy(update={"dir": home / "index", "corpus": CORPUS})
    llm = loaded.llm.model_copy(update={"provider": "extractive"})
    made = loaded.model_copy(update={"embed": embed, "index": index, "llm": llm})
    ingest(home / "docs", made, corpus=CORPUS)
    rows = [
        {"id": f"{subject}-{number}", "question": f"Which {subject} was built in {1900 + number}?"}
        | {"answer": f"series {number}", "relevant_docs": [f"{subject}.md"]}
        for subject in SUBJECTS
        for number in (3, 11, 17, 23)
    ]
    (home / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return made


def _arguments(settings: Settings, out: Path, **changes: object) -> argparse.Namespace:
    questions = settings.index.dir.parent / "questions.jsonl"
    values: dict[str, object] = {
        "corpus": None,
        "questions": [questions],
        "held_out": 0.3,
        "negatives": 1,
        "out": out,
        "epochs": 1.0,
    }
    values |= {"search": 1000, "limit": 24, "batch": 4, "rate": 1e-3, "seed": 0, "threads": 1, "save_steps": 2}
    return argparse.Namespace(**(values | changes))


def _killed_after(step: int) -> Callable[..., None]:
    """A stand-in for the writing of a checkpoint's last file."""
    from transformers import TrainerState  # noqa: PLC0415

    written = TrainerState.save_to_json

    def save(self: TrainerState, path: str) -> None:
        if self.global_step > step:
            raise KeyboardInterrupt
        written(self, path)

    return save


def test_a_resumed_run_equals_an_unbroken_one(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from safetensors.torch import load_file  # noqa: PLC0415
    from transformers import TrainerState  # noqa: PLC0415

    from training.embedder.train import train  # noqa: PLC0415

    train(_arguments(settings, tmp_path / "whole"), settings)
    monkeypatch.setattr(TrainerState, "save_to_json", _killed_after(3))
    with pytest.raises(KeyboardInterrupt):
        train(_arguments(settings, tmp_path / "broken"), settings)
    monkeypatch.undo()
    with pytest.raises(TrainingError, match="begun with seed='0'"):
        train(_arguments(settings, tmp_path / "broken", seed=1), settings)

    shown = train(_arguments(settings, tmp_path / "broken"), settings)

    ours, theirs, before = (
        load_file(folder / "model.safetensors")
        for folder in (tmp_path / "broken", tmp_path / "whole", Path(settings.embed.model))
    )
    assert all(bool((ours[name] == theirs[name]).all()) for name in theirs)
    assert any(bool((before[name] != theirs[name]).any()) for name in theirs if name in before)
    assert "| leaf_mrr@10 " in shown
    figures = json.loads((tmp_path / "whole" / "training.json").read_text())
    assert figures["before"].keys() == figures["after"].keys()
    with pytest.raises(TrainingError, match="is not overwritten"):
        train(_arguments(settings, tmp_path / "whole"), settings)


def test_the_trained_model_is_taken_and_the_old_index_refuses_it(settings: Settings, tmp_path: Path) -> None:
    from training.embedder.train import train  # noqa: PLC0415

    train(_arguments(settings, tmp_path / "tuned", limit=8), settings)

    old, new = load_embedding_model(settings.embed.model), load_embedding_model(str(tmp_path / "tuned"))
    assert (new.pooling, new.max_tokens, new.dimension) == (old.pooling, old.max_tokens, old.dimension)
    assert new.weights_hash != old.weights_hash
    embed = settings.embed.model_copy(update={"model": str(tmp_path / "tuned")})
    tuned = settings.model_copy(update={"embed": embed})
    assert len(Embedding(tuned).embedder.get_query_embedding("pump")) == 32
    with pytest.raises(IndexMismatchError, match="weights_hash"):
        ingest(tmp_path, tuned, corpus=CORPUS)


def test_questions_of_a_file_are_measured_by_what_is_known_of_them(settings: Settings, tmp_path: Path) -> None:
    from training.embedder.train import train  # noqa: PLC0415

    shown = train(_arguments(settings, tmp_path / "tuned"), settings)

    assert "| answer@2000 " in shown
    held = [json.loads(line) for line in (tmp_path / "tuned" / "held_out.jsonl").read_text().splitlines()]
    assert 0 < len(held) < 40
    assert {row["id"].partition("-")[0] for row in held} <= set(SUBJECTS)
