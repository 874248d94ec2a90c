import csv
import io
import json
from pathlib import Path

import pytest

from eval.__main__ import main
from eval.cells import scored
from eval.reporting.gather import Gathered, gather
from eval.reporting.page import render_markdown, text
from eval.reporting.results import questions_csv, results_json
from eval.run_folder import RunFolder, Scored
from tests.fakes.runs import DAM, SAMPLE_CASES, case, reply, sample_run, write_run

FILES = {"report.html", "eval_report.md", "eval_results.json", "per_question_results.csv"}


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return sample_run(tmp_path / "sample")


@pytest.fixture
def gathered(folder: RunFolder) -> Gathered:
    return gather(folder)


def test_the_command_writes_four_files_into_the_run_and_names_them(
    folder: RunFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path.name: path.read_bytes() for path in folder.path.iterdir()}

    assert main(["report", str(folder.path)]) == 0

    printed = capsys.readouterr().out
    assert {path.name for path in folder.path.iterdir()} == before.keys() | FILES
    assert all(str(folder.path / name) in printed for name in FILES)
    assert "1  Wrongly declined" in printed
    assert {name: (folder.path / name).read_bytes() for name in before} == before


def test_files_go_where_they_are_wanted_and_are_the_same_the_second_time(folder: RunFolder, tmp_path: Path) -> None:
    out = tmp_path / "a" / "b"

    assert main(["report", str(folder.path), "--out", str(out)]) == 0
    first = {path.name: path.read_bytes() for path in out.iterdir()}
    assert main(["report", str(folder.path), "--out", str(out), "--against", str(folder.path)]) == 0
    assert main(["report", str(folder.path), "--out", str(out)]) == 0

    assert {path.name: path.read_bytes() for path in out.iterdir()} == first
    assert first.keys() == FILES


@pytest.mark.parametrize("against", [False, True])
def test_a_folder_without_a_run_is_an_error_with_a_remedy(
    folder: RunFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str], against: bool
) -> None:
    missing = str(tmp_path / "nothing")

    assert main(["report", *([str(folder.path), "--against"] if against else []), missing]) == 1

    assert "holds no run. Make one: python -m eval run" in capsys.readouterr().err
    assert not (folder.path / "report.html").exists()


def test_a_place_that_cannot_be_written_is_an_error_with_a_remedy(
    folder: RunFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")

    assert main(["report", str(folder.path), "--out", str(tmp_path / "file" / "x")]) == 1
    assert "Name another folder with --out." in capsys.readouterr().err


def test_the_json_holds_means_with_coverage_classes_and_every_question(gathered: Gathered) -> None:
    results = json.loads(results_json(gathered))

    assert results["main_metrics"][0] == "word_recall"
    assert results["aggregate"]["answerable"]["word_recall"] == {"mean": 0.3, "n": 5, "of": 6}
    assert results["aggregate"]["unanswerable"].keys() == {"abstention_recall", "seconds"}
    assert results["by_category"]["no_answer"]["good"] == 1
    assert results["classes"]["against"]["questions"] == 1
    assert results["source"] == "offline"
    assert results["latency_s"] == {"n": 7, "p50": 0.05, "p95": 0.4}
    assert [one["id"] for one in results["questions"]] == [case.id for case in SAMPLE_CASES]
    failed = results["questions"][5]
    assert failed["row"]["reason"] == "503: too many questions"
    assert failed["cells"]["word_recall"] == {"failed": "no reply: 503"}


def test_the_csv_has_a_line_a_question_and_empty_cells_say_why(gathered: Gathered) -> None:
    lines = list(csv.DictReader(io.StringIO(questions_csv(gathered), newline="")))

    assert [line["id"] for line in lines] == [case.id for case in SAMPLE_CASES]
    assert (lines[0]["word_recall"], lines[0]["class"], lines[0]["documents"]) == (
        "1.0", "Answered rightly", "docs/1.md docs/2.md",
    )  # fmt: skip
    assert (lines[5]["word_recall"], lines[5]["not_scored"]) == ("", "word_recall: failed: no reply: 503")
    assert (lines[6]["answerable"], lines[6]["word_recall"], lines[6]["not_scored"]) == ("no", "", "")


def test_no_text_of_others_is_a_formula_or_too_long_for_a_spreadsheet(tmp_path: Path) -> None:
    rows = [reply("right", "=HYPERLINK(1)", DAM, synthesizer="@x"), reply("missed", "x" * 40_000)]
    folder = write_run(tmp_path / "a", SAMPLE_CASES[:2], rows, {"right": {"answer": {"word_recall": scored(-1.0)}}})

    first, second = csv.DictReader(io.StringIO(questions_csv(gather(folder)), newline=""))

    assert (first["answer"], first["synthesizer"], first["word_recall"]) == ("'=HYPERLINK(1)", "'@x", "-1.0")
    assert second["answer"].endswith("x … (8000 more characters)")


@pytest.mark.promise("E24")
def test_the_markdown_tells_figures_failures_suggestions_and_every_question(gathered: Gathered) -> None:
    report = render_markdown(gathered)

    assert "| word\\_recall | Answer | higher | 0.300 | 5/6 |" in report
    assert "| Wrongly declined | 1 | 12 % | The evidence was in the context, and the service declined. |" in report
    assert report.count("- Why this class: ") >= 3
    assert "`RAG_ANSWER__MIN_CONFIDENCE`" in report
    assert all(f"| {case.id} | {case.question} |" in report for case in SAMPLE_CASES)
    titles = [line for line in report.splitlines() if line.startswith("## ")]
    assert titles == [
        "## This run", "## Overview", "## Scores", "## By category", "## What went wrong", "## Examples",
        "## Questions", "## Collection", "## Settings", "## Versions",
    ]  # fmt: skip


def test_markdown_of_others_stays_text_on_one_line() -> None:
    assert text("a|b\n# *c* `d` <e> [f](g) &amp; \x1b") == (
        "a\\|b \\# \\*c\\* \\`d\\` \\<e\\> \\[f\\](g) &amp;amp; ⟨U+001B⟩"
    )
    assert text("see https://x.example") == "see https&#8203;://x.example"
    assert text("x" * 700).endswith(" … (100 more characters)")


def test_a_run_where_nothing_went_wrong_shows_its_weakest_answers(tmp_path: Path) -> None:
    folder = write_run(
        tmp_path / "a",
        [case("q", "When?", "1991")],
        [reply("q", "In 1991.", DAM)],
        {"q": {"answer": {"word_recall": scored(1.0)}}},
    )
    report = render_markdown(gather(folder))

    assert "No question of this run came to a bad end." in report
    assert "### Weakest of the right ones: When?" in report


def test_a_judge_that_disagrees_with_itself_is_told_beside_the_mean(folder: RunFolder) -> None:
    row = folder.rows()["right"]
    with folder.writing():
        for repeat, score in enumerate((0.4, 0.6)):
            cells = {"faithfulness": scored(score)}
            folder.append_scores(Scored(id=row.id, of=row.digest(), family="ragas", repeat=repeat, by="m", cells=cells))
    run = gather(folder)

    assert run.scatter == {"faithfulness": pytest.approx(0.1)}
    report = render_markdown(run)
    assert "0.500 ± 0.100" in report
    assert "- Judge (ragas): m" in report
