"""Questions whose time is over, and questions that nobody waits for any more, over real stores."""

import asyncio
import threading
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest

from errors import OutOfTimeError
from index.corpus import Corpus
from query_engine.engine import Engine
from query_engine.inquiry import Inquiry
from query_engine.retrieval.leaf_texts import leaf_texts
from query_engine.retrieval.pipeline import RetrievalPipeline
from query_engine.retrieval.reranking.base import Reranker, Reranking
from query_engine.runtime.deadline import Deadline
from query_engine.schema.answer_warning import AnswerWarning
from query_engine.schema.events import Done, Step
from settings import AnswerSettings, RerankSettings, Settings
from tests.fakes.corpora import make_corpus
from tests.fakes.embedding import WordHashEmbedding
from tests.fakes.reading import a_leaf_reader
from tests.fakes.reranking import SlowReranker

TEXTS = {
    "wind.md": "Turbines turn wind into power. Albert Betz published the rotor limit in 1919. Gearboxes wear out.",
    "water.md": "Dams hold water back. Rivers run turbines too.",
}
QUESTION = "Who published the rotor limit in 1919?"


class HungReranker:
    """Waits for `release`, past any deadline, and only then looks at it."""

    name = "cross_encoder"

    def __init__(self) -> None:
        self.release = threading.Event()
        self.began = threading.Event()
        self.ended_by: OutOfTimeError | None = None

    def score(self, _question: str, texts: Sequence[str], deadline: Deadline) -> list[float]:
        self.began.set()
        self.release.wait()
        try:
            deadline.check("after a long wait")
        except OutOfTimeError as error:
            self.ended_by = error
            raise
        return [0.0] * len(texts)


@pytest.fixture
def corpus(tmp_path: Path) -> Iterator[Corpus]:
    corpus = make_corpus(tmp_path / "books", TEXTS, WordHashEmbedding())
    yield corpus
    corpus.close()


def engine(corpus: Corpus, reranker: Reranker, deadline_s: float) -> Engine:
    embedder = WordHashEmbedding()
    texts_of = partial(leaf_texts, corpus.documents, titled=True)
    pipeline = RetrievalPipeline((), Reranking(reranker, texts_of, RerankSettings(timeout_s=600)))
    settings = Settings(answer=AnswerSettings(deadline_s=deadline_s))
    return Engine(
        corpus,
        embedder,
        a_leaf_reader(corpus),
        (),
        settings=settings,
        pipeline=pipeline,
    )


@pytest.mark.promise("G20")
@pytest.mark.timeout(60)  # the search hangs for ever
async def test_a_search_that_hangs_ends_in_an_honest_answer(corpus: Corpus) -> None:
    reranker = HungReranker()
    events = engine(corpus, reranker, deadline_s=0.5).stream(Inquiry(QUESTION))

    seen = []
    async for event in events:
        seen.append(event)
        if isinstance(event, Done):
            break

    done = seen[-1]
    assert isinstance(done, Done)
    assert done.message.startswith("I don't know. The time for this question was over")
    assert done.gate_reason == "no_retrieval"
    assert done.warnings[-1] == AnswerWarning("out_of_time", "The time limit of this question was reached.")
    assert any(isinstance(event, Step) and event.text.startswith("**Out of time**") for event in seen)
    reranker.release.set()
    await events.aclose()


async def test_a_stage_that_can_be_left_out_leaves_time_for_the_answer(corpus: Corpus) -> None:
    events = [event async for event in engine(corpus, SlowReranker(), deadline_s=2).stream(Inquiry(QUESTION))]

    done = events[-1]
    assert isinstance(done, Done)
    assert done.answer is not None
    assert "published the rotor limit in 1919." in done.answer
    assert done.warnings[0].code == "rerank_skipped"


async def test_leaving_during_a_search_stops_it_at_the_next_stage_and_waits_for_its_thread(corpus: Corpus) -> None:
    reranker = HungReranker()
    events = engine(corpus, reranker, deadline_s=240).stream(Inquiry(QUESTION))

    async def read() -> None:
        async for _ in events:
            pass

    reading = asyncio.create_task(read())
    await asyncio.to_thread(reranker.began.wait)
    reading.cancel()
    await asyncio.wait({reading}, timeout=0.05)
    assert not reading.done()

    reranker.release.set()
    await asyncio.wait({reading})
    assert reranker.ended_by is not None
    assert "Nobody waits for it any more" in str(reranker.ended_by)


def test_a_search_alone_stops_too_when_nobody_waits(corpus: Corpus) -> None:
    deadline = Deadline(240)
    deadline.stop.set()

    with pytest.raises(OutOfTimeError, match="given up before the search"):
        engine(corpus, SlowReranker(), deadline_s=240).retrieve(Inquiry(QUESTION, deadline=deadline))
