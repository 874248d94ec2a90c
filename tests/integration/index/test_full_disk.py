"""A full disk stops an ingestion with its reason, costs nothing that was committed, and nothing once there is room."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.servers.isolated import can_mount

ROOT = Path(__file__).parents[3]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.integration,
    pytest.mark.skipif(not can_mount(), reason="a small disk can only be mounted by root, with `unshare`"),
]


def seen_on_a_disk(folder: Path, size: str, mode: str) -> dict[str, Any]:
    script = 'mount -t tmpfs -o size="$1" tmpfs "$2" && exec "$3" "$4" "$2" "$5"'
    program = Path(__file__).with_name("full_disk.py")
    run = subprocess.run(
        ["unshare", "-m", "sh", "-c", script, "sh", size, str(folder), sys.executable, str(program), mode],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return dict(json.loads(run.stdout))


@pytest.mark.fault("A4")
def test_an_ingestion_stops_while_the_corpus_can_still_be_read_and_goes_on_when_there_is_room(tmp_path: Path) -> None:
    seen = seen_on_a_disk(tmp_path, "38m", "floor")

    assert "StorageError: The disk of" in seen["stopped"]
    assert "bytes free; the next batch needs" in seen["stopped"]
    assert 0 < seen["documents"] < 160
    assert seen["hits"] == [3, 3]
    finished = seen["finished"]
    assert finished.pop("cosine") > 0.999
    assert finished == {"stopped": None, "kept": True, "equal": True, "pending": [], "counts": True, "unreachable": []}


@pytest.mark.fault("A4")
@pytest.mark.parametrize("size", ["4m", "9m"])
def test_a_disk_that_others_fill_is_named_as_the_cause(tmp_path: Path, size: str) -> None:
    seen = seen_on_a_disk(tmp_path, size, "no floor")

    assert seen["stopped"].startswith("StorageError: ")
    assert seen["documents"] > 0
