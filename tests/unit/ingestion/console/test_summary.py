"""What people read at the end of a run."""

from ingestion.console.summary import FilesMet, report
from ingestion.schema import Outcome, Progress, Summary


def met(outcome: Outcome, *sources: str) -> FilesMet:
    files = FilesMet()
    for source in sources:
        files.note(Progress(source, outcome, None, 1, 1, 1, 1, 1, 1))
    return files


def test_totals_say_what_was_done_and_how_fast() -> None:
    summary = Summary("books", new=3, unchanged=2, removed=1, leaves=50, embedded=40, duration_s=2.0)

    assert report(summary, FilesMet()) == [
        "corpus 'books': 3 new, 0 changed, 2 unchanged, 1 removed, 0 vanished, 0 failed, 0 skipped; "
        "40 leaves embedded, 10 reused, in 2.0 s (25 leaves/s)"
    ]


def test_reasons_are_grouped_and_long_lists_cut() -> None:
    skipped = [{"source": f"{number}.png", "reason": "unsupported type .png"} for number in range(1000)]
    summary = Summary("books", skipped=skipped, failed=[{"source": "a.pdf", "reason": "Damaged."}])

    lines = report(summary, FilesMet())

    assert lines[:3] == ["skipped (1,000):", "  1,000 x unsupported type .png", "      0.png"]
    assert "      and 995 more files" in lines
    assert "failed (1):" in lines
    assert len(lines) < 15


def test_what_was_read_by_ocr_is_named_with_its_pages() -> None:
    entry = {"source": "scan.pdf", "reason": "Pages 1-3, mean confidence 0.97."}

    assert "  scan.pdf: Pages 1-3, mean confidence 0.97." in report(Summary("books", by_ocr=[entry]), FilesMet())


def test_hundreds_of_different_reasons_are_cut_as_well() -> None:
    failed = [{"source": "rows.jsonl", "reason": f"Line {number} is no JSON."} for number in range(300)]

    lines = report(Summary("books", failed=failed), FilesMet())

    assert "  and 280 more reasons; the JSON summary has all" in lines
    assert len(lines) < 50


def test_a_dry_run_is_a_plan_with_names() -> None:
    summary = Summary("books", new=2, unchanged=4, dry_run=True)

    lines = report(summary, met("new", "a.md", "b.md"))

    assert lines[:3] == ["new (2):", "      a.md", "      b.md"]
    assert "a dry run: nothing was written" in lines[-1]
    assert "embedded" not in lines[-1]


def test_a_plan_of_thousands_names_the_first_ones() -> None:
    lines = report(Summary("books", new=5000, dry_run=True), met("new", *(f"{n}.md" for n in range(5000))))

    assert "      and 4,980 more files" in lines
    assert len(lines) < 30


def test_vanished_documents_are_said_to_need_prune() -> None:
    assert "3; --prune removes them" in report(Summary("books", vanished=3), FilesMet())[-1]


def test_a_stopped_run_says_how_to_go_on() -> None:
    assert "the same command goes on from here" in report(Summary("books", stopped=True), FilesMet())[-1]
