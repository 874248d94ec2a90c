"""A real question answering model of transformers, tiny and with random weights, reads in place of the shipped one."""

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from errors import ModelError
from index.embedding.model import load_embedding_model
from query_engine.build import Engines
from query_engine.inquiry import Inquiry
from query_engine.reader.extractor import SpanExtractor
from query_engine.reader.model import PassageText
from settings import AnswerSettings, EmbedSettings, IndexSettings, Settings
from tests.fakes.corpora import fill
from tests.fakes.encoders import make_cross_encoder, make_extractor

QUESTION = "What turns blades?"


def a_passage(*units: str, context: str = "Énergie") -> PassageText:
    """Return a passage of units with a blank between two."""
    spans, start = [], 0
    for unit in units:
        spans.append((start, start + len(unit)))
        start += len(unit) + 1
    return PassageText(context, " ".join(units), tuple(spans))


@pytest.fixture(scope="module")
def tokenizer_folder() -> Path:
    return load_embedding_model("minilm").folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, tokenizer_folder: Path) -> Path:
    return make_extractor(tmp_path_factory.mktemp("model"), tokenizer_folder)


@pytest.fixture(scope="module")
def extractor(folder: Path) -> SpanExtractor:
    return SpanExtractor(str(folder))


def pointing(extractor: SpanExtractor, monkeypatch: pytest.MonkeyPatch, token: Callable[[Any], int]) -> None:
    """Have the model be sure of one token, given the ids of a row."""

    def network(input_ids: torch.Tensor, **_: Any) -> Any:
        logits = torch.zeros(input_ids.shape)
        for row, ids in enumerate(input_ids):
            logits[row, token(ids.tolist())] = 20.0
        return type("Found", (), {"start_logits": logits, "end_logits": logits})

    network.device = torch.device("cpu")  # type: ignore[attr-defined]
    monkeypatch.setattr(extractor, "_network", network)


@pytest.mark.parametrize("wanted", [0, 1, 2])
def test_the_unit_with_the_answer_has_the_best_score(
    extractor: SpanExtractor, monkeypatch: pytest.MonkeyPatch, wanted: int
) -> None:
    units = ["Le café était fermé.", "Der Wind dreht die Flügel.", "Rivers flow."]
    passage = a_passage(*units)
    marked = ["ferme", "wind", "flow"][wanted]
    ids = extractor._tokenizer.encode(marked, add_special_tokens=False).ids
    pointing(extractor, monkeypatch, lambda row: row.index(ids[0]))

    scores = extractor.read(QUESTION, [passage])[0]

    assert int(np.argmax(scores.units)) == wanted
    assert scores.passage > 0 > sorted(scores.units)[1]


def test_a_model_that_points_at_the_first_token_says_there_is_no_answer(
    extractor: SpanExtractor, monkeypatch: pytest.MonkeyPatch
) -> None:
    pointing(extractor, monkeypatch, lambda _: 0)

    scores = extractor.read(QUESTION, [a_passage("Rivers flow.", "Wind turns blades.")])[0]

    assert scores.passage < 0
    assert max(scores.units) < 0


def test_passages_are_scored_alike_alone_and_together(extractor: SpanExtractor) -> None:
    passages = [a_passage("Wind turns blades.", "word " * n) for n in range(1, 20, 2)]

    together = extractor.read(QUESTION, passages)
    with ThreadPoolExecutor(4) as threads:
        alone = list(threads.map(lambda one: extractor.read(QUESTION, [one])[0], passages))

    for one, other in zip(together, alone, strict=True):
        assert one.passage == pytest.approx(other.passage, abs=1e-3)
        assert one.units == pytest.approx(other.units, abs=1e-3)
        assert all(map(math.isfinite, one.units))


def test_a_question_longer_than_the_window_is_cut(extractor: SpanExtractor) -> None:
    scores = extractor.read("水" * 300, [a_passage("Wind turns blades.")])[0]

    assert math.isfinite(scores.passage)


def test_units_beyond_the_window_have_no_score(extractor: SpanExtractor) -> None:
    scores = extractor.read(QUESTION, [a_passage("Wind turns blades.", "word " * 400, "Rivers flow.")])[0]

    assert math.isfinite(scores.units[0])
    assert scores.units[2] == -math.inf


def test_another_kind_of_model_or_none_is_refused_with_the_setting(tmp_path: Path, tokenizer_folder: Path) -> None:
    other = make_cross_encoder(tmp_path / "ranker", tokenizer_folder)
    for model in (str(other), str(tmp_path / "absent")):
        with pytest.raises(ModelError) as refused:
            SpanExtractor(model)
        assert model in refused.value.fact
        assert "RAG_ANSWER__READER" in refused.value.remedy


async def test_the_settings_name_the_reader_of_answers(folder: Path, tmp_path: Path, model_cache: Path) -> None:
    settings = Settings(
        index=IndexSettings(dir=tmp_path / "index"),
        embed=EmbedSettings(cache_dir=model_cache),
        answer=AnswerSettings(reader=str(folder)),
    )
    with closing(Engines(settings)) as engines, engines.lease(create=True) as engine:
        fill(engine.corpus, {"wind.md": "# Wind\n\nWind turns blades.\n"}, engines.embedding.embedder)
        assert isinstance(engines.passage_reader, SpanExtractor)
        done = [event async for event in engine.stream(Inquiry(QUESTION))][-1]

    assert "turns blades" in f"{done}"
