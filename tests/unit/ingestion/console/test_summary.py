"""What people read at the end of a run."""

from typing import Any

import pytest

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


@pytest.mark.parametrize(
    ("summary", "line"),
    [
        ({"by_ocr": [{"source": "scan.pdf", "reason": "Page 1."}]}, "  scan.pdf: Page 1."),
        ({"duplicates": [{"doc_id": "b", "duplicate_of": "a"}]}, "  b holds the same text as a"),
        ({"failed": [{"source": "rows.jsonl", "reason": f"Line {number} is no JSON."} for number in range(300)]},
         "  and 280 more reasons; the JSON summary has all"),
        ({"duplicates": [{"doc_id": f"b{n}", "duplicate_of": "a"} for n in range(300)]},
         "  and 280 more; the JSON summary has all"),
        ({"vanished": 3}, "vanished documents, whose files are gone: 3; --prune removes them"),
        ({"stopped": True}, "stopped before the end; the same command goes on from here"),
    ],
)  # fmt: skip
def test_what_a_run_met_is_named_and_long_lists_are_cut(summary: dict[str, Any], line: str) -> None:
    lines = report(Summary("books", **summary), FilesMet())

    assert line in lines
    assert len(lines) < 50


def test_a_dry_run_is_a_plan_with_the_first_names() -> None:
    lines = report(Summary("books", new=5000, dry_run=True), met("new", *(f"{n}.md" for n in range(5000))))

    assert lines[:3] == ["new (5,000):", "      0.md", "      1.md"]
    assert "      and 4,980 more files" in lines
    assert len(lines) < 30
    assert "a dry run: nothing was written" in lines[-1]
    assert "embedded" not in lines[-1]
