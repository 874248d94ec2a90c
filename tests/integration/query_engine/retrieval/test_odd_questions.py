"""Questions that no corpus expects, with every way to search: a defined result, and never an error."""

from collections.abc import Iterator

import pytest

from index.corpus import Corpus
from query_engine.engine import Engine
from query_engine.inquiry import Inquiry
from query_engine.schema.query import Query
from query_engine.schema.retrieval_result import Retrieval
from settings import RetrievalSettings, Settings
from tests.fakes.corpora import make_corpus
from tests.fakes.embedding import WordHashEmbedding
from tests.fakes.reading import a_leaf_reader

TEXTS = {
    "wind.md": "Turbines turn wind into power. Albert Betz published the rotor limit in 1919. Gearboxes wear out.",
    "ACMEWORKS_2017_10K.pdf": "Dams hold water back. Rivers run turbines too. Fish need ladders.",
    "風力.md": "風力発電は風を使う. 海の上でも回る.",
}
QUESTIONS = {
    "stop words only": "what is the of and",
    "emoji": "🙂🙂 🌬️",
    "emoji of several code points": "👩‍👩‍👧‍👦🏴󠁧󠁢󠁥󠁮󠁧󠁿",
    "another script": "что такое ветер?",
    "a script without blanks": "風力発電とは何ですか",
    "written from right to left": "ما هي طاقة الرياح؟",
    "combining marks": "e\u0301\u0302\u0303 \u0301",
    "punctuation": "?!... --- ((( \"'",
    "operators": 'AND (OR "unclosed [title:* NOT ~2 ^5',
    "one letter": "x",
    "a word of 8,000 letters": "x" * 8000,
    "4,000 words": "a b " * 2000,
    "8,000 characters of many words": " ".join(f"w{number:04}" for number in range(1333)),
    "a word too long to be looked for with a year in it": "x" * 60 + "2017",
    "underscores": "_ __ ___",
}
WAYS = {
    "as set": RetrievalSettings(),
    "dense": RetrievalSettings(mode="dense"),
    "lexical": RetrievalSettings(mode="lexical"),
    "two scores": RetrievalSettings(dense_share=0),
    "leaves only": RetrievalSettings(merge=False),
    "the least of everything": RetrievalSettings(candidates_k=1, top_k=1, budget_chars=200, max_per_document=1),
    "the most of everything": RetrievalSettings(candidates_k=1000, top_k=200, budget_chars=200_000),
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    embedder = WordHashEmbedding()
    corpus = make_corpus(tmp_path_factory.mktemp("books") / "default", TEXTS, embedder)
    yield engine_of(corpus)
    corpus.close()


def engine_of(corpus: Corpus) -> Engine:
    embedder = WordHashEmbedding()
    return Engine(corpus, embedder, a_leaf_reader(corpus), (), settings=Settings())


def check(found: Retrieval, options: RetrievalSettings) -> None:
    assert len(found.passages) <= options.top_k
    assert len(found.passages) == 1 or sum(len(passage.text) for passage in found.passages) <= options.budget_chars
    scores = [passage.score for passage in found.passages]
    assert scores == sorted(scores, reverse=True)
    for passage in found.passages:
        assert passage.text == TEXTS[passage.doc_id][passage.start : passage.end]


@pytest.mark.fault("D3")
@pytest.mark.parametrize("options", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_an_odd_question_finds_what_it_finds_in_every_way(
    engine: Engine, question: str, options: RetrievalSettings
) -> None:
    found = engine.retrieve(Inquiry(question), options)

    check(found, options)
    if options.mode != "lexical":
        assert found.passages


def test_stop_words_are_looked_for_when_there_is_nothing_else(engine: Engine) -> None:
    found = engine.retrieve(Inquiry("the in"), RetrievalSettings(mode="lexical", merge=False)).passages

    assert [passage.text for passage in found] == ["Albert Betz published the rotor limit in 1919."]


def test_words_of_another_script_are_found(engine: Engine) -> None:
    found = engine.retrieve(Inquiry("風力発電は風を使う"), RetrievalSettings(mode="lexical", merge=False)).passages

    assert found[0].doc_id == "風力.md"


@pytest.mark.parametrize("question", ["🙂", "..."])
def test_no_word_at_all_finds_nothing_by_words(engine: Engine, question: str) -> None:
    assert engine.retrieve(Inquiry(question), RetrievalSettings(mode="lexical")).passages == ()


def test_a_document_is_found_by_its_name_alone(engine: Engine) -> None:
    found = engine.retrieve(Inquiry("Acme Works"), RetrievalSettings(mode="lexical")).passages

    assert {passage.doc_id for passage in found} == {"ACMEWORKS_2017_10K.pdf"}


@pytest.mark.parametrize(
    ("question", "everyday"),
    [
        ("What makes the power wear out?", True),
        ("Which power did Quonsett publish?", True),  # no leaf holds the name
        ("What did Betz publish?", False),
        ("Which power in 1919?", False),
        ("Woher kommt der Wind und was ist power?", False),  # not English
        ("", True),
    ],
)
def test_a_name_or_a_number_that_a_leaf_holds_is_no_everyday_word(
    engine: Engine, question: str, *, everyday: bool
) -> None:
    found = engine.search.leaf_retriever(RetrievalSettings()).find(Query(question))

    assert found.in_everyday_words is everyday
