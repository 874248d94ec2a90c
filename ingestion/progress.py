"""Ingest while a person watches: a progress bar on a terminal, then what failed and what was done.

Flow: `python -m ingestion` and `python main.py --ingest` -> **here** -> `build.py`. Everything goes to stderr.
"""

import sys
from pathlib import Path

from tqdm import tqdm

from ingestion.build import ingest
from ingestion.run import Progress, RunOptions, Summary
from settings import Settings


def ingest_watched(
    path: Path, settings: Settings, *, corpus: str, root_name: str = "", rebuild: bool = False
) -> Summary:
    """Do what `build.ingest` does, and tell on stderr how it goes; raises what that raises."""
    with tqdm(unit=" leaves", desc="ingesting", disable=None, leave=False) as bar:

        def show(progress: Progress) -> None:
            bar.set_postfix_str(progress.source[-40:], refresh=False)
            bar.update(progress.leaves - bar.n)

        options = RunOptions(root_name=root_name)
        summary = ingest(path, settings, corpus=corpus, options=options, rebuild=rebuild, on_progress=show)
    sys.stderr.writelines(f"{line}\n" for line in _lines(summary))
    return summary


def _lines(summary: Summary) -> list[str]:
    return [
        *(f"skipped: {entry['source']}: {entry['reason']}" for entry in summary.skipped),
        *(f"failed: {entry['source']}: {entry['reason']}" for entry in summary.failed),
        f"corpus {summary.corpus!r}: {summary.new} new, {summary.changed} changed, {summary.unchanged} unchanged, "
        f"{summary.removed} removed, {len(summary.failed)} failed; {summary.leaves} leaves embedded in "
        f"{summary.duration_s:.1f} s",
    ]
