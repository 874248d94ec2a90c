"""The gate's classifier: what examples are made of, that training finds what separates them, what the report says."""

import random
import re
from collections.abc import Collection, Sequence
from pathlib import Path

import pytest

from eval.cases import Case
from query_engine.answerability.features import Features
from query_engine.schema.passage import Passage
from tests.fakes.engines import a_passage
from tests.fakes.tables import plain_rows
from training.gate.examples import (
    ANSWERED,
    DOCUMENTS_REMOVED,
    FOREIGN,
    PASSAGES_REMOVED,
    UNANSWERABLE,
    Example,
    holds_answer,
    make_examples,
)
from training.gate.fit import PRIOR, example_weights, judge, train
from training.gate.report import report
from training.gate.search import Hides

FEATURES = ("similarity", "coverage")
CASE = Case(id="1", question="Who set the limit?", answer="Albert Betz", relevant_docs=("wind.md",))


def features(similarity: float, coverage: float) -> Features:
    return Features(near=0.0, leaf=0.0, similarity=similarity, coverage=coverage, missing=())


def separable(count: int = 60) -> list[Example]:
    """Two sets in which high coverage means an answer, and similarity means nothing."""
    chance = random.Random(7)
    examples = []
    for i in range(count):
        for kind, coverage in ((ANSWERED, 0.8), (PASSAGES_REMOVED, 0.5), (DOCUMENTS_REMOVED, 0.3), (FOREIGN, 0.1)):
            spread = chance.uniform(-0.1, 0.1)
            measured = features(chance.uniform(0.2, 0.8), coverage + spread)
            examples.append(Example("ab"[i % 2], f"{i}", kind, measured))
    return examples


class Shelf:
    """A search that finds all its passages but those hidden."""

    def __init__(self, *passages: Passage) -> None:
        self.passages = passages

    def __call__(
        self, _question: str, *, documents: Collection[str] = (), hides: Hides = lambda _doc_id, _text: False
    ) -> list[Passage]:
        return [
            passage
            for passage in self.passages
            if passage.doc_id not in documents and not hides(passage.doc_id, passage.text)
        ]


def made(
    case: Case, *passages: Passage, foreign: tuple[Case, ...] = (), read: Sequence[tuple[str, str]] = ()
) -> dict[str, float]:
    """Return kind -> how many passages its example has; `read` is read for each of them."""

    def count(_question: str, found: list[Passage]) -> tuple[Features, Sequence[tuple[str, str]]]:
        return features(0.5, len(found)), read

    examples = make_examples("set", [case], foreign, Shelf(*passages), count)  # type: ignore[arg-type]
    return {example.kind: example.features.coverage for example in examples}


BETZ, SUBJECT = a_passage("wind.md", "Albert Betz set it."), a_passage("wind.md", "The limit is well known.")
ELSEWHERE = a_passage("sun.md", "Albert Betz had a lamp.")


def test_each_question_is_asked_with_and_without_what_answers_it() -> None:
    foreign = (Case(id="9", question="Other?"),)

    assert made(CASE, BETZ, SUBJECT, ELSEWHERE, foreign=foreign) == {
        ANSWERED: 3,
        PASSAGES_REMOVED: 2,
        DOCUMENTS_REMOVED: 1,
        FOREIGN: 3,
    }


def test_where_what_is_read_still_gives_the_answer_away_nothing_was_removed() -> None:
    assert PASSAGES_REMOVED not in made(CASE, BETZ, SUBJECT, ELSEWHERE, read=[("wind.md", "It was Albert Betz.")])
    assert PASSAGES_REMOVED in made(CASE, BETZ, SUBJECT, ELSEWHERE, read=[("sun.md", "It was Albert Betz.")])


def test_quotes_tell_what_answers_where_no_answer_is_written() -> None:
    case = Case(id="5", question="Who set it?", relevant_docs=("wind.md",), reference_contexts=("Albert Betz set it.",))

    assert made(case, BETZ, SUBJECT, ELSEWHERE) == {ANSWERED: 3, PASSAGES_REMOVED: 2, DOCUMENTS_REMOVED: 1}
    assert made(case, SUBJECT, ELSEWHERE) == {}


