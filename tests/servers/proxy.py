"""HAProxy in front of services, private to a test; from the system (Debian: `apt-get install haproxy`)."""

import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.servers.databases import free_port, wait_until

HAPROXY = shutil.which("haproxy", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin")
# What docs/scale.md tells operators to write.
CONFIGURATION = """
defaults
    mode http
    timeout connect 2s
    timeout http-request 15s
    timeout client 30s
    timeout server 120s
    timeout check 5s
    option redispatch 1
    option http-buffer-request
    retries 3
    retry-on conn-failure empty-response 502 503
    option httpchk
    http-check send meth GET uri /ready ver HTTP/1.1 hdr Host 127.0.0.1
    default-server check inter 1s fall 2 rise 1
"""


@contextmanager
def reverse_proxy(folder: Path, ports: Sequence[int]) -> Iterator[str]:
    """Run HAProxy in front of services on these ports; skips the test where it is not installed."""
    if HAPROXY is None:
        pytest.skip("HAProxy is not installed (Debian: `apt-get install haproxy`)")
    port = free_port()
    servers = "\n".join(f"    server replica{number} 127.0.0.1:{one}" for number, one in enumerate(ports))
    (folder / "haproxy.cfg").write_text(f"{CONFIGURATION}\nlisten service\n    bind 127.0.0.1:{port}\n{servers}\n")
    url = f"http://127.0.0.1:{port}"
    with subprocess.Popen([HAPROXY, "-f", str(folder / "haproxy.cfg")], stderr=subprocess.DEVNULL) as process:
        try:
            wait_until(lambda: _answers(url), "HAProxy")
            yield url
        finally:
            process.terminate()


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/health", timeout=5).is_success
    except httpx.TransportError:
        return False
