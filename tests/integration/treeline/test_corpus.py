"""`from treeline import open_corpus`, over real stores and the packaged model."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from llama_index.core.query_engine import CustomQueryEngine
from llama_index.core.retrievers import AutoMergingRetriever, BaseRetriever
from pydantic import ValidationError

from errors import QuestionError, UnknownCorpusError, UnreadableError
from settings import EmbedSettings, IndexSettings
from treeline import Done, OpenCorpus, Settings, Step, Token, open_corpus

TEXTS = {
    "wind.md": "# Wind\n\nTurbines turn wind into power. Albert Betz published the rotor limit in 1919.",
    "water.md": "# Water\n\nDams hold water back. Pumped storage returns most of the energy.",
}
QUESTION = "What did Albert Betz publish?"


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory, model_cache: Path) -> Settings:
    folder = tmp_path_factory.mktemp("library")
    return Settings(index=IndexSettings(dir=folder / "index"), embed=EmbedSettings(cache_dir=model_cache))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    for name, text in TEXTS.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture(scope="module")
def corpus(settings: Settings, files: Path) -> Iterator[OpenCorpus]:
    with open_corpus("papers", settings, create=True) as corpus:
        summary = corpus.ingest(files, metadata={"year": 2024})
        assert (summary.new, summary.failed) == (2, [])
        yield corpus


def test_an_answer_has_its_text_and_its_quotes(corpus: OpenCorpus) -> None:
    answer = corpus.ask(QUESTION)

    assert answer.answer is not None
    assert "Albert Betz published the rotor limit in 1919. [1]" in answer.answer
    assert next((quote.number, quote.doc_id) for quote in answer.citations) == (1, "wind.md")


def test_what_the_documents_do_not_hold_is_not_answered(corpus: OpenCorpus) -> None:
    answer = corpus.ask("How do I get a red wine stain out of a tablecloth?")

    assert answer.answer is None
    assert answer.message.startswith("I don't know")


def test_a_stream_tells_steps_and_tokens_and_ends_with_the_answer(corpus: OpenCorpus) -> None:
    first, *events, done = corpus.stream(QUESTION)

    assert isinstance(first, Step)
    assert isinstance(done, Done)
    assert "".join(event.text for event in events if isinstance(event, Token)).strip() == done.answer


def test_leaving_a_stream_stops_the_work(corpus: OpenCorpus) -> None:
    events = corpus.stream(QUESTION)
    assert isinstance(next(events), Step)

    events.close()  # type: ignore[attr-defined]  # the iterator is a generator

    for thread in threading.enumerate():
        if thread.name == "question":
            thread.join(60)
            assert not thread.is_alive()


async def test_it_answers_where_an_event_loop_runs_as_in_a_notebook(corpus: OpenCorpus) -> None:
    assert corpus.ask(QUESTION).answer


def test_passages_are_found_by_options_and_filters(corpus: OpenCorpus) -> None:
    assert [passage.doc_id for passage in corpus.retrieve("rotor limit", top_k=1).passages] == ["wind.md"]
    later, known = ({"filters": [{"key": "year", "operator": op, "value": 2024}]} for op in (">", "=="))
    assert corpus.retrieve("power", filters=later).passages == ()
    assert corpus.retrieve("power", filters=known).passages


def test_unknown_options_and_blank_questions_are_refused(corpus: OpenCorpus) -> None:
    with pytest.raises(ValidationError, match="top"):
        corpus.retrieve("power", top=1)
    with pytest.raises(QuestionError, match="blank"):
        corpus.ask(" ")


def test_the_retriever_is_llamaindexs(corpus: OpenCorpus) -> None:
    retriever = corpus.as_retriever(top_k=1)

    assert isinstance(retriever, AutoMergingRetriever)
    (found,) = retriever.retrieve("rotor limit")
    assert found.node.ref_doc_id == "wind.md"


def test_a_custom_query_engine_of_llamaindex_asks_the_retriever(corpus: OpenCorpus) -> None:
    class Naming(CustomQueryEngine):
        """Answers with the documents that were found."""

        retriever: BaseRetriever

        def custom_query(self, query_str: str) -> str:
            return " ".join(str(found.node.ref_doc_id) for found in self.retriever.retrieve(query_str))

    engine = Naming(retriever=corpus.as_retriever(top_k=1))

    assert str(engine.query("rotor limit")) == "wind.md"


def test_ingesting_again_embeds_nothing_and_a_path_that_is_not_there_is_told(corpus: OpenCorpus, files: Path) -> None:
    again = corpus.ingest(str(files), metadata={"year": 2024})

    assert (again.unchanged, again.embedded) == (2, 0)
    with pytest.raises(UnreadableError, match="nowhere"):
        corpus.ingest(files / "nowhere")


@pytest.mark.promise("C13")
def test_a_corpus_is_made_only_on_request_and_can_be_opened_again(settings: Settings) -> None:
    with pytest.raises(UnknownCorpusError, match="notes"):
        open_corpus("notes", settings)
    for create in (True, False):
        with open_corpus("notes", settings, create=create) as opened:
            assert opened.ask(QUESTION).gate_reason == "no_retrieval"
