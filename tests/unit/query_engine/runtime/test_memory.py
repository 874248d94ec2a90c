"""Freed memory leaves the process."""

import psutil

from query_engine.runtime.memory import give_back


def test_what_was_freed_between_what_is_used_is_given_back() -> None:
    blocks = [b"x" * 50_000 for _ in range(4_000)]
    del blocks[::2]
    process = psutil.Process()
    before = process.memory_info().rss

    give_back()

    assert before - process.memory_info().rss > 50_000_000
    assert len(blocks) == 2_000
