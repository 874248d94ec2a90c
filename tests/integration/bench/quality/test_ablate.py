"""An answer can be asked for without each part; with everything on, nothing is searched for or read twice."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.datasets import DataSet
from bench.quality.ablate import NOTHING_OFF, Found, Open, RememberingReader, Rows, ask_without, remember_search
from bench.quality.ablate_parts import all_parts
from bench.quality.helpful.asking import System
from bench.quality.helpful.nuggets import NuggetCase
from bench.quality.helpful.sets import Asked
from bench.quality.helpful.systems import streaming
from eval.cases import Nugget, Region
from query_engine.answerability import classifier
from query_engine.answerability.classifier import Classifier, Weight
from query_engine.engine import Engine
from query_engine.reader.leaves import stored_documents
from query_engine.reader.reading import LeafReader
from query_engine.search import CorpusSearch
from settings import Settings
from tests.fakes.corpora import make_corpus
from tests.fakes.embedding import WordHashEmbedding
from tests.fakes.reading import WordReader

TEXTS = {
    "wind.md": "Turbines turn wind into power. Albert Betz published the rotor limit in 1919. Gearboxes wear out.",
    "water.md": "Dams hold water back. Rivers run turbines too. Fish need ladders.",
}
CASE = NuggetCase(
    id="1",
    question="Who published the rotor limit, and what do fish need?",
    corpus="power",
    form="fact",
    nuggets=(Nugget(text="Betz", vital=True, any=("betz",)),),
    regions=(Region(doc="wind.md", quote_start="Turbines", quote_end="wear out"),),
)


@pytest.fixture(autouse=True)
def _gate(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Classifier(3.0, (Weight("near", 0, 1, 1), Weight("leaf", 0, 1, 1)))
    monkeypatch.setattr(classifier, "read_classifier", lambda: gate)


@pytest.fixture
def reader() -> WordReader:
    return WordReader()


@pytest.fixture
def open_with(tmp_path: Path, reader: WordReader) -> Iterator[Open]:
    embedder = WordHashEmbedding()
    corpus = make_corpus(tmp_path / "power", TEXTS, embedder)
    known = RememberingReader(reader)
    found: Found = {}

    def opened(settings: Settings, search_again: bool) -> System:
        leaves = LeafReader(known, stored_documents(corpus.documents), corpus.lexical_index, embedder)
        engine = Engine(corpus, embedder, leaves, (), settings=settings)
        remember_search(engine, {} if search_again else found)
        return streaming("ours", engine.stream, TEXTS.get)

    yield opened
    corpus.close()


def asked(tmp_path: Path) -> Asked:
    data_set = DataSet("power", tmp_path, tmp_path / "questions.jsonl")
    return Asked(data_set, {"office": [(0, CASE)]}, {name: f" {text.lower()} " for name, text in TEXTS.items()})


def test_every_part_can_be_left_out_of_an_answer(tmp_path: Path, open_with: Open) -> None:
    rows: Rows = {}

    ask_without(all_parts(), asked(tmp_path), Settings(), open_with, rows)

    answered = rows["office"]
    assert list(answered) == [NOTHING_OFF.name, *(part.name for part in all_parts())]
    assert answered[NOTHING_OFF.name][0].row.citations
    usual = answered[NOTHING_OFF.name][0].row.answer
    assert any(one.row.answer != usual for name in answered for one in answered[name])


def test_what_was_read_and_found_is_not_read_and_found_again(
    tmp_path: Path, open_with: Open, reader: WordReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows: Rows = {}
    ask_without([], asked(tmp_path), Settings(), open_with, rows)
    read = reader.read_texts

    monkeypatch.setattr(CorpusSearch, "leaf_retriever", None)
    ask_without([], asked(tmp_path), Settings(), open_with, rows)

    assert reader.read_texts == read > 0
    first, second = rows["office"][NOTHING_OFF.name]
    assert first.row.answer == second.row.answer
