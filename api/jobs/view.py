"""Show a job and what it did as JSON.

Flow: `queue.py` -> **here** -> `/ingest`. Pure.

An evaluation client's names stand beside our own summary's; its chunk is a leaf.
"""

from collections import Counter
from dataclasses import asdict
from datetime import datetime
from typing import Any

from api.jobs.queue import Job, Result
from errors import RagError
from ingestion.console.coverage import coverage
from ingestion.schema import Summary

MAX_ERRORS = 10
MAX_LISTED = 1000
EVALUATION_NAMES = tuple("docs_total docs_ok docs_failed chunks_total chunks_indexed duration_sec errors".split())
"""What an evaluation client reads, at the top of the reply."""
_LISTS = ("failed", "skipped", "left_out", "by_ocr", "duplicates")


def result_of(summary: Summary, *, chunks_total: int) -> Result:
    """Return what a job did; lists are cut to 1,000 entries, counts are not.

    Args:
        summary: of the run.
        chunks_total: leaves of the corpus afterwards.
    """
    failed = len(summary.failed)
    return {
        "docs_total": summary.documents + failed,
        "docs_ok": summary.documents,
        "docs_failed": failed,
        "chunks_total": chunks_total,
        "chunks_indexed": 0 if summary.dry_run else summary.leaves,
        "duration_sec": summary.duration_s,
        "errors": summary.failed[:MAX_ERRORS],
        **summary.to_dict(),
        "failed": summary.failed[:MAX_LISTED],
        "skipped": summary.skipped[:MAX_LISTED],
        "left_out": summary.left_out[:MAX_LISTED],
        "by_ocr": summary.by_ocr[:MAX_LISTED],
        "left_out_total": len(summary.left_out),
        "skipped_total": len(summary.skipped),
        "skipped_types": dict(Counter(summary.skipped_types).most_common(MAX_LISTED)),
        "coverage": coverage(summary),
        "duplicates": summary.duplicates[:MAX_LISTED],
        "duplicates_total": len(summary.duplicates),
    }


def show(job: Job) -> dict[str, Any]:
    """Return everything about a job."""
    result = job.result
    return _head(job) | {"result": result} | ({name: result[name] for name in EVALUATION_NAMES} if result else {})


def show_briefly(job: Job) -> dict[str, Any]:
    """Return a job without its lists of what failed, was skipped, was left out, or is there twice."""
    result = job.result
    brief = {name: value for name, value in result.items() if name not in _LISTS} if result else None
    return _head(job) | {"result": brief}


def _head(job: Job) -> dict[str, Any]:
    state = job.state
    return {
        "job": job.id,
        "state": state,
        "cancelling": state == "running" and job.stop.is_set(),
        "request": job.request,
        "created_at": _moment(job.created_at),
        "started_at": _moment(job.started_at),
        "finished_at": _moment(job.finished_at),
        "progress": _progress(job),
        "error": _error(job.error),
    }


def _progress(job: Job) -> dict[str, Any] | None:
    if job.progress is None or job.pace is None:
        return None
    return asdict(job.progress) | asdict(job.pace)


def _error(error: BaseException | None) -> dict[str, str] | None:
    if error is None:
        return None
    if isinstance(error, RagError):
        return {"code": error.code, "detail": error.public}
    return {"code": "internal", "detail": "Something unforeseen went wrong; see the log."}


def _moment(time: datetime | None) -> str | None:
    return time.isoformat(timespec="milliseconds") if time else None
