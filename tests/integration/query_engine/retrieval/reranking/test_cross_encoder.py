"""A real cross-encoder of sentence-transformers, tiny and with random weights."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from errors import ModelError, OutOfTimeError
from index.embedding.model import load_embedding_model
from query_engine.build import Engines
from query_engine.inquiry import Inquiry
from query_engine.retrieval.reranking.build import build_reranker
from query_engine.retrieval.reranking.cross_encoder import CrossEncoderReranker
from query_engine.runtime.deadline import Deadline
from settings import EmbedSettings, IndexSettings, RerankSettings, Settings
from tests.fakes.corpora import fill
from tests.fakes.encoders import make_cross_encoder

pytestmark = pytest.mark.integration

TEXTS = ["Wind turns blades.", "A cell turns light into electricity, without any moving part at all.", "Rivers flow."]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_cross_encoder(tmp_path_factory.mktemp("model"), load_embedding_model("minilm").folder)


@pytest.fixture
def reranker(folder: Path, monkeypatch: pytest.MonkeyPatch) -> CrossEncoderReranker:
    monkeypatch.setattr("query_engine.retrieval.reranking.cross_encoder.BATCH_TEXTS", 2)
    return CrossEncoderReranker(str(folder))


def test_each_text_has_the_score_that_it_has_alone(reranker: CrossEncoderReranker) -> None:
    scores = reranker.score("What turns blades?", TEXTS, Deadline(60))

    alone = [reranker.score("What turns blades?", [text], Deadline(60))[0] for text in TEXTS]
    assert scores == pytest.approx(alone, abs=1e-4)
    assert len(set(scores)) == 3


def test_the_question_is_read_together_with_the_text(reranker: CrossEncoderReranker) -> None:
    assert reranker.score("What turns blades?", TEXTS, Deadline(60)) != pytest.approx(
        reranker.score("Who measured rain?", TEXTS, Deadline(60)), abs=1e-4
    )


def test_text_beyond_the_models_window_is_cut(reranker: CrossEncoderReranker) -> None:
    long = "wind " * 1000

    assert reranker.score("?", [long, long + "sun"], Deadline(60))[0] == pytest.approx(
        reranker.score("?", [long], Deadline(60))[0], abs=1e-4
    )


def test_no_texts_have_no_scores(reranker: CrossEncoderReranker) -> None:
    assert reranker.score("?", [], Deadline(60)) == []


def test_it_stops_between_batches_when_the_time_is_up(reranker: CrossEncoderReranker) -> None:
    readings = iter([0.0, 1.0, 6.0])

    with pytest.raises(OutOfTimeError, match="limit of 5 s was reached after 2 of 3 passages"):
        reranker.score("?", TEXTS, Deadline(5, lambda: next(readings)))


def test_many_threads_may_ask(reranker: CrossEncoderReranker) -> None:
    together = threading.Barrier(4)

    def ask(number: int) -> list[float]:
        together.wait(timeout=30)
        return reranker.score(f"Question {number % 2}?", TEXTS, Deadline(60))

    with ThreadPoolExecutor(4) as pool:
        scores = list(pool.map(ask, range(4)))

    assert scores[0] == pytest.approx(scores[2], abs=1e-4)
    assert scores[1] == pytest.approx(scores[3], abs=1e-4)


def test_a_model_with_several_outputs_is_no_reranker(tmp_path: Path) -> None:
    several = make_cross_encoder(tmp_path / "three", load_embedding_model("minilm").folder, outputs=3)

    with pytest.raises(ModelError, match="gives 3 numbers a text; a reranker gives one"):
        CrossEncoderReranker(str(several))


@pytest.mark.parametrize("model", ["absent/folder/x", "nobody/no-such-model"])
def test_a_model_that_is_not_there_is_told_of_whenever_it_is_asked(model: str) -> None:
    reranker = build_reranker(Settings(rerank=RerankSettings(model=model)), None)

    assert reranker is not None
    with pytest.raises(ModelError, match=r"cannot be loaded: .* Set RAG_RERANK__MODEL") as failure:
        reranker.score("?", TEXTS, Deadline(60))
    assert "\n" not in str(failure.value)


def test_a_damaged_model_is_told_of(folder: Path, tmp_path: Path) -> None:
    for name in ("config.json", "tokenizer.json", "tokenizer_config.json"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    (tmp_path / "model.safetensors").write_bytes((folder / "model.safetensors").read_bytes()[:1000])

    with pytest.raises(ModelError, match="cannot be loaded"):
        CrossEncoderReranker(str(tmp_path))


@pytest.mark.promise("B07")
def test_the_settings_build_an_engine_that_reranks(folder: Path, tmp_path: Path, model_cache: Path) -> None:
    settings = Settings(
        index=IndexSettings(dir=tmp_path),
        embed=EmbedSettings(cache_dir=model_cache),
        rerank=RerankSettings(model=str(folder)),
    )
    engines = Engines(settings)
    try:
        engine = engines.get(create=True)
        fill(engine.corpus, {"wind.md": "Wind turns blades.", "sun.md": "Sun shines."}, engines.embedding.embedder)

        found = engine.retrieve(Inquiry("What turns blades?"))
    finally:
        engines.close()

    assert found.warnings == ()
    assert found.timings_ms.keys() == {"retrieve", "rerank"}
    assert all({"cross_encoder", "search"} <= passage.scores.keys() for passage in found.passages)
    assert {passage.doc_id for passage in found.passages} == {"wind.md", "sun.md"}
