from collections.abc import Mapping
from pathlib import Path

from eval.asking.table import describe
from eval.cases import Case
from eval.cells import Cell, failed, not_applicable, scored
from eval.rows import Row
from eval.run_folder import RunFolder, Scored
from tests.unit.eval.asking.fakes import a_case, a_header, a_row

CASES = (
    a_case("q1", answer="It.", category="factual"),
    a_case("q2", answer="It.", category="multi_hop"),
    a_case("q3", answer=None, category="no_answer"),
    a_case("q4"),
)


def a_run(path: Path, rows: Mapping[str, Row], cells: Mapping[str, dict[str, Cell]], cases: tuple[Case, ...]) -> str:
    folder = RunFolder(path / "run")
    folder.create(a_header(target="in process", corpus="papers", fingerprint="f1"), cases)
    for row in rows.values():
        folder.append_row(row)
    for id_, some in cells.items():
        folder.append_scores(Scored(id=id_, of=rows[id_].digest(), family="any", cells=some))
    return describe(folder)


def cells_of(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def line_with(text: str, word: str) -> list[str]:
    return cells_of(next(line for line in text.splitlines() if line.startswith("|") and word in line))


def test_each_kind_of_question_is_counted_apart_and_failed_calls_are_no_abstentions(tmp_path: Path) -> None:
    rows = {
        "q1": a_row("q1", seconds=2, warnings=("low_confidence: Perhaps.",)),
        "q2": a_row("q2", "failed", reason="It was down.", seconds=9),
        "q3": a_row("q3", "declined", seconds=1),
        "q4": a_row("q4", seconds=3),
    }

    shown = a_run(tmp_path, rows, {}, CASES)

    assert "4 questions of `q.jsonl`, asked in process, corpus `papers`; fingerprint f1." in shown
    assert line_with(shown, "have an answer") == ["have an answer", "2", "1", "1", "0", "1", "2.00", "2.00", "2.00"]
    assert line_with(shown, "have none") == ["have none", "1", "0", "0", "1", "0", "1.00", "1.00", "1.00"]
    assert line_with(shown, "answer not given")[:3] == ["answer not given", "1", "1"]
    assert line_with(shown, "| all") == ["all", "4", "2", "1", "1", "1", "2.00", "3.00", "3.00"]
    assert "## No reply: 1 question\n\n- `q2`: It was down." in shown
    assert "The same command asks what failed again." in shown
    assert "python -m eval score" in shown


def test_means_stand_beside_their_coverage_and_questions_without_an_answer_apart(tmp_path: Path) -> None:
    rows = {id_: a_row(id_) for id_ in ("q1", "q2", "q3", "q4")}
    none = not_applicable("there is no answer")
    cells = {
        "q1": {"mrr": scored(1), "seconds": scored(2), "retrieve_ms": scored(40), "abstention_precision": none},
        "q2": {"mrr": failed("It broke."), "seconds": scored(4), "abstention_precision": scored(0)},
        "q3": {"mrr": none, "seconds": scored(8), "abstention_precision": scored(1)},
        "q4": {"mrr": none, "seconds": scored(0), "abstention_precision": none},
    }

    shown = a_run(tmp_path, rows, cells, CASES)
    answerable, unanswerable = shown.partition("## Questions without an answer")[::2]
    unanswerable, _, everything = unanswerable.partition("## All questions")

    assert cells_of(next(line for line in answerable.splitlines() if "metric" in line))[4:] == [
        "factual",
        "multi_hop",
        "(none)",
    ]
    assert line_with(answerable, "mrr") == ["retrieval", "mrr", "1.000", "1/2", "1.000", "– (0/1)", "–"]
    assert line_with(answerable, "seconds")[1:4] == ["seconds (lower is better)", "2.000", "3/3"]
    assert line_with(answerable, "retrieve_ms")[2:4] == ["40.0", "1/3"]
    assert line_with(unanswerable, "seconds")[2:] == ["8.000", "1/1"]
    assert "mrr" not in unanswerable
    assert "abstention_precision" not in answerable + unanswerable
    assert line_with(everything, "abstention_precision")[2:] == ["0.500", "2/2"]


def test_declining_has_two_numbers_by_category(tmp_path: Path) -> None:
    none = not_applicable("it does not apply")
    cases = (*CASES, a_case("q5", answer=None, category="factual"))
    cells = {
        case.id: {"declined": none, "abstention_recall": scored(case.id == "q3")}
        if case.unanswerable
        else {"declined": scored(case.id == "q1"), "abstention_recall": none}
        for case in cases
    }

    shown = a_run(tmp_path, {case.id: a_row(case.id) for case in cases}, cells, cases).partition("by category")[2]

    assert line_with(shown, "factual") == ["factual", "1.000", "1/1", "0.000", "1/1"]
    assert line_with(shown, "no_answer") == ["no_answer", "–", "0/0", "1.000", "1/1"]
    assert line_with(shown, "| all") == ["all", "0.333", "3/3", "0.500", "2/2"]


def test_of_many_failures_the_first_are_told_and_long_reasons_are_cut(tmp_path: Path) -> None:
    cases = tuple(a_case(f"q{number}", answer="It.") for number in range(14))
    rows = {case.id: a_row(case.id, "failed", reason="down " * 100) for case in cases}

    shown = a_run(tmp_path, rows, {}, cases)

    listed = [line for line in shown.splitlines() if line.startswith("- ")]
    assert len(listed) == 11
    assert listed[-1] == "- and 4 more"
    assert max(map(len, listed)) < 200


def test_what_lowered_the_quality_is_counted_once_a_reply(tmp_path: Path) -> None:
    warnings = ("rerank_skipped: Slow.", "rerank_skipped: Slow again.", "low_confidence: Perhaps.")
    rows = {"q1": a_row("q1", warnings=warnings), "q2": a_row("q2", warnings=warnings[:1])}

    shown = a_run(tmp_path, rows, {}, CASES[:2])

    assert "Warnings, by the number of replies that carry them: rerank_skipped 2." in shown


def test_every_table_is_aligned(tmp_path: Path) -> None:
    shown = a_run(tmp_path, {"q1": a_row("q1")}, {"q1": {"mrr": scored(1)}}, CASES)

    for block in shown.split("\n\n"):
        widths = {len(line) for line in block.splitlines() if line.startswith("|")}
        assert len(widths) <= 1


def test_what_it_can_be_compared_with_is_the_newest_other_run_of_the_same_questions(tmp_path: Path) -> None:
    runs = {"old": ("1", "2026-01-01"), "newer": ("1", "2026-01-02"), "of others": ("2", "2026-01-03")}
    assert f"python -m eval compare {tmp_path}/OTHER {tmp_path}/run" in a_run(tmp_path, {}, {}, CASES)
    for name, (questions, started) in runs.items():
        RunFolder(tmp_path / name).create(a_header(questions_sha256=questions, started=started), CASES)
    damaged = tmp_path / "damaged"
    damaged.mkdir()
    (damaged / "run.json").write_text("{")
    folder = RunFolder(tmp_path / "this")
    folder.create(a_header(questions_sha256="1", started="2026-01-04"), CASES)

    assert f"python -m eval compare {tmp_path}/newer {tmp_path}/this" in describe(folder)
