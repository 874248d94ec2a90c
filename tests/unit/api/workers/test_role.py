"""What a process does in its service, and its share of the processor."""

import pytest

from api.workers.role import LEAST_SLOTS, WorkerRole, single
from index.layout.access import Reading, Writing
from settings import ServeSettings, Settings


def test_the_only_process_writes_unless_it_shall_only_read() -> None:
    assert single(ServeSettings(), "http://127.0.0.1:1").access == Writing("http://127.0.0.1:1")
    reader = single(ServeSettings(role="reader", writer_url="http://writer:8000"), "http://127.0.0.1:1")
    assert (reader.writes, reader.writer_url) == (False, "http://writer:8000")


def test_workers_share_the_cores_where_the_settings_leave_them_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 16)
    four, many = (WorkerRole(Reading(), workers=workers) for workers in (4, 32))

    assert (four.settings(Settings()).serve.slots, four.settings(Settings()).embed.threads) == (4, 4)
    assert (many.settings(Settings()).serve.slots, many.settings(Settings()).embed.threads) == (LEAST_SLOTS, 1)
    set_ = Settings.model_validate({"serve": {"slots": 9}, "embed": {"threads": 3}})
    assert four.settings(set_) == set_
    assert WorkerRole(Writing()).settings(Settings()) == Settings()
