"""Keep the figures of a measurement, with the machine and the settings that they were made by.

Flow: a measurement -> **here** -> a JSON file below `RAG_BENCH__DIR`, and the line at the foot of a table.
"""

import json
import os
import platform
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from eval.progress_bar import tell
from index.embedding.cpu import multiplies_int8
from settings import VERSION, Settings

MB = 1_000_000
PACKAGES = ("llama-index-core", "chromadb", "sentence-transformers", "torch", "openvino", "tantivy")
GROUPS = {"chunk", "embed", "ingest", "retrieval", "llm", "answer"}


def keep(name: str, sets: Mapping[str, Any], settings: Settings) -> None:
    """Write figures, by data set, to `NAME.json` in the benchmarks' folder."""
    figures = {
        "version": VERSION,
        "made_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "settings": settings.model_dump(mode="json", include=GROUPS),
        "sets": sets,
    }
    path = made(settings.bench.dir) / f"{name}.json"
    path.write_text(json.dumps(figures, indent=1))
    tell(f"figures: {path}")


def machine() -> dict[str, Any]:
    """Return processor, usable cores, memory in GB and package versions as JSON-ready values."""
    return {
        "processor": _processor(),
        "multiplies_int8": multiplies_int8(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gb": round(psutil.virtual_memory().total / 1e9, 1),
        "system": platform.platform(terse=True),
        "versions": {"treeline": VERSION, "python": platform.python_version()}
        | {name: version(name) for name in PACKAGES},
    }


def made_on() -> str:
    """Return what `machine` found as one sentence."""
    found = machine()
    versions = ", ".join(f"{name} {number}" for name, number in found["versions"].items())
    cores = f"{found['cores']} core{'s' if found['cores'] > 1 else ''}"
    int8 = "with" if found["multiplies_int8"] else "without"
    return f"{found['processor']} {int8} int8 instructions, {cores}, {found['memory_gb']} GB memory; {versions}."


def percentile(values: Sequence[float], percent: int) -> float:
    """Return a percentile of one value at least."""
    return float(np.percentile(values, percent))


def made(folder: Path) -> Path:
    """Return the folder, made if it is not there."""
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _processor() -> str:
    try:
        named = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        named = None
    return named[1] if named else platform.machine()
