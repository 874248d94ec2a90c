"""Say on what a measurement was made: figures of speed mean nothing without it.

Flow: **here** -> the foot of `ingest`'s table, and every JSON file of figures.
"""

import os
import platform
import re
from importlib.metadata import version
from pathlib import Path
from typing import Any

import psutil

from settings import VERSION

PACKAGES = ("llama-index-core", "chromadb", "sentence-transformers", "torch", "openvino", "tantivy")


def machine() -> dict[str, Any]:
    """Return processor, usable cores, memory in GB and package versions as JSON-ready values."""
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gb": round(psutil.virtual_memory().total / 1e9, 1),
        "system": platform.platform(terse=True),
        "versions": {"treeline": VERSION, "python": platform.python_version()}
        | {name: version(name) for name in PACKAGES},
    }


def describe(machine: dict[str, Any]) -> str:
    """Return what `machine` found as one line."""
    versions = ", ".join(f"{name} {number}" for name, number in machine["versions"].items())
    cores = f"{machine['cores']} core{'s' if machine['cores'] > 1 else ''}"
    return f"{machine['processor']}, {cores}, {machine['memory_gb']} GB memory; {versions}"


def _processor() -> str:
    try:
        named = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        named = None
    return named[1] if named else platform.machine()
