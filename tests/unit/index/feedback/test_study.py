"""Events of a user study are kept in order, for some days, in a file that others may read meanwhile."""

import sqlite3
from pathlib import Path

import pytest

from index.feedback import study
from index.feedback.study import DAY_S, StudyEvent, StudyLog
from tests.failing import failing


def an_event(at_s: float = 1.0, subject: str = "") -> StudyEvent:
    return StudyEvent(at_s, "s1", "open", "GET /documents/{doc_id}", 0.1, subject)


def test_events_come_back_in_order_and_others_may_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study, "PAGE_ROWS", 2)
    log = StudyLog(tmp_path, clock=lambda: 1.0)
    noted = [an_event(subject=f"{place}.md") for place in range(5)]
    for event in noted:
        log.note(event)

    assert list(log.events()) == noted
    with sqlite3.connect(tmp_path / study.FILE_NAME) as other:
        assert other.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert other.execute("SELECT COUNT(*) FROM events").fetchone() == (5,)
    log.close()
    assert list(StudyLog(tmp_path, clock=lambda: study.KEEP_DAYS * DAY_S).events()) == noted
    assert list(StudyLog(tmp_path, clock=lambda: (study.KEEP_DAYS + 1) * DAY_S).events()) == []


def test_nothing_is_made_before_the_first_event(tmp_path: Path) -> None:
    assert list(StudyLog(tmp_path / "none").events()) == []
    assert not (tmp_path / "none").exists()


def test_old_events_go_and_the_oldest_of_too_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study, "SWEEP_EVERY", 1)
    monkeypatch.setattr(study, "MOST_EVENTS", 2)
    log = StudyLog(tmp_path, clock=lambda: (study.KEEP_DAYS + 1) * DAY_S)
    for at_s in (0.5 * DAY_S, 1.1 * DAY_S, 1.2 * DAY_S, 1.3 * DAY_S):
        log.note(an_event(at_s))

    assert [event.at_s for event in log.events()] == [1.2 * DAY_S, 1.3 * DAY_S]
    log.close()


def test_a_damaged_file_is_told(tmp_path: Path) -> None:
    (tmp_path / study.FILE_NAME).write_bytes(b"no database" * 1000)

    with failing("study_unavailable", match="cannot be used"):
        StudyLog(tmp_path).note(an_event())
