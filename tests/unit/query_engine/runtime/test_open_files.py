"""The process's limit of open files; in a child, because a limit stays as it is set."""

import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[4]


def run(code: str) -> str:
    prelude = "import os, resource\nfrom query_engine.runtime import open_files\n"
    child = subprocess.run(
        [sys.executable, "-c", prelude + code], cwd=REPOSITORY, capture_output=True, text=True, timeout=60, check=True
    )
    return child.stdout.strip()


@pytest.mark.parametrize("limit", [128, 512], ids=["a low one is raised", "a high one is left as it is"])
def test_the_limit_is_as_high_as_the_system_lets(limit: int) -> None:
    code = f"""
resource.setrlimit(resource.RLIMIT_NOFILE, ({limit}, 512))
open_files.raise_limit()
print(resource.getrlimit(resource.RLIMIT_NOFILE))
"""
    assert run(code) == "(512, 512)"


def test_there_is_room_until_the_reserve_is_reached() -> None:
    code = """
resource.setrlimit(resource.RLIMIT_NOFILE, (200, 200))
before = open_files.has_room_for(1), open_files.exhausted()
held = []
while open_files.has_room_for(1):
    held.append(os.open("/dev/null", os.O_RDONLY))
reserved = open_files.has_room_for(1), open_files.exhausted(), len(held) > 80
try:
    while True:
        held.append(os.open("/dev/null", os.O_RDONLY))
except OSError:
    print(before, reserved, open_files.exhausted())
"""
    assert run(code) == "(True, False) (False, False, True) True"