def test_a_question_whose_answer_was_not_found_is_no_example() -> None:
    assert made(CASE, ELSEWHERE) == {}


def test_an_unanswerable_question_speaks_against_an_answer() -> None:
    assert made(Case(id="2", question="Why?", answer=None), ELSEWHERE) == {UNANSWERABLE: 1}


def test_where_only_documents_are_judged_only_they_are_hidden() -> None:
    case = Case(id="3", question="Limits?", relevance={"wind.md": 2.0, "sun.md": 0.0})

    assert made(case, BETZ, ELSEWHERE) == {ANSWERED: 2, DOCUMENTS_REMOVED: 1}


def test_an_example_without_passages_is_left_out() -> None:
    assert made(CASE, BETZ) == {ANSWERED: 1}


@pytest.mark.parametrize(
    ("text", "holds"),
    [("A mixture of sodium nitrate and potassium is stored.", True), ("Salt is what you ask about.", False)],
)
def test_a_long_answer_is_given_away_by_a_share_of_its_own_words(text: str, holds: bool) -> None:
    answer = "Solar salt is a mixture of sodium nitrate and potassium nitrate by weight."
    case = Case(id="4", question="What is solar salt?", answer=answer)

    assert holds_answer(case, "any.md", text) is holds


def test_training_finds_what_separates() -> None:
    similarity, coverage = train(separable(), FEATURES).weights

    assert (similarity.feature, coverage.feature) == FEATURES
    assert coverage.weight > 3
    assert abs(similarity.weight) < 1
    assert coverage.mean == pytest.approx(PRIOR * 0.8 + (1 - PRIOR) * 0.3, abs=0.02)


@pytest.mark.parametrize("leave_sets_out", [False, True])
def test_what_separates_is_judged_to_separate_on_unseen_questions(leave_sets_out: bool) -> None:
    judged = judge(separable(), lambda examples: train(examples, FEATURES), leave_sets_out=leave_sets_out)

    assert judged.roc_auc() == pytest.approx(1)
    assert min(judged.precision_recall(0.5)) > 0.95
    assert judged.log_loss() < 0.2


def test_nobody_is_judged_by_a_classifier_that_saw_the_question() -> None:
    examples = separable(10)
    seen: list[set[str]] = []

    def remember(others: list[Example]) -> object:
        seen.append({example.question_id for example in others})
        return train(others, FEATURES)

    judge(examples, remember)  # type: ignore[arg-type]

    assert all(len(questions) == 8 for questions in seen)


def test_sets_and_kinds_count_the_same_however_many_examples_they_have() -> None:
    kinds = [("a", ANSWERED), *[("a", FOREIGN)] * 5, *[("b", ANSWERED)] * 3, ("b", PASSAGES_REMOVED), ("b", FOREIGN)]
    examples = [Example(name, str(i), kind, features(0, 0)) for i, (name, kind) in enumerate(kinds)]
    weights = example_weights(examples)

    assert weights.mean() == pytest.approx(1)
    assert weights[:6].sum() == pytest.approx(weights[6:].sum())
    assert weights[0] / weights[:6].sum() == pytest.approx(PRIOR)
    assert weights[-1] == pytest.approx(weights[-2])


def test_the_report_counts_the_examples_and_judges_the_classifier() -> None:
    page = plain_rows(report(separable(20), FEATURES, 0.5))

    assert "| **all** | 20 | 20 | 20 | 0 | 20 |" in page
    assert any(line.startswith("| 5 folds | 1.000 |") for line in page)
    assert any(line.startswith("| left-out data set | 1.000 |") for line in page)


def test_the_guide_has_the_prose_of_the_report() -> None:
    def prose(page: str) -> str:
        opening, *_, closing = re.split(r"^\| set +\|.*$|^(?=## What to expect)", page, flags=re.MULTILINE)
        return opening + closing.strip()

    guide = (Path(__file__).parents[4] / "reference" / "gate.md").read_text()

    assert prose(guide) == prose(report(separable(20), FEATURES, 0.5))
