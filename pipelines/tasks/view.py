"""A task as JSON, in mosaicRAG's form.

Flow: `queue.py` and the store -> **here** -> `GET /task/progress/{task_id}`, `GET /task/table/…`, `POST /task/run`.
`data`, `aggregated_data` and `metadata` are JSON in strings, because clients of that form parse them again. Pure.
"""

import json
from typing import Any

from pipelines.registry import Registry
from pipelines.state import ROLES, PipelineState, each_record
from pipelines.tasks.live import LiveTask
from pipelines.tasks.store import Task, step_ids

WAITING = "Waiting"


def progress(
    task: Task,
    live: LiveTask | None,
    facts: list[dict[str, Any]],
    state: PipelineState | None,
    *,
    registry: Registry,
    most_bytes: int,
) -> dict[str, Any]:
    """Return all that a client may know of a task.

    Args:
        task: as it stands in the store.
        live: how far it is, if it runs.
        facts: what was kept after each step, in order.
        state: how things stand at its end; None if it has not come to it.
        registry: for the names of the steps.
        most_bytes: of the rows; a warning says that some are left out.
    """
    ids = step_ids(task.body)
    total, done = len(ids), len(facts)
    current = min(done + 1, total) if not task.has_ended else int(task.error_step or done or 1)
    if live is not None and live.step is not None and not task.has_ended:
        current = live.step.number
    started = live is not None or task.has_ended or done
    step_class = registry.get(ids[current - 1])
    step_log: dict[str, list[str]] = {}
    for one in facts:
        step_log.setdefault(one["name"], []).append(f"Finished step {one['step']} in {one['seconds']:.3f} seconds")
    if live is not None:
        for name, lines in live.step_log.items():
            step_log.setdefault(name, []).extend(lines)
        if live.step is not None and live.total and not task.has_ended:
            step_log.setdefault(live.step.step.id, []).append(f"{live.done}/{live.total}")
    warnings = [f"Step {one['step']} ({one['name']}): {text}" for one in facts for text in one["warnings"]]
    rows = _rows(state, most_bytes) if state else []
    if state and len(rows) < state.count:
        warnings.append(
            f"`data` holds the first {len(rows)} of {state.count} documents: a reply has room for no "
            f"more. GET /task/table/{task.id}/{total} has all."
        )
    return {
        "has_finished": task.has_ended,
        "progress": {
            "current_step": (step_class.name if step_class else ids[current - 1]) if started else WAITING,
            "current_step_index": str(current) if started else "",
            "pipeline_progress": f"{done}/{total}",
            "pipeline_percentage": 1.0 if task.has_ended else done / total,
            "pipeline_error": task.error,
            "pipeline_error_index": task.error_step,
            "log": list(live.log if live else task.log),
            "step_output": {str(one["step"]): _output(one) for one in facts},
            "step_progress": step_log,
            "warnings": warnings,
        },
        "result": _result(state, facts, rows) if task.has_ended else None,
    }


def _result(state: PipelineState | None, facts: list[dict[str, Any]], rows: list[str]) -> dict[str, str]:
    count = state.count if state else 0
    seconds = sum(one["seconds"] for one in facts)
    looked_up = sum(one["looked_up"] for one in facts)
    hits = sum(one["found"] for one in facts) / looked_up if looked_up else 0.0
    description = f"Retrieved {count} documents in {_rounded(seconds)} seconds. {hits:.0%} cache hits."
    return {
        "data": f"[{', '.join(rows)}]",
        "result_description": description,
        "aggregated_data": _json(list(state.aggregated) if state else []),
        "metadata": _json(state.metadata() if state else []),
    }


def table(state: PipelineState, most_bytes: int, *, offset: int, limit: int, cell_chars: int) -> dict[str, Any]:
    """Return a page of the table after a step, for people to look at.

    Args:
        state: after the step.
        most_bytes: of the rows; the page has fewer of them where they are larger, and one at least.
        offset: rows that are left out at the beginning.
        limit: rows, at most.
        cell_chars: of a text; a longer one is cut and ends with `…`.

    Returns:
        `step`, `id`, `count` (rows of the whole table), `columns` (`id` and what each is for: `rank`, `text`, `chip`;
        those without a use as well), `rows`, and `cut`: how many of their cells are.
    """
    columns = [{"id": name, **{role: role in state.roles.get(name, ()) for role in ROLES}} for name in state.columns]
    rows: list[dict[str, Any]] = []
    cut = size = 0
    for row in each_record(state.documents.slice(offset, limit)):
        cut_before = cut
        for name, value in row.items():
            text = value if value is None or isinstance(value, int | float | str) else _json(value)
            if isinstance(text, str) and len(text) > cell_chars:
                text, cut = text[:cell_chars] + "…", cut + 1
            row[name] = text
        size += len(_json(row).encode())
        if rows and size > most_bytes:
            cut = cut_before
            break
        rows.append(row)
    record = state.history[-1]
    return {
        "step": record.step,
        "id": record.name,
        "count": state.count,
        "columns": columns,
        "rows": rows,
        "cut": cut,
    }


def _rows(state: PipelineState, most_bytes: int) -> list[str]:
    """Return the first rows as JSON, up to one that has no more room."""
    found: list[str] = []
    size = 0
    for row in each_record(state.documents):
        text = _json(row)
        size += len(text.encode())
        if size > most_bytes:
            break
        found.append(text)
    return found


def _output(one: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": one["name"],
        "seconds": round(one["seconds"], 3),
        "looked_up": one["looked_up"],
        "found": one["found"],
        "warnings": one["warnings"],
    }


def _rounded(seconds: float) -> str:
    return f"{seconds:.3f}" if seconds < 1 else f"{seconds:.2f}" if seconds < 10 else f"{seconds:.1f}"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, default=str)
