from pathlib import Path

import pytest

from eval.cells import Mean, failed, not_applicable, scored
from eval.reporting.gather import TITLES, gather
from eval.scoring.catalogue import METRICS
from tests.failing import failing
from tests.fakes.runs import DAM, SAMPLE_CASES, SAMPLE_ROWS, case, reply, sample_cells, sample_run, write_run


def test_a_run_without_replies_says_how_to_go_on(tmp_path: Path) -> None:
    with failing("nothing_to_report", match=r"has no replies yet. Go on with it: python -m eval run"):
        gather(write_run(tmp_path / "a", SAMPLE_CASES, [], {}))


def test_a_run_without_scores_says_how_to_score_it(tmp_path: Path) -> None:
    with failing("not_scored", match=r"has no scores.*python -m eval score .*a"):
        gather(write_run(tmp_path / "a", SAMPLE_CASES, SAMPLE_ROWS, {}))


def test_what_is_missing_is_told(tmp_path: Path) -> None:
    cells = sample_cells()
    del cells["right"]["answer"]
    run = gather(write_run(tmp_path / "a", SAMPLE_CASES, SAMPLE_ROWS[:-1], cells | {"invented": {}}))

    assert "The run is unfinished: 1 of 8 questions were not asked." in run.notices
    assert "1 of 8 questions got no reply. The same run command asks them again." in run.notices
    assert any(notice.startswith("1 of 7 replies have no scores of answer;") for notice in run.notices)
    assert run.counts["unasked"] == 1


def test_replies_of_several_systems_are_told(tmp_path: Path) -> None:
    rows = [SAMPLE_ROWS[0], reply("missed", "x", DAM, fingerprint="e2e2")]
    run = gather(write_run(tmp_path / "a", SAMPLE_CASES, rows, {"right": sample_cells()["right"]}))

    assert "The replies come from 2 different systems: e2e2, f1f1." in run.notices


@pytest.mark.promise("E23")
@pytest.mark.parametrize(
    ("family", "name", "source"), [("ragas", "faithfulness", "mixed"), ("answer", "token_f1", "offline")]
)
def test_the_source_of_the_scores_is_told(tmp_path: Path, family: str, name: str, source: str) -> None:
    cells = sample_cells()
    cells["right"][family] = {name: scored(0.5)}

    assert gather(write_run(tmp_path / "a", SAMPLE_CASES, SAMPLE_ROWS, cells)).source == source


def test_only_judged_scores_come_from_a_judge(tmp_path: Path) -> None:
    cells = {"right": {"ragas": {"faithfulness": scored(0.5)}, "speed": {"seconds": scored(1.0)}}}

    assert gather(write_run(tmp_path / "a", SAMPLE_CASES, SAMPLE_ROWS, cells)).source == "judge"


def test_metrics_stand_by_family_and_those_that_nobody_knows_last(tmp_path: Path) -> None:
    cells = {"x": {name: scored(1.0) for name in ("strange", "seconds", "mrr", "word_recall")}}
    run = gather(write_run(tmp_path / "a", SAMPLE_CASES, SAMPLE_ROWS, {"right": cells}))

    assert [metric.name for metric in run.metrics] == ["word_recall", "mrr", "seconds", "strange"]
    assert "does not know" in run.metrics[-1].about
    assert {metric.family for metric in METRICS.values()} < TITLES.keys()


def test_unknown_metrics_stand_for_a_run_that_has_no_others(tmp_path: Path) -> None:
    run = gather(write_run(tmp_path / "a", SAMPLE_CASES, SAMPLE_ROWS, {"right": {"x": {"mine": scored(3.0)}}}))

    assert [metric.name for metric in run.main] == ["mine"]


def test_lines_hold_what_says_something_of_their_questions(tmp_path: Path) -> None:
    cells = sample_cells()
    cells["missed"]["citations"] = {"citation_recall": failed("the judge is down")}
    run = gather(write_run(tmp_path / "a", SAMPLE_CASES, SAMPLE_ROWS, cells))

    assert [metric.name for metric in run.unanswerable.metrics] == ["abstention_recall", "seconds"]
    found = {metric.name: run.answerable.share(metric) for metric in run.answerable.metrics}
    assert found == {"word_recall": 0.3, "citation_recall": None, "declined": pytest.approx(1 / 6), "seconds": None}
    assert run.answerable.means["word_recall"] == Mean(0.3, 5, 6)
    assert run.answerable.means["citation_recall"].value is None


