"""Pairs of question and leaf: found for questions of a file, written by a model, or made of the documents."""

import random
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest

from errors import LLMError
from eval.cases import Case
from index.documents.splitter import TreeSplitter
from index.documents.store import StoredDocument
from settings import ChunkSettings
from tests.fakes.corpora import stored
from tests.fakes.llm import FakeLLM, asker
from training.embedder import pairs as pairing
from training.embedder.rows import Leaf

TEXT = (
    "Albert Betz published his limit for wind turbines in the year 1919. "
    "The limit says how much of the energy in the stream can be captured. "
    "A turbine that took all of the energy would stop the air behind it."
)


@pytest.fixture
def splitter() -> TreeSplitter:
    return TreeSplitter(ChunkSettings(), lambda text: len(text.split()), 254)


def _vectors(count: int, near: int = 0) -> npt.NDArray[np.float32]:
    vectors = np.zeros((count, 2), np.float32)
    vectors[:, 1] = 1
    vectors[near] = (1, 0)
    return vectors


def _embed(_text: str) -> npt.NDArray[np.float32]:
    return np.array([1, 0], np.float32)


def _leaves(splitter: TreeSplitter, *documents: StoredDocument) -> list[Leaf]:
    return [leaf for document in documents for leaf in pairing.leaves_of(document, splitter)]


def test_a_reference_text_finds_its_leaf(splitter: TreeSplitter) -> None:
    leaves = _leaves(splitter, stored("other.md", TEXT), stored("wind/betz.md", TEXT, title="Betz"))
    reference = "A turbine that took all of the energy would stop the air behind it."
    case = Case(id="1", question="Q?", relevant_docs=("betz.md",), reference_context=reference)

    (pair,) = pairing.pairs_of_questions([case], leaves, _vectors(len(leaves)), _embed)

    assert pair.leaf.doc_id == "wind/betz.md"
    assert pair.leaf.text == reference
    assert pair.passage == f"Betz\n{reference}"


def test_without_a_reference_the_nearest_leaf_that_holds_the_answer_is_taken(splitter: TreeSplitter) -> None:
    leaves = _leaves(splitter, stored("betz.md", TEXT))
    case = Case(id="1", question="What can be captured?", answer="energy", relevant_docs=("betz.md",))

    (pair,) = pairing.pairs_of_questions([case], leaves, _vectors(3, near=2), _embed)
    assert pair.leaf.text == leaves[2].text

    # The nearest of all does not hold it.
    (pair,) = pairing.pairs_of_questions([case], leaves, _vectors(3, near=0), _embed)
    assert pair.leaf.text == leaves[1].text


@pytest.mark.parametrize(
    "case",
    [
        Case(id="1", question="Q?", answer=None, relevant_docs=("betz.md",)),
        Case(id="1", question="Q?", answer="granite", relevant_docs=("betz.md",)),
        Case(id="1", question="Q?", answer="energy"),
        Case(
            id="1", question="Q?", reference_context="Nothing of the kind was ever written.", relevant_docs=("betz.md",)
        ),
    ],
)
def test_a_question_whose_passage_is_not_found_is_left_out(splitter: TreeSplitter, case: Case) -> None:
    leaves = _leaves(splitter, stored("betz.md", TEXT))
    assert not pairing.pairs_of_questions([case], leaves, _vectors(3), _embed)


def test_documents_are_held_out_whole_and_copies_together(splitter: TreeSplitter) -> None:
    texts = [f"Sentence number {number} stands here. Another one follows." for number in range(40)]
    documents = [stored(f"{number}{copy}.md", text) for number, text in enumerate(texts) for copy in "ab"]

    sides = pairing.divide(documents, splitter, 0.5, seed=0)

    held, learnt = {leaf.doc_id for leaf in sides.held_out}, {leaf.doc_id for leaf in sides.learnt}
    assert not held & learnt
    assert len(held) + len(learnt) == 80
    assert 20 <= len(held) <= 60
    assert all(name.replace("a.", "b.") in held for name in held)
    assert {leaf.doc_id for leaf in pairing.divide(documents, splitter, 0.5, seed=1).held_out} != held


def test_pairs_are_made_of_titles_headings_and_sentences(splitter: TreeSplitter) -> None:
    below = "This limit of Betz says what a turbine can take at most"
    document = stored("betz.md", f"# The limit\n{below}. {TEXT} {TEXT}", title="Albert Betz")

    made = pairing.made_pairs([document], splitter, 100, seed=0)

    found = {pair.case.id: pair for pair in made}
    assert found["heading-0"].case.question == "The limit"
    assert found["heading-0"].passage == f"Albert Betz\n{below}."
    # A title would find itself if it stood before its passage.
    assert found["title-0"].case.question == "Albert Betz"
    assert not found["title-0"].passage.startswith("Albert Betz")
    assert [pair.case.id for pair in pairing.made_pairs([document], splitter, 1, seed=0)] != []
    assert len(pairing.made_pairs([document], splitter, 1, seed=0)) == 1


def test_a_sentence_is_mostly_taken_out_of_its_passage() -> None:
    leaf = Leaf("n", "betz.md", f"Betz\n{TEXT}", TEXT)
    draw = random.Random(3)
    pairs = [pair for number in range(50) if (pair := pairing._of_sentence(leaf, number, draw))]

    kept = sum(pair.case.question in pair.passage for pair in pairs)
    assert len(pairs) == 50
    assert 0 < kept < 20


def test_a_language_model_writes_questions(splitter: TreeSplitter) -> None:
    leaves = _leaves(splitter, stored("betz.md", TEXT))
    told: list[str] = []

    pairs = pairing.written_pairs(
        leaves, asker(FakeLLM(says=['"Who published the limit?"', "\nmore"])), 2, 0, told.append
    )

    assert [pair.case.question for pair in pairs] == ["Who published the limit?"] * 2
    assert len({pair.leaf.node_id for pair in pairs}) == len(told) == 2


def test_a_model_that_writes_nothing_ends_it(splitter: TreeSplitter) -> None:
    leaves: Sequence[Leaf] = _leaves(splitter, *(stored(f"{number}.md", TEXT) for number in range(4)))
    with pytest.raises(LLMError, match="no question for ten passages"):
        pairing.written_pairs(leaves, asker(FakeLLM(says=[""])), 12, 0, lambda _: None)
