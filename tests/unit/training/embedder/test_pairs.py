"""The leaf that answers a question is found in its document."""

import numpy as np
import numpy.typing as npt
import pytest

from eval.cases import Case
from index.documents.splitter import TreeSplitter
from index.documents.store import StoredDocument
from settings import ChunkSettings
from tests.fakes.corpora import stored
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
    assert pair.leaf.embedded == f"Betz\n{reference}"


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
