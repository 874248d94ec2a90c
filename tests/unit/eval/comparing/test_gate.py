"""A gate that cannot be judged is closed: a metric that matters must be seen not to be worse."""

from pathlib import Path

import pytest

from eval.comparing.command import failures, wanted_metrics
from eval.comparing.pairing import Joined
from eval.comparing.verdicts import judge
from tests.failing import failing
from tests.fakes.runs import case
from tests.unit.eval.comparing.pairs import Scores, pair, questions

GOOD = [1.0] * 40


def failed(joined: Joined, *wanted: str) -> list[str]:
    return [f"{name}: {why}" for name, why in failures(judge(joined), wanted_metrics(wanted, joined)).items()]


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ([1.0] * 40, []),
        ([0.0] * 4 + [1.0] * 36, []),
        ([0.0] * 20 + [1.0] * 20, ["doc@1: worse by 0.500"]),
        ([None] * 2 + [1.0] * 38, ["doc@1: of 40 questions that A has a score for, B failed 2"]),
    ],
    ids=["as good", "too few differ", "worse", "scores are lost"],
)
def test_what_fails_and_why(tmp_path: Path, after: list[float | None], expected: list[str]) -> None:
    assert failed(pair(tmp_path, {"doc@1": GOOD}, {"doc@1": after}), "doc@1") == expected


def test_only_what_was_named_fails(tmp_path: Path) -> None:
    before: Scores = {"doc@1": GOOD, "mrr": GOOD}

    assert failed(pair(tmp_path, before, {"doc@1": GOOD, "mrr": [0.0] * 40}), "doc@1:worse") == []


def test_too_few_pairs_fail(tmp_path: Path) -> None:
    assert failed(pair(tmp_path, {"doc@1": [1.0] * 9}, {"doc@1": [1.0] * 9}), "doc@1") == [
        "doc@1: too few to tell, 9 pairs"
    ]


def test_pairs_from_too_few_documents_fail(tmp_path: Path) -> None:
    asked = [case(f"q{n:02}", f"{n}?", "Yes.", relevant_docs=(f"d{n % 3}.md",)) for n in range(40)]

    assert failed(pair(tmp_path, {"doc@1": GOOD}, {"doc@1": GOOD}, asked), "doc@1") == [
        "doc@1: too few to tell, 40 pairs from 3 documents"
    ]


def test_few_questions_without_an_answer_do_not_fail_what_the_others_tell(tmp_path: Path) -> None:
    asked = [*questions(12), case("n", "Who?", None)]

    assert failed(pair(tmp_path, {"doc@1": [1.0] * 13}, {"doc@1": [1.0] * 13}, asked), "replied") == []


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ("doc@l", r"no metric 'doc@l'. Did you mean doc@1\? Known here: replied, doc@1, mrr"),
        ("faithfulness", r"no metric 'faithfulness'|not both scored by faithfulness"),
        ("contains", r"not both scored by contains.*python -m eval score RUN"),
        ("write_ms", r"write_ms has no verdict. Name seconds"),
        ("abstention_precision", r"not the same ones. Name declined or abstention_recall"),
        ("doc@1:better", r"'better' is not a verdict. Write doc@1 or doc@1:worse"),
    ],
)
def test_what_cannot_be_judged_is_refused_by_name(tmp_path: Path, wanted: str, message: str) -> None:
    scores: Scores = {"doc@1": GOOD, "mrr": GOOD, "write_ms": GOOD}
    joined = pair(tmp_path, scores, scores)

    with failing("unknown_metric", match=message):
        wanted_metrics([wanted], joined)