def test_another_run_stands_beside_over_the_rows_that_both_scored(tmp_path: Path) -> None:
    one, two = sample_cells(), sample_cells()
    two["right"]["answer"], two["missed"]["answer"] = {"word_recall": scored(0.5)}, {"word_recall": failed("x")}
    folder = write_run(tmp_path / "a", SAMPLE_CASES, SAMPLE_ROWS, one)
    other = write_run(tmp_path / "b", SAMPLE_CASES, SAMPLE_ROWS, two)

    beside = gather(folder, other).answerable.beside(METRICS["word_recall"])

    assert beside is not None
    assert beside.interval is not None
    assert (beside.mean_a, beside.interval.mean, beside.pairs) == pytest.approx((0.25, 0.125, 4))
    assert beside.verdict == "too few to tell"


def test_where_a_metric_does_not_apply_is_told_beside_it_with_the_reason(tmp_path: Path) -> None:
    cells = sample_cells()
    for id_, held, found in (("right", 1.0, 0.0), ("unsaid", 0.9, 0.0), ("missed", 0.0, 0.0)):
        cells[id_] |= {"retrieval": {"context@8000": scored(held)}}
        cells[id_] |= {"ragas_offline": {"ragas_context_recall": scored(found)}}
        cells[id_]["citations"] = {"citation_recall": not_applicable("the service reports no citations")}
    cells["against"]["citations"] = {"citation_recall": scored(1.0)}
    cells["right"]["retrieval"]["ndcg@10"] = not_applicable("the case grades no documents")
    run = gather(write_run(tmp_path / "a", SAMPLE_CASES, SAMPLE_ROWS, cells))

    found_lines = {metric.name: run.everything.lacks(metric) for metric in run.everything.metrics}

    assert found_lines["citation_recall"] == "Does not apply to 3 of 8 questions: the service reports no citations."
    assert "0 for 2 questions although the passages hold" in found_lines["ragas_context_recall"]
    assert found_lines["context@8000"] == ""
    assert run.everything.unmeasured == {"the case grades no documents": ["ndcg@10"]}


def test_questions_that_turned_are_told_losses_first(tmp_path: Path) -> None:
    run = gather(sample_run(tmp_path / "a"))
    rows = [
        reply("right", "I don't know.", DAM, outcome="declined") if row.id == "right"
        else reply("declined", "They had 450 kilowatts.", DAM) if row.id == "declined" else row
        for row in SAMPLE_ROWS
    ]  # fmt: skip
    other = gather(write_run(tmp_path / "b", SAMPLE_CASES, rows, sample_cells()))

    assert [(case.id, before.key, now.key) for case, before, now in run.changes(other)] == [
        ("declined", "right", "declined"), ("right", "declined", "right"),
    ]  # fmt: skip


def test_a_run_of_other_questions_cannot_stand_beside(tmp_path: Path) -> None:
    folder = sample_run(tmp_path / "a")
    asked = case("right", "Another question?", "1991")
    cells = {"right": {"answer": {"word_recall": scored(1.0)}}}
    other = write_run(tmp_path / "b", [asked], [reply("right", "x")], cells)
    part = write_run(tmp_path / "c", SAMPLE_CASES[:2], SAMPLE_ROWS[:2], {"right": sample_cells()["right"]})

    with failing("not_comparable", match="share no question"):
        gather(folder, other)
    assert gather(folder, folder).notices == gather(folder).notices
    assert gather(folder, part).notices[-1].startswith("2 questions are in c as well")


def test_right_answers_fill_up_the_examples_where_little_went_wrong(tmp_path: Path) -> None:
    cases = [case(f"q{n}", "When?", "1991") for n in range(5)]
    rows = [reply(f"q{n}", "In 1991." if n else "In 1954.", DAM) for n in range(5)]
    cells = {f"q{n}": {"answer": {"word_recall": scored(n / 5)}} for n in range(5)}
    run = gather(write_run(tmp_path / "a", cases, rows, cells))

    assert [kind.key for kind in run.failures] == ["against"]
    assert [(kind and kind.key, one.id) for kind, one in run.examples] == [
        ("against", "q0"),
        (None, "q1"),
        (None, "q2"),
    ]


def test_what_to_try_follows_from_the_classes_the_most_frequent_first(tmp_path: Path) -> None:
    cases = [case(f"q{n}", "When?", "1991") for n in range(5)]
    rows = [reply(one.id, "In 1954.", DAM if n else "nothing") for n, one in enumerate(cases)]
    run = gather(write_run(tmp_path / "a", cases, rows, {"q0": {"answer": {"word_recall": scored(0.0)}}}))

    assert [kind.key for kind in run.suggestions] == ["against", "missed"]


def test_each_category_tells_what_was_declined(tmp_path: Path) -> None:
    run = gather(sample_run(tmp_path / "a"))

    assert [metric.name for metric in run.category_metrics][-2:] == ["declined", "abstention_recall"]
    assert run.categories["no_answer"].means["abstention_recall"].value == 0.5
    assert run.categories["factual"].means["declined"].n == 5
