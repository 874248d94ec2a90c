"""A corpus in memory is searched like one on disk, and is gone when it is closed."""

import gc
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from index.corpus import Corpus
from index.memory_stores import open_memory_corpus
from query_engine.engine import Engine
from query_engine.inquiry import Inquiry
from settings import Settings
from tests.fakes.corpora import MANIFEST, fill, make_corpus
from tests.fakes.embedding import WordHashEmbedding
from tests.fakes.reading import a_leaf_reader

TEXTS = {
    "wind.md": "Turbines turn wind into power. Albert Betz published the rotor limit in 1919. Gearboxes wear out.",
    "water.md": "Dams hold water back. Rivers run turbines too. Fish need ladders.",
}
QUESTIONS = ("Who published the rotor limit?", "Which turbines do rivers run?", "ladders")

pytestmark = pytest.mark.integration


@pytest.fixture
def corpus() -> Iterator[Corpus]:
    with closing(open_memory_corpus("given", MANIFEST)) as made:
        fill(made, TEXTS, WordHashEmbedding())
        yield made


def found(corpus: Corpus, question: str) -> list[tuple[str, str, float]]:
    passages = (
        Engine(corpus, WordHashEmbedding(), a_leaf_reader(corpus), (), settings=Settings())
        .retrieve(Inquiry(question))
        .passages
    )
    return [(passage.node_id, passage.text, round(passage.score, 4)) for passage in passages]


@pytest.mark.parametrize("question", QUESTIONS)
def test_it_finds_what_a_corpus_on_disk_finds(corpus: Corpus, tmp_path: Path, question: str) -> None:
    with closing(make_corpus(tmp_path / "books", TEXTS, WordHashEmbedding())) as on_disk:
        expected = found(on_disk, question)

    assert expected
    assert found(corpus, question) == expected


def test_it_answers_many_threads_at_once(corpus: Corpus) -> None:
    expected = [found(corpus, question) for question in QUESTIONS]

    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda question: found(corpus, question), QUESTIONS * 10))

    assert answers == expected * 10


def test_two_of_them_know_nothing_of_each_other(corpus: Corpus) -> None:
    with closing(open_memory_corpus("given", MANIFEST)) as other:
        fill(other, {"sun.md": "Cells turn light into power."}, WordHashEmbedding())

        assert [text for _, text, _ in found(other, "power")] == ["Cells turn light into power."]

    assert "Cells turn light into power." not in [text for _, text, _ in found(corpus, "power")]


def test_documents_can_be_taken_out_again(corpus: Corpus) -> None:
    assert corpus.delete(["wind.md"]) == 1

    assert (corpus.documents.count(), corpus.vectors.count(), corpus.lexical_index.count()) == (1, 3, 3)


def test_nothing_is_left_when_it_is_closed(corpus: Corpus) -> None:
    gc.collect()  # what other tests left open may end meanwhile, and all share one store
    collections = corpus.vectors._reader.count_collections
    before = collections()
    kept = open_memory_corpus("given", MANIFEST)
    fill(kept, TEXTS, WordHashEmbedding())

    assert corpus.vectors.count()
    assert collections() == before + 1
    kept.close()
    kept.close()
    assert collections() == before
    with closing(open_memory_corpus("given", MANIFEST)) as fresh:
        assert (fresh.documents.count(), fresh.vectors.count(), fresh.lexical_index.count()) == (0, 0, 0)
        assert collections() == before + 1
