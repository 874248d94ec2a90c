"""Processes with disks or a network of their own, where this one has the right to make them (Linux's `unshare`)."""

import subprocess

# What stands before a command to run it with loopback alone.
WITHOUT_NETWORK = ("unshare", "-rn", "sh", "-c", 'ip link set lo up && exec "$@"', "sh")


def can_mount() -> bool:
    """Whether this process may mount file systems that it alone sees."""
    return _works("unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt")


def can_leave_the_network() -> bool:
    """Whether this process may have a network of its own."""
    return _works(*WITHOUT_NETWORK, "true")


def _works(*command: str) -> bool:
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False
