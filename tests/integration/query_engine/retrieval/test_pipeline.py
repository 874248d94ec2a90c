"""What is done to a query before the search and to its leaves after it, over real stores with a fake embedder."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from errors import LLMError, SettingsError
from index.corpus import Corpus
from query_engine.engine import Engine
from query_engine.inquiry import Inquiry
from query_engine.retrieval.expansion import Expansion, Hyde
from query_engine.retrieval.leaf_texts import leaf_texts
from query_engine.retrieval.pipeline import RetrievalPipeline
from query_engine.retrieval.reranking.base import Reranker, Reranking
from query_engine.schema.events import Done, Step
from settings import RerankSettings, Settings
from tests.fakes.corpora import make_corpus
from tests.fakes.embedding import WordHashEmbedding
from tests.fakes.llm import FakeLLM, asker
from tests.fakes.reading import a_leaf_reader
from tests.fakes.reranking import BrokenReranker, LengthReranker

TEXTS = {
    "wind.md": "Turbines turn wind into power. Albert Betz published the rotor limit in 1919. Gearboxes wear out.",
    "water.md": "Dams hold water back. Rivers run turbines too.",
    "rotor.md": "A rotor.",
}


@pytest.fixture
def corpus(tmp_path: Path) -> Iterator[Corpus]:
    corpus = make_corpus(tmp_path / "books", TEXTS, WordHashEmbedding())
    yield corpus
    corpus.close()


def engine(corpus: Corpus, reranker: Reranker | None = None, *expansions: Expansion, **rerank: Any) -> Engine:
    embedder = WordHashEmbedding()
    texts_of = partial(leaf_texts, corpus.documents, titled=True)
    reranking = Reranking(reranker, texts_of, RerankSettings(**rerank)) if reranker else None
    pipeline = RetrievalPipeline(expansions, reranking)
    return Engine(
        corpus,
        embedder,
        a_leaf_reader(corpus),
        (),
        settings=Settings(),
        pipeline=pipeline,
    )


def test_a_reranker_decides_the_order_before_merging_and_shows_its_score(corpus: Corpus) -> None:
    plain = engine(corpus).retrieve(Inquiry("rotor limit"))
    reranker = LengthReranker()

    found = engine(corpus, reranker).retrieve(Inquiry("rotor limit"))

    assert plain.passages[0].doc_id == "wind.md"
    assert found.passages[0].doc_id == "rotor.md"
    assert found.passages[0].scores["cross_encoder"] == -len("rotor.md\nA rotor.")
    assert found.passages[0].hits[0].ranks["cross_encoder"] == 1
    assert "wind.md\nAlbert Betz published the rotor limit in 1919." in reranker.asked[0][1]
    assert found.warnings == ()
    assert found.timings_ms.keys() == {"retrieve", "rerank"}


def test_what_the_reranker_rejects_is_not_found(corpus: Corpus) -> None:
    assert [
        found.text for found in engine(corpus, LengthReranker(), min_score=-18.0).retrieve(Inquiry("rotor")).passages
    ] == ["A rotor."]


async def test_a_reranker_that_cannot_run_is_a_step_and_a_warning_and_changes_nothing(corpus: Corpus) -> None:
    question = "Who published the rotor limit in 1919?"
    plain = engine(corpus).retrieve(Inquiry(question))

    events = [event async for event in engine(corpus, BrokenReranker()).stream(Inquiry(question))]

    done = events[-1]
    assert isinstance(done, Done)
    assert [passage.text for passage in done.passages] == [passage.text for passage in plain.passages]
    assert done.gate_reason == "generated_answer"
    warned = [event.text for event in events if isinstance(event, Step) and event.kind == "warning"]
    sentence = (
        "The cross_encoder reranker was skipped, the order is the search's. The cross-encoder failed: out of memory."
    )
    assert warned == [f"**Searching with less than is set**: {sentence} Lower RAG_RERANK__POOL_K."]
    assert list(map(str, done.warnings)) == [f"rerank_skipped: {sentence} Lower RAG_RERANK__POOL_K."]


def test_one_request_may_leave_reranking_out_or_ask_something_else(corpus: Corpus) -> None:
    reranker = LengthReranker()
    reranking = engine(corpus, reranker)

    found = reranking.retrieve(
        Inquiry("rotor limit"), pipeline=reranking.pipeline.reranked_by(wanted=False, query=None)
    )
    assert found.passages[0].doc_id == "wind.md"
    assert reranker.asked == []

    reranking.retrieve(Inquiry("rotor limit"), pipeline=reranking.pipeline.reranked_by(wanted=None, query="gears"))
    assert reranker.asked[0][0] == "gears"


def test_reranking_cannot_be_asked_for_where_there_is_none(corpus: Corpus) -> None:
    pipeline = engine(corpus).pipeline

    assert pipeline.reranked_by(wanted=None, query=None) is pipeline
    with pytest.raises(SettingsError, match=r"has no reranker\. Start it with RAG_RERANK__METHOD"):
        pipeline.reranked_by(wanted=True, query=None)


def test_a_language_model_that_fails_to_expand_leaves_the_plain_search_and_a_warning(corpus: Corpus) -> None:
    failing = FakeLLM(says=[LLMError("The language model server is gone.", "Start it.")])
    hyde = Hyde(asker(failing), WordHashEmbedding())

    plain = engine(corpus).retrieve(Inquiry("rotor limit"))
    found = engine(corpus, None, hyde).retrieve(Inquiry("rotor limit"))

    assert [passage.text for passage in found.passages] == [passage.text for passage in plain.passages]
    assert tuple(map(str, found.warnings)) == (
        "expansion_skipped: The question was searched for without hyde. The language model server is gone. Start it.",
    )
