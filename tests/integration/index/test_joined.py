"""Several corpora read as one: what is found, how words weigh, and what equal names and equal documents do."""

from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from index.corpus import Corpus, joined_name, member_names
from index.joined import JoinedCorpus
from query_engine.engine import Engine
from query_engine.inquiry import Inquiry
from query_engine.retrieval.leaf_texts import leaf_texts
from query_engine.schema.citations import Citations
from settings import Settings
from tests.fakes.corpora import make_corpus
from tests.fakes.embedding import WordHashEmbedding
from tests.fakes.reading import a_leaf_reader

HARBOUR = {
    "report.md": "Cranes lift the freight at night. The harbour was dredged in 1931. Pilots board at the mole.",
    "ships.md": "Ferries cross the strait. Tugs pull the large ships. Ships wait for the tide.",
    "same.md": "Every depot has a fire officer. Alarms are tested on Mondays.",
}
ORCHARD = {
    "report.md": "Apples are picked in autumn!!!! The orchard was planted in 1931. Pears ripen later.",
    "bees.md": "Bees visit the apple trees. Hives stand under the large limes. Wasps eat the fruit.",
    "same.md": "Every depot has a fire officer. Alarms are tested on Mondays.",
}
QUESTIONS = ("When was the orchard planted?", "What do tugs pull?", "Which large things are there?", "1931", "freight")


@pytest.fixture
def members(tmp_path: Path) -> Iterator[list[Corpus]]:
    with ExitStack() as held:
        yield [
            held.enter_context(closing(make_corpus(tmp_path / name, texts, WordHashEmbedding())))
            for name, texts in (("harbour", HARBOUR), ("orchard", ORCHARD))
        ]


@pytest.fixture
def joined(members: list[Corpus]) -> JoinedCorpus:
    return JoinedCorpus(members)


@pytest.fixture
def whole(tmp_path: Path) -> Iterator[Corpus]:
    """Return one corpus with all the documents, those of the orchard under names of their own."""
    texts = {f"harbour-{name}": text for name, text in HARBOUR.items()}
    texts |= {f"orchard-{name}": text for name, text in ORCHARD.items()}
    with closing(make_corpus(tmp_path / "whole", texts, WordHashEmbedding())) as made:
        yield made


def engine_over(corpus: Corpus) -> Engine:
    return Engine(corpus, WordHashEmbedding(), a_leaf_reader(corpus), (), settings=Settings())


def test_names_of_several_are_sorted_and_each_stands_there_once() -> None:
    assert joined_name(["b", "a", "b"]) == "a+b"
    assert member_names("b+a+b") == ("a", "b")
    assert member_names("a") == ("a",)


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_best_passages_are_those_of_one_corpus_of_all_documents(
    joined: JoinedCorpus, whole: Corpus, question: str
) -> None:
    expected = engine_over(whole).retrieve(Inquiry(question)).passages
    found = engine_over(joined).retrieve(Inquiry(question)).passages

    assert found[0].text == expected[0].text
    assert {passage.text for passage in found} == {passage.text for passage in expected}


def test_a_word_is_as_rare_as_in_all_corpora_together(joined: JoinedCorpus, whole: Corpus) -> None:
    words, expected = joined.lexical_index, whole.lexical_index

    assert words.count() == expected.count()
    for term in ("1931", "larg", "freight", "fire", "unheard"):
        assert words.weight(term) == pytest.approx(expected.weight(term))
        assert words.has(term) == expected.has(term)
    assert words.any_of(["ship", "appl"]).weight == pytest.approx(expected.any_of(["ship", "appl"]).weight)
    assert words.beginning_with("h") == sorted(expected.beginning_with("h"))


def test_scores_by_words_are_comparable_between_corpora(
    joined: JoinedCorpus, members: list[Corpus], whole: Corpus
) -> None:
    terms = {"ship": 1.0, "appl": 1.0, "1931": 1.0}
    expected = by_text(whole, terms)
    separate = by_text(members[0], terms) | by_text(members[1], terms)

    assert by_text(joined, terms) == pytest.approx(expected, rel=0.05)
    assert separate != pytest.approx(expected, rel=0.05)


