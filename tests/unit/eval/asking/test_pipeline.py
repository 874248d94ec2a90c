"""A pipeline is asked: its last table is what was found, its summary or the engine's answer over it what was said."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from eval.__main__ import main
from eval.asking.pipeline import PipelineTarget, context_column
from eval.asking.target import NoReplyError
from index.documents.store import Document
from pipelines.body import read_plan
from pipelines.running import Runner
from pipelines.state import PipelineState
from tests.fakes.engines import FakeEngine, a_citation, a_done
from tests.fakes.pipelines import TEXTS, a_registry, an_engine, body_of, fake_services, scripted
from tests.unit.eval.asking.fakes import a_case

SOURCE = "corpus_datasource"


@dataclass
class Over:
    """Opens an engine over documents, and notes them."""

    engine: FakeEngine = field(
        default_factory=lambda: FakeEngine([a_done(citations=(a_citation(1, "Doc 2", start=5),))])
    )
    documents: list[Document] = field(default_factory=list)
    open_engines: int = 0

    @contextmanager
    def __call__(self, documents: Sequence[Document]) -> Iterator[FakeEngine]:
        self.documents += documents
        self.open_engines += 1
        yield self.engine
        self.open_engines -= 1


def target(over: Over, *steps: Any, texts: Sequence[str] = TEXTS, extra: Any = None) -> PipelineTarget:
    services = fake_services(an_engine(texts))
    registry = a_registry(*([extra] if extra else []))
    return PipelineTarget(
        lambda question: read_plan(body_of(*steps), registry, services, query=question),
        Runner(services, None),
        over,
        "f1",
        2,
    )


async def test_the_rows_are_the_contexts_and_the_answer_is_the_one_over_them() -> None:
    over = Over()

    row = await target(over, SOURCE, ("tf_idf_reranker", {"query": "rain on hills"})).ask(a_case())

    assert [passage.text for passage in row.passages] == [TEXTS[2], TEXTS[0], TEXTS[1]]
    assert (row.passages[0].doc_id, row.passages[0].start, row.passages[0].end) == ("2.md", 10, 10 + len(TEXTS[2]))
    assert row.passages[0].chunk_id == "2.md#00000"
    assert (row.outcome, row.answer, row.synthesizer) == ("answered", "Wind turns blades. [1]", "extractive")
    assert over.engine.questions == ["What is q1?"]
    assert [(one.doc_id, one.title, one.text) for one in over.documents] == [
        ("Doc 1", "Wind", TEXTS[2]),
        ("Doc 2", "Wind", TEXTS[0]),
    ]
    assert over.open_engines == 0


async def test_a_citation_names_the_rows_document_and_its_place_there() -> None:
    row = await target(Over(), SOURCE).ask(a_case())

    (quote,) = row.citations
    assert (quote.doc_id, quote.start, quote.quote) == ("1.md", 15, "Wind turns blades.")


async def test_times_warnings_and_fingerprint_are_the_pipelines() -> None:
    row = await target(Over(), SOURCE, "word_counter").ask(a_case())

    assert set(row.timings_ms) == {"retrieve", "total", "1 corpus_datasource", "2 word_counter"}
    assert row.warnings == ("step_1: corpus_datasource: rerank_skipped: It is too slow.",)
    assert row.fingerprint == "f1"
    assert row.seconds > 0


async def test_a_summary_of_all_documents_is_the_answer() -> None:
    texts = ["Wind turns the blades of a turbine.", "The sun heats salt in tall towers."]
    over = Over()

    row = await target(over, SOURCE, ("all_results_summarizer", {"sentences": 1}), texts=texts).ask(a_case())

    assert row.synthesizer == "pipeline"
    assert row.answer is not None
    assert row.answer.removesuffix(" [1]") in texts
    assert [(quote.number, quote.quote in texts) for quote in row.citations] == [(1, True)]
    assert over.documents == []


async def test_without_documents_the_question_is_declined() -> None:
    over = Over(FakeEngine([a_done(None)]))

    row = await target(over, SOURCE, ("all_results_summarizer", {}), texts=[]).ask(a_case())

    assert (row.outcome, row.passages, over.documents) == ("declined", (), [])


async def test_a_step_that_fails_is_no_reply() -> None:
    def broken() -> None:
        raise ZeroDivisionError("by nought")

    with pytest.raises(NoReplyError, match=r"ZeroDivisionError in step 2 \(scripted\)"):
        await target(Over(), SOURCE, "scripted", extra=scripted(broken)).ask(a_case())


async def test_a_question_that_cannot_be_asked_is_refused() -> None:
    with pytest.raises(NoReplyError) as caught:
        await target(Over(), SOURCE).ask(a_case().model_copy(update={"question": "x" * 9000}))

    assert caught.value.refused


def test_another_text_than_the_sources_own_may_be_the_context() -> None:
    state = PipelineState("q").with_documents({"title": ["a"], "body": ["b"]}, {"title": ("text",), "body": ("text",)})

    assert context_column(state) == "body"
    assert context_column(PipelineState("q")) is None


@pytest.mark.parametrize("option", [["--url", "http://127.0.0.1:9"], ["--corpus", "papers"], ["--filter", "{}"]])
def test_what_a_pipeline_does_not_read_is_refused(
    option: list[str], tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    questions = tmp_path / "questions.jsonl"
    questions.write_text('{"id": "q1", "question": "What is it?"}\n')
    filters = ["--filter", '{"filters": [{"key": "a", "value": "b"}]}'] if option[0] == "--filter" else option

    code = main(["run", str(questions), "--pipeline", "p.json", "--out", str(tmp_path / "run"), *filters])

    assert code == 1
    assert f"{option[0]} is not read" in capsys.readouterr().err
