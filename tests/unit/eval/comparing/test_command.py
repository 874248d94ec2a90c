"""`python -m eval compare` prints what a person decides by, and exits as CI wants it."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal
from xml.etree import ElementTree

import pytest

from eval.__main__ import main
from eval.cells import failed, not_applicable, scored
from eval.rows import Row
from eval.run_folder import SCORES, RunFolder, Scored
from tests.fakes.runs import case, write_run
from tests.unit.eval.comparing.pairs import questions, run

GOOD, BAD = [1.0] * 40, [0.0] * 10 + [1.0] * 30


@pytest.fixture
def folders(tmp_path: Path) -> tuple[str, str]:
    asked = questions(40, category="easy")
    settings = {"settings": {"retrieval": {"top_k": 20}}}, {"settings": {"retrieval": {"top_k": 5}}}
    a = run(tmp_path / "a", asked, {"doc@1": GOOD}, fingerprint="f1", **settings[0])
    b = run(tmp_path / "b", asked, {"doc@1": BAD}, fingerprint="f2", **settings[1])
    return str(a.path), str(b.path)


def compare(*arguments: str) -> int:
    return main(["compare", *arguments])


def test_a_run_against_itself_says_no_difference(folders: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert compare(folders[0], folders[0], "--fail-on", "doc@1", "--fail-on", "replied") == 0

    shown = capsys.readouterr().out
    assert "**Quality: no difference** (no row differs)" in shown
    assert "Same fingerprint of settings, models and index: f1." in shown
    assert "Passed: none of 2 metrics of --fail-on is worse." in shown
    assert "## By category" not in shown


@pytest.mark.promise("G14")
def test_a_worse_run_is_shown_from_the_verdict_down_to_the_answers(
    folders: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert compare(*folders, "--rows", "2") == 0

    shown = capsys.readouterr().out
    assert "Fingerprint: f1 -> f2." in shown
    assert "settings.retrieval.top_k  20 -> 5" in shown
    assert shown.splitlines()[2] == "- **Quality: worse** (worse: doc@1 -0.250)"
    row = next(line for line in shown.splitlines() if "| doc@1 " in line)
    assert [cell.strip() for cell in row.strip("|").split("|")] == [
        "retrieval", "doc@1", "1.000", "0.750", "-0.250", "-0.397 … -0.103", "0/30/10", "40/40", "worse",
    ]  # fmt: skip
    assert "## Lost most, 2 of 10 questions" in shown
    assert "Question  What is 0?" in shown
    assert "A         Said by a of q00.\nB         Said by b of q00." in shown


@pytest.mark.promise("E28")
@pytest.mark.parametrize("outcome", ["declined", "failed"])
def test_runs_without_a_single_score_are_shown_without_a_figure_that_is_none(
    tmp_path: Path, outcome: Literal["declined", "failed"], capsys: pytest.CaptureFixture[str]
) -> None:
    asked, answer = questions(12, relevant_docs=("one.md",)), "I don't know." if outcome == "declined" else None
    rows = [Row(id=one.id, outcome=outcome, answer=answer, reason="none") for one in asked]
    cells = {
        one.id: {"retrieval": {"mrr": not_applicable("x")}, "answer": {"contains": failed("down")}} for one in asked
    }
    a, b = (str(write_run(tmp_path / name, asked, rows, cells).path) for name in "ab")

    assert compare(a, b, "--fail-on", "contains", "--json", str(tmp_path / "c.json")) == 1
    assert main(["report", b, "--against", a, "--out", str(tmp_path / "out")]) == 0

    written = {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "out").iterdir()}
    assert "report.html" in written
    for text in (capsys.readouterr().out, (tmp_path / "c.json").read_text(), *written.values()):
        assert not re.search(r"\bnan\b|\bNaN\b|\binf\b|Infinity", text)


@pytest.mark.promise("G14")
def test_the_gate_sets_the_exit_code(folders: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert compare(*folders, "--fail-on", "doc@1") == 1
    assert "FAILED (--fail-on):\n- doc@1: worse by 0.250" in capsys.readouterr().out

    assert compare(*folders, "--fail-on", "replied") == 0
    assert compare(*folders, "--fail-on", "doc@1", "--min-difference", "0.3") == 0


@pytest.mark.promise("G14")
def test_the_gate_is_written_for_the_pages_of_ci_services(folders: tuple[str, str], tmp_path: Path) -> None:
    gate = ("--fail-on", "doc@1", "--fail-on", "replied", "--junit", str(tmp_path / "gate.xml"))

    assert compare(*folders, *gate) == 1
    failed = ElementTree.parse(tmp_path / "gate.xml").getroot()
    assert compare(folders[0], folders[0], *gate) == 0
    passed = ElementTree.parse(tmp_path / "gate.xml").getroot()

    for suite, why in ((failed, {"doc@1": "worse by 0.250"}), (passed, {})):
        cases = {one.get("name"): one.find("failure") for one in suite.iter("testcase")}
        assert list(cases) == ["doc@1", "replied"]
        assert {name: one.get("message") for name, one in cases.items() if one is not None} == why
        assert (suite.tag, suite.get("tests"), suite.get("failures")) == ("testsuite", "2", str(len(why)))


def test_everything_is_in_the_json(folders: tuple[str, str], tmp_path: Path) -> None:
    compare(*folders, "--json", str(tmp_path / "figures.json"), "--fail-on", "doc@1")

    figures = json.loads((tmp_path / "figures.json").read_text())
    found = {one["metric"]: one["verdict"] for one in figures["answerable"]}
    assert found == {"replied": "no difference", "doc@1": "worse"}
    assert figures["changed"] == {"settings.retrieval.top_k": {"a": "20", "b": "5"}}
    assert figures["failed"] == ["doc@1: worse by 0.250"]
    assert len(figures["rows"]) == 10
    assert figures["rows"][0] == {
        "id": "q00",
        "better_by": -0.5,
        "scores": {"doc@1": [1.0, 0.0]},
        "a": "Said by a of q00.",
        "b": "Said by b of q00.",
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--fail-on", "doc"], "There is no metric 'doc'"),
        (["--json", "/nowhere/at/all.json"], "cannot be written"),
        (["--junit", "/nowhere/at/all.xml", "--fail-on", "doc@1"], "cannot be written"),
        (["--junit", "gate.xml"], "Add --fail-on METRIC."),
    ],
)
def test_a_foreseen_failure_is_one_line(
    folders: tuple[str, str], arguments: Sequence[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compare(*folders, *arguments) == 1

    told = capsys.readouterr().err
    assert message in told
    assert told.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [["--again", "one"], ["--min-difference", "nan"], ["--min-difference", "-1"], ["--rows", "x"]],
)
def test_numbers_out_of_range_are_usage_errors(folders: tuple[str, str], arguments: Sequence[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["compare", *folders, *arguments])


def test_what_a_judge_says_differently_of_one_answer_stands_beside_the_difference(
    folders: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = RunFolder(Path(folders[0]))
    with folder.writing():
        for row in folder.rows().values():
            cells = {"doc@1": scored(0.0)}
            folder.append_scores(Scored(id=row.id, of=row.digest(), family="retrieval", repeat=1, cells=cells))

    compare(*folders, "--rows", "0")

    shown = capsys.readouterr().out
    shown_row = next(line for line in shown.splitlines() if "| doc@1 " in line)
    assert "judge's noise" in shown
    assert "±0.2" in shown_row
    assert "above the judge's own noise" in shown


def test_another_judge_is_told_beside_what_changed(
    folders: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    for path, judge in zip(folders, ("wise", "other"), strict=True):
        folder = RunFolder(Path(path))
        with folder.writing():
            for row in folder.rows().values():
                cells = {"faithfulness": scored(0.5)}
                folder.append_scores(Scored(id=row.id, of=row.digest(), family="ragas", by=judge, cells=cells))

    compare(*folders, "--rows", "0")

    assert "Another judge: differences in ragas may be the judge's, not the answers'." in capsys.readouterr().out


def test_categories_are_shown_where_rows_of_them_differ(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = [case(f"q{n:02}", f"What is {n}?", "It is.", category=f"kind {n % 5}") for n in range(50)]
    before = run(tmp_path / "a", asked, {"doc@1": [1.0] * 50, "seconds": [1.0] * 50})
    after = run(tmp_path / "b", asked, {"doc@1": [0.0, 1.0, 1.0, 1.0, 0.0] * 10, "seconds": [2.0] * 50})

    compare(str(before.path), str(after.path), "--rows", "0")

    table = capsys.readouterr().out.split("## By category")[1].split("\n\n")[1]
    found = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]
    assert found == [[f"kind {number}", "doc@1", "-1.000", "-1.305 … -0.695", "10", "worse"] for number in (0, 4)]


def test_answers_of_others_are_cut_and_command_no_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = [*questions(11), case("none", "Who designed the logo?", None)]
    long = "\\u001b[2Jword " * 100_000
    before = run(tmp_path / "a", asked, {"abstention_recall": [1.0] * 12})
    after = run(tmp_path / "b", asked, {"abstention_recall": [1.0] * 11 + [0.0]})
    rows = after.path / "rows.jsonl"
    rows.write_text(rows.read_text().replace("Said by b of none.", long))
    rescore(after.path)

    assert compare(str(before.path), str(after.path)) == 0

    shown = capsys.readouterr().out
    assert "Right     there is none" in shown
    assert "\x1b" not in shown
    assert "…" in shown.split("### none")[1]
    assert len(shown) < 10_000


def rescore(path: Path) -> None:
    """Bind the scores to the rows as they are now."""
    digests = {id_: row.digest() for id_, row in RunFolder(path).rows().items()}
    lines = [json.loads(line) for line in (path / SCORES).read_text().splitlines()]
    (path / SCORES).write_text("".join(json.dumps({**line, "of": digests[line["id"]]}) + "\n" for line in lines))
