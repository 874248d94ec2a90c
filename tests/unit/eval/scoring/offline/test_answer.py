"""What is said is scored against the best of the right answers, word by word and in meaning."""

from collections.abc import Sequence
from functools import partial

import pytest

from errors import ModelError
from eval.cells import failed, not_applicable, scored
from eval.metrics import Scores
from eval.rows import Row
from eval.scoring.catalogue import names_of
from eval.scoring.offline.answer import AnswerScorer, Compare, compared
from eval.scoring.stage import Cells
from eval.similarity import Vectors, likenesses
from tests.fakes.embedding import WordHashEmbedding
from tests.fakes.eval_rows import answered, case, declined, unreplied

NAMES = set(names_of("answer"))
LONG = "Albert Betz published the limit of every rotor in 1919"


def scorer_of(compare: Compare) -> AnswerScorer:
    return AnswerScorer("answer", partial(compared, compare=compare))


def cells_of(row: Row, **known: object) -> Cells:
    ((_, cells),) = scorer_of(partial(likenesses, vectors=Vectors(WordHashEmbedding))).score(
        [(case(row.id, **known), row)]
    )
    return cells


@pytest.mark.promise("G15")
def test_an_answer_is_scored_without_its_marks() -> None:
    cells = cells_of(answered("**Albert Betz**. [1][2]"), answer="Albert Betz")

    assert {name: cell.score for name, cell in cells.items()} == {name: pytest.approx(1) for name in NAMES}


def test_words_are_counted_as_squad_does() -> None:
    cells = cells_of(answered("It was Betz, a physicist. [1]"), answer="Albert Betz")

    # Said: it, was, betz, physicist. Wanted: albert, betz. One is shared.
    assert cells["token_f1"].score == pytest.approx(2 * (1 / 4) * (1 / 2) / (1 / 4 + 1 / 2))
    assert cells["word_recall"] == scored(0.5)
    assert cells["exact_match"] == cells["contains"] == scored(0)
    assert cells["rouge_l"].score == round(2 * 1 / (5 + 2), 4)  # the article counts


def test_the_best_of_several_right_answers_counts() -> None:
    cells = cells_of(answered("Betz [1]"), answer="The German physicist", alternatives=["A. Betz", "Betz"])

    assert {name: cell.score for name, cell in cells.items()} == {name: pytest.approx(1) for name in NAMES}


@pytest.mark.promise("B21")
@pytest.mark.parametrize(
    ("said", "score"),
    [("It was Albert Betz.", 1), ("I don't know.", 0), ("I don’t know who it was.", 0), ("Newton.", -1), ("[1]", -1)],
)
def test_a_wrong_answer_costs_what_a_right_one_gains(said: str, score: int) -> None:
    assert cells_of(answered(said), answer="Albert Betz")["crag_score"] == scored(score)


def test_a_whole_sentence_is_not_expected_word_for_word() -> None:
    cells = cells_of(answered("Betz did. [1]"), answer=LONG)

    assert {name for name, cell in cells.items() if cell.not_applicable} == {"contains", "crag_score"}
    assert cells["contains"] == not_applicable("the reference is longer than 6 words")


@pytest.mark.promise("B21")
def test_a_declined_question_scores_0() -> None:
    assert cells_of(declined(), answer="Betz") == dict.fromkeys(NAMES, scored(0))


def test_a_row_without_reply_has_failed() -> None:
    cells = cells_of(unreplied(), answer=LONG)

    assert cells["token_f1"] == failed("no reply: the service took more than 5 s")
    assert cells["contains"].not_applicable


@pytest.mark.parametrize(
    ("known", "why"),
    [
        ({}, "the case has no reference answer"),
        ({"answer": None}, "the corpus does not answer the question"),
        ({"answer": "?!"}, "the reference answer holds no word"),
    ],
)
def test_without_a_right_answer_nothing_is_scored(known: dict[str, object], why: str) -> None:
    assert cells_of(answered("Betz."), **known) == dict.fromkeys(NAMES, not_applicable(why))


def test_an_answer_without_any_word_scores_0_by_words() -> None:
    cells = cells_of(answered("… [1]"), answer="Betz")

    assert {cells[name].score for name in NAMES - {"similarity", "crag_score"}} == {0}
    assert cells["crag_score"] == scored(-1)


@pytest.mark.parametrize(
    ("said", "right", "f1"),
    [
        ("柏林是德国的首都。", "柏林", 2 * 2 / (8 + 2)),
        ("العاصمة هي برلين", "برلين", 2 * 1 / (3 + 1)),
        ("Der Fluss heißt Überlinger Ach", "Überlinger Ach", 2 * 2 / (5 + 2)),
    ],
    ids=["Chinese", "Arabic", "German"],
)
def test_other_scripts_have_words_too(said: str, right: str, f1: float) -> None:
    cells = cells_of(answered(said), answer=right)

    assert cells["contains"] == cells["word_recall"] == scored(1)
    assert cells["token_f1"].score == pytest.approx(f1)


def test_an_answer_of_1_mb_is_scored() -> None:
    said = " ".join(f"word{number % 3000}" for number in range(110_000))

    cells = cells_of(answered(said), answer=LONG)

    assert all(cells[name].score == 0 for name in ("rouge_l", "token_f1", "word_recall"))


def test_a_missing_model_fails_what_needs_it_and_nothing_else() -> None:
    def missing(_: Sequence[tuple[str, str]]) -> list[Scores]:
        raise ModelError("The embedding model is missing.", "Install it.")

    ((_, cells),) = scorer_of(missing).score([(case(answer="Betz"), answered("Betz"))])

    assert cells["similarity"] == failed("The embedding model is missing.")
    assert cells["token_f1"] == scored(1)


def test_rows_are_compared_in_batches_and_yielded_in_order() -> None:
    asked: list[int] = []

    def alike(pairs: Sequence[tuple[str, str]]) -> list[Scores]:
        asked.append(len(pairs))
        return [{"similarity": 1, "rouge_l": 1}] * len(pairs)

    todo = [(case(str(n), answer="Betz"), answered("Betz", str(n))) for n in range(100)]

    assert [id_ for id_, _ in scorer_of(alike).score(todo)] == [str(n) for n in range(100)]
    assert asked == [64, 36]
