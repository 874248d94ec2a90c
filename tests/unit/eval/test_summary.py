from eval.cases import Case
from eval.cells import Mean, scored
from eval.summary import metric_names, summarise

ANSWERABLE = Case(id="1", question="q", answer="a", category="factual")
UNANSWERABLE = Case(id="2", question="q", answer=None, category="no_answer")
UNKNOWN = Case(id="3", question="q")


def test_questions_without_an_answer_stand_apart() -> None:
    cells = {"1": {"declined": scored(0)}, "2": {"declined": scored(1)}, "3": {"declined": scored(0)}}

    summary = summarise([ANSWERABLE, UNANSWERABLE, UNKNOWN], cells)

    assert summary.answerable["declined"] == Mean(0.0, 2, 2)
    assert summary.unanswerable["declined"] == Mean(1.0, 1, 1)
    assert summary.everything["declined"] == Mean(1 / 3, 3, 3)


def test_categories_are_averaged_by_themselves_and_rows_without_one_together() -> None:
    cells = {"1": {"recall": scored(1)}, "3": {"recall": scored(0)}}

    summary = summarise([ANSWERABLE, UNANSWERABLE, UNKNOWN], cells)

    assert {name: means["recall"] for name, means in summary.by_category.items()} == {
        "factual": Mean(1.0, 1, 1),
        "no_answer": Mean(None, 0, 1),
        "": Mean(0.0, 1, 1),
    }


def test_a_case_that_was_never_asked_lowers_the_coverage() -> None:
    assert summarise([ANSWERABLE, UNKNOWN], {"1": {"recall": scored(1)}}).answerable["recall"] == Mean(1.0, 1, 2)


def test_metrics_stand_in_the_order_they_appeared_in() -> None:
    assert metric_names({"1": {"b": scored(1)}, "2": {"a": scored(1), "b": scored(1)}}) == ["b", "a"]
