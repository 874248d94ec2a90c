"""Say what a run did, or what a dry run would do, in lines for people.

Flow: `Summary` at the end of a run, with the files it met -> **here** -> stderr. Long lists are cut; the JSON summary
on stdout has everything.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ingestion.console.coverage import coverage
from ingestion.schema import Progress, Summary

SHOWN_REASONS = 20
SHOWN_FILES = 5
PLANNED_FILES = 20
PLANNED = ("new", "changed", "vanished", "removed")


@dataclass(slots=True)
class FilesMet:
    """The first files of each outcome, and how many there are."""

    first: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    count: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    def note(self, progress: Progress) -> None:
        """Take one file."""
        if progress.outcome:
            self.count[progress.outcome] += 1
            if len(self.first[progress.outcome]) < PLANNED_FILES:
                self.first[progress.outcome].append(progress.source)


def report(summary: Summary, met: FilesMet) -> list[str]:
    """Return the lines: a dry run's plan, what was skipped, left out, failed, copies, totals, how much was read."""
    return [
        *(_plan(summary, met) if summary.dry_run else ()),
        *_reasons("skipped", summary.skipped),
        *_reasons("left out", summary.left_out),
        *_listed("read by OCR", "letters may be mistaken", "{source}: {reason}", summary.by_ocr),
        *_reasons("failed", summary.failed),
        *_listed(
            "duplicates",
            "kept under both ids, shown once",
            "{doc_id} holds the same text as {duplicate_of}",
            summary.duplicates,
        ),
        *totals(summary),
        *filter(None, [coverage(summary)]),
    ]


def _plan(summary: Summary, met: FilesMet) -> Iterator[str]:
    for outcome in PLANNED:
        documents = getattr(summary, outcome)
        if documents:
            yield f"{outcome} ({documents:,}):"
            yield from _some(met.first[outcome], met.count[outcome])


def _reasons(title: str, entries: Sequence[dict[str, str]]) -> Iterator[str]:
    sources: dict[str, list[str]] = defaultdict(list)
    for entry in entries:
        sources[entry["reason"]].append(entry["source"])
    if entries:
        yield f"{title} ({len(entries):,}):"
    for reason, names in sorted(sources.items(), key=lambda item: -len(item[1]))[:SHOWN_REASONS]:
        yield f"  {len(names):,} x {reason}"
        yield from _some(names[:SHOWN_FILES], len(names))
    if len(sources) > SHOWN_REASONS:
        yield f"  and {len(sources) - SHOWN_REASONS:,} more reasons; the JSON summary has all"


def _listed(title: str, remark: str, form: str, entries: Sequence[dict[str, str]]) -> Iterator[str]:
    if entries:
        yield f"{title} ({len(entries):,}): {remark}"
    for entry in entries[:SHOWN_REASONS]:
        yield f"  {form.format_map(entry)}"
    if len(entries) > SHOWN_REASONS:
        yield f"  and {len(entries) - SHOWN_REASONS:,} more; the JSON summary has all"


def _some(names: Sequence[str], total: int) -> Iterator[str]:
    for name in names:
        yield f"      {name}"
    if total > len(names):
        yield f"      and {total - len(names):,} more files"


def totals(summary: Summary) -> Iterator[str]:
    """Yield the lines with the counts."""
    counts = (f"{getattr(summary, name):,} {name}" for name in ("new", "changed", "unchanged", "removed", "vanished"))
    lost = f"{len(summary.failed):,} failed, {len(summary.skipped):,} skipped"
    if summary.dry_run:
        yield f"corpus {summary.corpus!r}: {', '.join(counts)}, {lost}; a dry run: nothing was written"
    else:
        speed = summary.leaves / summary.duration_s if summary.duration_s else 0
        yield (
            f"corpus {summary.corpus!r}: {', '.join(counts)}, {lost}; {summary.embedded:,} leaves embedded, "
            f"{summary.leaves - summary.embedded:,} reused, in {summary.duration_s:.1f} s ({speed:.0f} leaves/s)"
        )
    if summary.vanished:
        yield f"vanished documents, whose files are gone: {summary.vanished:,}; --prune removes them"
    if summary.stopped:
        yield "stopped before the end; the same command goes on from here"
