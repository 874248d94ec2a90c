"""Chats are kept beside their tasks, and go with them."""

import time
from pathlib import Path

import pytest

from pipelines.build import Pipelines
from pipelines.tasks import chats as chats_module
from query_engine.schema.turn import Turn
from tests.failing import failing
from tests.fakes.pipelines import TEXTS, Start, body_of


def finished(pipelines: Pipelines) -> str:
    task = pipelines.tasks.submit(body_of("fake_source"))
    pipelines.tasks.end_of(task).result(30)
    return task


@pytest.mark.promise("D28")
def test_a_chat_survives_a_restart(tmp_path: Path, start: Start) -> None:
    first = start(folder=tmp_path)
    task = finished(first)
    chat = first.tasks.chats.begin(task, "full-text", "extractive")
    first.tasks.chats.add(chat, "What falls?", "Rain. [Doc 3]")
    first.close()
    second = start(folder=tmp_path)

    kept = second.tasks.chats.get(chat, task)

    assert (kept.model, kept.column) == ("extractive", "full-text")
    assert kept.turns == (Turn("user", "What falls?"), Turn("assistant", "Rain."))
    assert [page.text for page in second.tasks.chats.pages(kept)] == list(TEXTS)


def test_a_chat_expires_with_its_task(pipelines: Pipelines) -> None:
    tasks = pipelines.tasks
    chat = tasks.chats.begin(finished(pipelines), "full-text", "extractive")
    tasks.chats.add(chat, "a", "b")

    tasks.store.expire(time.time() + 1, 1_000_000)

    with failing("unknown_chat"):
        tasks.chats.get(chat)
    with tasks.store.reading() as database:
        assert database.execute("SELECT COUNT(*) FROM turns").fetchone()[0] == 0
    tasks.chats.add(chat, "a", "b")  # a reply that comes after it


def test_only_the_last_turns_are_kept(pipelines: Pipelines, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chats_module, "MOST_TURNS", 2)
    chats = pipelines.tasks.chats
    chat = chats.begin(finished(pipelines), "full-text", "extractive")

    chats.add(chat, "a", "b")
    chats.add(chat, "c", "d")

    assert [turn.text for turn in chats.get(chat).turns] == ["c", "d"]


def test_no_more_chats_are_kept_than_there_is_room_for(pipelines: Pipelines, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chats_module, "MOST_CHATS", 1)
    task = finished(pipelines)
    pipelines.tasks.chats.begin(task, "full-text", "extractive")

    with failing("too_many_tasks"):
        pipelines.tasks.chats.begin(task, "full-text", "extractive")
