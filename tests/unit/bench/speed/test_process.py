"""A program is measured from its start to its exit, with all its children."""

import sys

from bench.figures import MB
from bench.speed.process import run_python, seconds_until_ready
from tests.failing import failing

TAKE_100_MB = "taken = bytearray(b'x') * 100_000_000; import time; time.sleep(1.2)"
# Says where it listens as the service does; is ready from the second question on.
SERVICE = """
import http.server, sys
class Probe(http.server.BaseHTTPRequestHandler):
    asked = 0
    def do_GET(self):
        Probe.asked += 1
        self.send_response(200 if self.path == "/ready" and Probe.asked > 1 else 503)
        self.end_headers()
with http.server.HTTPServer(("127.0.0.1", 0), Probe) as server:
    print(f"Serving on http://127.0.0.1:{server.server_port}", file=sys.stderr, flush=True)
    server.serve_forever()
"""


def test_time_cpu_and_output_of_the_whole_process_are_taken() -> None:
    run = run_python(
        ["-c", "import os, time; time.sleep(0.3); sum(range(2_000_000)); print(os.environ['X'])"], {"X": "y"}
    )

    assert run.wall_s >= 0.3
    assert run.cpu_s > 0
    assert run.output == "y\n"


def memory_of(program: str) -> tuple[float, float]:
    """Return (peak_mb, largest_mb), measured by a small process: this one may be larger than the program."""
    measure = f"from bench.speed.process import run_python; run = run_python(['-c', {program!r}], {{}})"
    peak_mb, largest_mb = run_python(["-c", f"{measure}; print(run.peak_mb, run.largest_mb)"], {}).output.split()
    return float(peak_mb), float(largest_mb)


def test_memory_of_a_child_counts_with_its_parents() -> None:
    start_child = f"import subprocess, sys; child = subprocess.Popen([sys.executable, '-c', {TAKE_100_MB!r}])"

    peak_mb, largest_mb = memory_of(f"{start_child}; {TAKE_100_MB}; child.wait()")

    assert peak_mb > 200
    assert 100 < largest_mb < 150


def test_memory_between_two_samples_is_known_from_the_kernel() -> None:
    peak_mb, largest_mb = memory_of(f"taken = bytearray(b'x') * {300 * MB}")

    assert peak_mb >= largest_mb > 300


def test_a_failed_program_is_named_with_its_last_line() -> None:
    with failing("program_failed", match=r"`python -c .*` ended with exit code 3: no space left\. Run it by hand"):
        run_python(["-c", "import sys; print('x\\nno space left.', file=sys.stderr); sys.exit(3)"], {})


def test_a_service_is_timed_until_it_says_that_it_is_ready() -> None:
    assert 0 < seconds_until_ready(["-c", SERVICE], {}) < 60


def test_a_service_that_never_listens_is_named() -> None:
    with failing("program_failed", match="ended before it listened: error: port taken"):
        seconds_until_ready(["-c", "import sys; sys.exit('error: port taken')"], {})


def test_a_measured_program_finds_our_packages_from_any_folder() -> None:
    assert run_python(["-c", "import bench, sys; print(sys.executable)"], {}).output.strip() == sys.executable
