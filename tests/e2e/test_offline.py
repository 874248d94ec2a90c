"""Without any network but loopback the service ingests, answers and keeps its contract."""

import os
import subprocess
import sys
from collections.abc import Callable

import pytest

from tests.e2e.program import REPOSITORY
from tests.servers.isolated import WITHOUT_NETWORK, can_leave_the_network

# They start the real programs: an ingestion, a service with a model's server, a second one beside it.
CHOSEN = [
    "tests/e2e/test_answers.py",
    "tests/e2e/test_deadline.py",
    "tests/integration/api/routes/test_broken_models.py",
]


@pytest.mark.slow
@pytest.mark.fault("C5")
@pytest.mark.timeout(900)
@pytest.mark.skipif(not can_leave_the_network(), reason="needs `unshare` and `ip`, and the right to use them")
def test_the_real_programs_need_no_network(record_property: Callable[[str, object], None]) -> None:
    command = [
        *WITHOUT_NETWORK,
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        *CHOSEN,
    ]
    alone = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    ended = subprocess.run(command, cwd=REPOSITORY, env=alone, capture_output=True, text=True, check=False)

    assert ended.returncode == 0, ended.stdout[-3000:]
    record_property("figure", ended.stdout.strip().splitlines()[-1].partition(" in ")[0])
