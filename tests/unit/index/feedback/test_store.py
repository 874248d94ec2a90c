"""Verdicts are tied to what was given; what is kept is bounded in time and size."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from errors import StorageError, UnknownAnswerError
from index.feedback.store import (
    DAY_S,
    MAX_RECORD_BYTES,
    MAX_VERDICTS,
    SWEEP_EVERY,
    FeedbackStore,
    Given,
    Limits,
    Target,
)
from tests.failing import failing

WHOLE = Target()


class Clock:
    now_s = 1_000_000.0

    def __call__(self) -> float:
        self.now_s += 1
        return self.now_s


def given(id_: str = "a", kind: Any = "answer", corpus: str = "default", text: str = "Wind turns blades.") -> Given:
    passage = {"node_id": "n1", "chunk_id": "wind.md#00002", "doc_id": "wind.md", "start": 0, "end": 9, "text": text}
    return Given(
        id_,
        kind,
        corpus,
        "What turns?",
        answer="Wind. [1]",
        message="Wind. [1]",
        steps=("Searching", "Found"),
        passages=(passage,),
    )


def store_in(folder: Path, clock: Clock | None = None, **limits: float) -> FeedbackStore:
    chosen = Limits(**{"keep_days": 30, "keep_rated_days": 365, "max_mb": 100, **limits})
    return FeedbackStore(folder, chosen, clock or Clock())


@pytest.fixture
def store(tmp_path: Path) -> FeedbackStore:
    """A store that knows one answer, `a`."""
    store = store_in(tmp_path)
    store.note(given())
    return store


@pytest.mark.promise("G29")
def test_a_verdict_comes_back_with_all_that_was_given(store: FeedbackStore, tmp_path: Path) -> None:
    store.judge("a", "answer", WHOLE, "good", "Exactly.")

    (record,) = store_in(tmp_path).judged()

    assert (record["question"], record["answer"], record["corpus"]) == ("What turns?", "Wind. [1]", "default")
    assert record["passages"][0]["text"] == "Wind turns blades."
    (said,) = record["feedback"]
    whole = {"node_id": None, "step": None, "span": None}
    assert said == whole | {"verdict": "good", "text": "Exactly.", "at": said["at"]}


def test_a_verdict_on_the_same_part_replaces_the_one_before_and_on_another_does_not(store: FeedbackStore) -> None:
    for target, verdict in (
        (WHOLE, "good"),
        (WHOLE, "bad"),
        (Target(step=0), "good"),
        (Target(span=(0, 4)), "bad"),
        (Target(node_id="wind.md#00002"), "relevant"),
        (Target(node_id="n1"), "irrelevant"),
    ):
        store.judge("a", "answer", target, verdict, None)  # type: ignore[arg-type]

    (record,) = store.judged()

    assert [(said["node_id"], said["step"], said["span"], said["verdict"]) for said in record["feedback"]] == [
        (None, None, None, "bad"),
        (None, 0, None, "good"),
        (None, None, [0, 4], "bad"),
        ("n1", None, None, "irrelevant"),
    ]


@pytest.mark.parametrize(
    ("id_", "kind", "target", "said"),
    [
        ("b", "answer", WHOLE, "no answer with this id"),
        ("a", "retrieval", WHOLE, "no retrieval with this id"),
        ("a", "answer", Target(node_id="n2"), "no such passage"),
        ("a", "answer", Target(step=3), "no such step"),
        ("a", "answer", Target(span=(0, 10)), "no such span"),
        ("a", "answer", Target(span=(4, 4)), "no such span"),
    ],
)
def test_what_was_not_given_cannot_be_judged(
    store: FeedbackStore, id_: str, kind: Any, target: Target, said: str
) -> None:
    with pytest.raises(UnknownAnswerError, match=said):
        store.judge(id_, kind, target, "good", None)

    assert list(store.judged()) == []


def test_a_verdict_before_any_answer_makes_no_file(tmp_path: Path) -> None:
    with pytest.raises(UnknownAnswerError):
        store_in(tmp_path).judge("a", "answer", WHOLE, "good", None)

    assert list(tmp_path.iterdir()) == []


def test_verdicts_on_one_answer_are_limited_and_can_still_be_replaced(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    store.note(Given("a", "answer", "default", "What?", message="x" * 1000))
    for start in range(MAX_VERDICTS):
        store.judge("a", "answer", Target(span=(start, start + 1)), "good", None)

    with failing("too_much_feedback", match="200 verdicts already"):
        store.judge("a", "answer", WHOLE, "good", None)
    store.judge("a", "answer", Target(span=(0, 1)), "bad", None)

    (record,) = store.judged()
    assert len(record["feedback"]) == MAX_VERDICTS
    assert record["feedback"][-1]["verdict"] == "bad"


def test_what_is_too_old_goes_and_what_was_judged_stays_longer(tmp_path: Path) -> None:
    clock = Clock()
    store = store_in(tmp_path, clock)
    for id_ in ("judged", "not judged"):
        store.note(given(id_))
    store.judge("judged", "answer", WHOLE, "good", None)

    clock.now_s += 31 * DAY_S
    fill(store, "b")
    assert kept(tmp_path) >= {"judged"}
    assert "not judged" not in kept(tmp_path)

    clock.now_s += 365 * DAY_S
    fill(store, "c")
    assert not kept(tmp_path) & {"judged", "b0"}
    assert list(store.judged()) == []


def test_what_is_too_much_goes_oldest_first_and_what_was_judged_last(tmp_path: Path) -> None:
    store = store_in(tmp_path, max_mb=1)
    store.note(given("judged"))
    store.judge("judged", "answer", WHOLE, "good", None)

    fill(store, "b", text="x" * 20_000)

    left = kept(tmp_path)
    assert "judged" in left
    assert f"b{SWEEP_EVERY - 1}" in left
    assert "b0" not in left
    assert len(left) < 60


def test_a_huge_answer_is_kept_without_the_text_of_its_passages(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    store.note(given(text="x" * MAX_RECORD_BYTES))
    store.judge("a", "answer", Target(node_id="n1"), "relevant", None)

    (record,) = store.judged()

    assert "text" not in record["passages"][0]
    assert record["passages"][0]["doc_id"] == "wind.md"


def test_a_text_that_utf_8_cannot_carry_is_kept(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    store.note(given(text="\ud800"))
    store.judge("a", "answer", WHOLE, "bad", "\ud800")

    assert [record["passages"][0]["text"] for record in store.judged()] == ["\ud800"]


def test_more_than_a_page_is_exported_in_order_and_one_corpus_alone(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    for number in range(450):
        store.note(given(f"{number:03}", corpus="even" if number % 2 == 0 else "odd"))
        store.judge(f"{number:03}", "answer", WHOLE, "good", None)

    assert [record["id"] for record in store.judged()] == [f"{number:03}" for number in range(450)]
    assert [record["id"] for record in store.judged("odd")] == [f"{number:03}" for number in range(1, 450, 2)]


def test_a_file_that_is_no_database_is_told(tmp_path: Path) -> None:
    (tmp_path / "feedback.sqlite").write_bytes(b"no database" * 100)

    with failing("feedback_unavailable", match="cannot be read"):
        store_in(tmp_path).note(given())


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(StorageError, match="answers are not affected"):
        store_in(tmp_path / "file" / "index").note(given())


def fill(store: FeedbackStore, name: str, text: str = "x") -> None:
    """Note as many as lead to the next sweep."""
    for number in range(SWEEP_EVERY):
        store.note(given(f"{name}{number}", text=text))


def kept(folder: Path) -> set[str]:
    with sqlite3.connect(folder / "feedback.sqlite") as connection:
        return {id_ for id_, body in connection.execute("SELECT id, body FROM given") if json.loads(body)}


@pytest.mark.fault("E11")
def test_only_the_owner_reads_what_people_asked(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    store = store_in(folder)
    store.note(given())
    store.close()

    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_file_of_before_that_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    with sqlite3.connect(store_in(tmp_path).path) as database:
        database.execute("PRAGMA journal_mode=WAL")
    store_in(tmp_path).path.chmod(0o644)

    store = store_in(tmp_path)
    store.note(given())
    store.close()

    assert store.path.stat().st_mode & 0o777 == 0o600
