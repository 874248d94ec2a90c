"""How alike two texts are, over a fake embedder whose vectors are the words of a text."""

import pytest
from hypothesis import given
from hypothesis.strategies import lists, sampled_from

from eval.similarity import Similarity, longest_common_subsequence
from eval.vectors import Vectors
from tests.fakes.embedding import WordHashEmbedding

LIKENESS = Similarity(Vectors(WordHashEmbedding))
REFERENCE = "Albert Betz published the limit of a rotor."


def test_the_reference_is_like_itself_with_any_marks() -> None:
    scores = LIKENESS.score("Albert **Betz** published the limit of a rotor. [1]", REFERENCE)

    assert scores == {name: pytest.approx(1) for name in ("similarity", "matching", "rouge_l")}


def test_no_answer_is_like_nothing() -> None:
    nothing = {"similarity": 0.0, "matching": 0.0, "rouge_l": 0.0}

    assert LIKENESS.score(None, REFERENCE) == nothing
    assert LIKENESS.score("[1]", REFERENCE) == nothing


def test_words_in_another_order_match_but_share_a_shorter_run() -> None:
    shuffled = LIKENESS.score("A rotor: Betz, Albert, published of the limit.", REFERENCE)

    assert shuffled["matching"] == pytest.approx(1)
    assert shuffled["rouge_l"] < 0.8


def test_matching_counts_what_is_missing_and_what_is_too_much() -> None:
    part, more = LIKENESS.score("Betz.", REFERENCE), LIKENESS.score(f"{REFERENCE} Zebras graze upon hills.", REFERENCE)

    assert 0 < part["matching"] < 1
    assert 0 < more["matching"] < 1


def test_texts_without_content_words_do_not_match() -> None:
    assert LIKENESS.score("the", "of a")["matching"] == 0


@given(lists(sampled_from("abcd"), max_size=12), lists(sampled_from("abcd"), max_size=12))
def test_the_longest_common_subsequence_is_that_of_the_textbook(first: list[str], second: list[str]) -> None:
    rows = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]
    for i, one in enumerate(first):
        for j, other in enumerate(second):
            rows[i + 1][j + 1] = rows[i][j] + 1 if one == other else max(rows[i][j + 1], rows[i + 1][j])

    assert longest_common_subsequence(first, second) == rows[-1][-1]


@pytest.mark.parametrize(
    ("answer", "f1"),
    [
        ("The rotors were limited by Albert Betz.", 2 * 2 / (7 + 8)),  # "albert", "betz"
        ("Betz publishes limits of rotors", 2 * 5 / (5 + 8)),  # by their stems
        ("Nobody knows", 0),
    ],
)
def test_rouge_l_counts_stems_in_order(answer: str, f1: float) -> None:
    assert LIKENESS.score(answer, REFERENCE)["rouge_l"] == pytest.approx(f1)


def test_rouge_l_is_that_of_the_library_that_others_use() -> None:
    scorer = pytest.importorskip("rouge_score.rouge_scorer").RougeScorer(["rougeL"], use_stemmer=True)
    texts = (
        REFERENCE,
        "He published 3.5 limits of rotors; nobody's perfect.",
        "Rotors' limits, published by Betz",
        "x",
    )

    for text in texts:
        for other in texts:
            ours, theirs = LIKENESS.score(text, other)["rouge_l"], scorer.score(other, text)["rougeL"].fmeasure
            assert ours == pytest.approx(theirs)
