"""Say how much of a folder was read, so that nobody takes two files of 88 for the whole.

Flow: `Summary` -> **here** -> the last line of the report (`summary.py`), the exit code (`watch.py`), jobs' JSON. Pure.
"""

from collections import Counter

from ingestion.reading.files import COMPANIONS
from ingestion.reading.format_table import IMAGES
from ingestion.schema import Summary

SHOWN_TYPES = 8
TOO_FEW_READ = (
    "too little of it was read, which counts as a failure; RAG_INGEST__MAX_SKIPPED_SHARE is the share of files whose "
    "type may be skipped, 1 accepts all\n"
)


def coverage(summary: Summary) -> str | None:
    """Return `2 of 88 files read; 86 have a type that is not read: .rst (66), .png (20)`; None if all types are."""
    if not summary.skipped_types:
        return None
    types = Counter(summary.skipped_types).most_common()
    shown = [f"{_named(suffix)} ({count:,})" for suffix, count in types[:SHOWN_TYPES]]
    if rest := types[SHOWN_TYPES:]:
        shown.append(f"{len(rest):,} more types ({sum(count for _, count in rest):,})")
    skipped = sum(summary.skipped_types.values())
    have = "has" if skipped == 1 else "have"
    files = f"{summary.files_read:,} of {summary.files:,} files read"
    pictures = ", ".join(sorted(summary.skipped_types.keys() & IMAGES.keys()))
    extra = f". Of the extras, `ocr` with RAG_INGEST__OCR=true reads {pictures}" if pictures else ""
    return f"{files}; {skipped:,} {have} a type that is not read: {', '.join(shown)}{extra}"


def skipped_share(summary: Summary) -> float:
    """Return which share of the files, 0 to 1, has a type that is not read.

    Pictures, fonts and the like are left out of the count, unless there is nothing else.
    """
    skipped = sum(summary.skipped_types.values())
    known = summary.files - skipped
    documents = sum(count for suffix, count in summary.skipped_types.items() if suffix not in COMPANIONS)
    if not known:
        return 1.0 if skipped else 0.0
    return documents / (known + documents)


def _named(suffix: str) -> str:
    return suffix or "no suffix"
