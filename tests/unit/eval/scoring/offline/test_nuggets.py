"""Facts and quotes of a row; what a case or a service lacks is said, not counted."""

from typing import Any

import pytest

from eval.cells import not_applicable, scored
from eval.rows import NOT_LOOKED_UP, Row
from eval.scoring.catalogue import names_of
from eval.scoring.offline.nuggets import score_nuggets
from tests.fakes.eval_rows import answered, case, declined, quote, unreplied

NAMES = list(names_of("nuggets"))
NUGGETS = [
    {"text": "It is dried.", "vital": True, "any": ["sun dries"]},
    {"text": "It is raked.", "vital": True, "any": ["rake"]},
    {"text": "In June.", "vital": False, "any": ["in june"]},
]
REGION = {"doc": "salt.md", "quote_start": "The sun", "quote_end": "by hand."}
CASE = case(answer="It is dried and raked.", nuggets=NUGGETS, regions=[REGION])
ON, OFF = "The sun dries it in June.", "Tea."
ROW = answered(
    f"{ON} [1] {OFF} [2]",
    citations=(quote(1, ON, doc_id="salt.md"), quote(2, OFF, doc_id="tea.md")),
    on_topic=(0,),
)


def test_an_answer_is_helpful_if_it_holds_half_of_the_vital_facts_and_quotes_little_else() -> None:
    share = len(ON) / (len(ON) + len(OFF))

    assert score_nuggets(CASE, ROW) == {
        "vital_recall": scored(0.5),
        "nugget_recall": scored(2 / 3),
        "topic_precision": scored(share),
        "helpful": scored(1),
    }
    assert score_nuggets(CASE, ROW.model_copy(update={"on_topic": ()}))["helpful"] == scored(0)


def test_a_declined_question_holds_nothing_and_a_lost_one_says_nothing() -> None:
    assert score_nuggets(CASE, declined()) == {
        **dict.fromkeys(NAMES, scored(0)),
        "topic_precision": not_applicable("the service declined"),
    }
    assert {cell.failed for cell in score_nuggets(CASE, unreplied()).values()} == {
        "no reply: the service took more than 5 s"
    }


def test_an_answer_of_marks_alone_is_not_helpful() -> None:
    cells = score_nuggets(CASE, ROW.model_copy(update={"answer": "[1] [2]"}))

    assert (cells["vital_recall"], cells["helpful"]) == (scored(0), scored(0))


@pytest.mark.parametrize(
    ("known", "row", "lacking"),
    [
        ({}, ROW, NAMES),
        ({"answer": None, "nuggets": NUGGETS}, ROW, NAMES),
        ({"nuggets": NUGGETS}, ROW, ["topic_precision", "helpful"]),
        ({"nuggets": NUGGETS}, declined(), ["topic_precision", "helpful"]),
        ({"nuggets": [{"text": "It is dried.", "vital": True}], "regions": [REGION]}, ROW, [*NAMES[:2], "helpful"]),
        ({"nuggets": NUGGETS[2:], "regions": [REGION]}, ROW, ["vital_recall", "helpful"]),
        ({"nuggets": NUGGETS, "regions": [REGION]}, answered("It."), ["topic_precision", "helpful"]),
        (
            {"nuggets": NUGGETS, "regions": [REGION]},
            ROW.model_copy(update={"on_topic": NOT_LOOKED_UP}),
            ["topic_precision", "helpful"],
        ),
    ],
    ids=["no nuggets", "no answer", "no regions", "declined", "no phrasings", "none vital", "no quotes", "not seen"],
)
def test_what_cannot_be_told_does_not_apply(known: dict[str, Any], row: Row, lacking: list[str]) -> None:
    cells = score_nuggets(case(**known), row)

    assert [name for name, cell in cells.items() if cell.not_applicable] == lacking