def by_text(corpus: Corpus, terms: dict[str, float]) -> dict[str, float]:
    hits = corpus.lexical_index.search(terms, (), 10)
    return dict(
        zip(leaf_texts(corpus.documents, [name for name, _ in hits]), (score for _, score in hits), strict=True)
    )


def test_equal_names_are_told_apart_and_an_equal_document_is_shown_once(joined: JoinedCorpus) -> None:
    passages = engine_over(joined).retrieve(Inquiry("What happened in 1931?")).passages
    reports = {passage.corpus for passage in passages if passage.doc_id == "report.md"}
    officers = [
        passage
        for passage in engine_over(joined).retrieve(Inquiry("Who is the fire officer?")).passages
        if passage.doc_id == "same.md"
    ]

    assert reports == {"harbour", "orchard"}
    assert [passage.corpus for passage in officers] == ["harbour"]


def test_quotes_at_equal_places_of_equally_named_documents_have_numbers_of_their_own(joined: JoinedCorpus) -> None:
    passages = engine_over(joined).retrieve(Inquiry("What happened in 1931?")).passages
    one, other = (
        next(passage for passage in passages if passage.document == (name, "report.md"))
        for name in ("harbour", "orchard")
    )
    citations = Citations()
    start = max(one.start, other.start)

    numbers = [citations.cite(passage, start, start + 5) for passage in (one, other)]

    assert not one.overlaps(other)
    assert numbers == [1, 2]
    assert [citation.corpus for citation in citations.all()] == ["harbour", "orchard"]


def test_a_filter_holds_in_every_corpus(joined: JoinedCorpus) -> None:
    only = {"filters": [{"key": "doc_id", "value": "report.md"}]}

    passages = engine_over(joined).retrieve(Inquiry("Which large things are there in 1931?", only)).passages

    assert {passage.document for passage in passages} == {("harbour", "report.md"), ("orchard", "report.md")}


def test_the_catalogue_names_the_corpus_of_each_document(joined: JoinedCorpus) -> None:
    names = [name.place for name in joined.catalogue.names()]

    assert names[:2] == ["orchard:bees.md", "harbour:report.md"]
    assert joined.documents.count() == len(names) == 6


def test_the_state_changes_with_any_corpus(joined: JoinedCorpus, members: list[Corpus]) -> None:
    before = joined.documents.state()

    members[1].delete(["bees.md"])

    assert joined.documents.state() != before
    assert "bees.md" not in {name.doc_id for name in joined.catalogue.names()}


@pytest.mark.parametrize(
    ("one", "other", "question"),
    [
        (
            "Der Hafen wurde tiefer gemacht. Die Fracht kommt nachts. Das Wetter ist rau.",
            "Die Häfen im Norden frieren zu. Viele Birnen reifen spät. Das Obst wird gelagert.",
            "Wie tief sind die Häfen im Norden, und wann frieren sie zu?",
        ),
        ("港口很深. 货物在夜里到达. 船等待潮水.", "果园里有苹果. 港湾在北方. 蜜蜂住在树下.", "港城在哪里?"),
    ],
)
def test_words_of_other_languages_weigh_as_in_one_corpus(tmp_path: Path, one: str, other: str, question: str) -> None:
    with ExitStack() as held:
        first, second, whole = (
            held.enter_context(closing(make_corpus(tmp_path / name, texts, WordHashEmbedding())))
            for name, texts in (("a", {"a.md": one}), ("b", {"b.md": other}), ("whole", {"a.md": one, "b.md": other}))
        )
        found, expected = (
            {
                term: (words.weight(term), {name for name, _ in words.search({term: 1.0}, (), 10)})
                for words in [corpus.lexical_index.words_of(question)]
                for term in words.query_terms(question)
            }
            for corpus in (JoinedCorpus([first, second]), whole)
        )

    assert found == expected
    assert any(len({name[:20] for name in names}) == 2 for _, names in found.values())
