from pathlib import Path
from typing import Any

import pytest

from eval.asking.asking import Keeper, check_place, check_system
from eval.asking.target import NoReplyError
from eval.run_folder import RunFolder, RunFolderError
from tests.unit.eval.asking.fakes import a_case, a_header, a_row

CASES = (a_case("q1"), a_case("q2"), a_case("q3"))
KNOWN: dict[str, Any] = {
    "corpus": "default",
    "settings": {"retrieval": {"top_k": 12, "mode": "hybrid"}, "index": {"documents": 20}},
    "versions": {"treeline": "1", "code": "aaa"},
}


def a_run(path: Path, **fields: Any) -> RunFolder:
    folder = RunFolder(path / "run")
    folder.create(a_header(**{**KNOWN, "fingerprint": "f1", **fields}), CASES)
    return folder


@pytest.mark.promise("G16")
def test_a_run_begins_with_its_first_reply_and_its_fingerprint(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    keeper = Keeper(folder, a_header(), CASES)

    keeper.keep(a_row("q2", "failed", reason="It was down."))
    assert not folder.exists()
    keeper.keep(a_row("q1", fingerprint="f7"))
    keeper.keep(a_row("q3", fingerprint="f7"))

    assert folder.header().fingerprint == "f7"
    assert [(row.id, row.outcome) for row in folder.rows().values()] == [
        ("q1", "answered"),
        ("q2", "failed"),
        ("q3", "answered"),
    ]
    keeper.check_begun()


def test_a_run_in_which_nothing_was_replied_never_begins(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    keeper = Keeper(folder, a_header(), CASES)
    keeper.keep(a_row("q1", "failed", reason="It was down."))

    with pytest.raises(NoReplyError, match=r"No question got a reply, the last one because: It was down\."):
        keeper.check_begun()

    assert not folder.exists()


def test_the_same_system_is_gone_on_with(tmp_path: Path) -> None:
    check_system(a_run(tmp_path), a_header(fingerprint="f1", **KNOWN))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"corpus": "other"}, "something else: corpus was default and is other"),
        (
            {"settings": {"retrieval": {"top_k": 8, "mode": "hybrid"}, "index": {"documents": 21}}},
            r"retrieval\.top_k was 12 and is 8; index\.documents was 20 and is 21\.",
        ),
        ({"versions": {"treeline": "1", "code": "bbb"}}, r"versions\.code was aaa and is bbb"),
        ({"fingerprint": "f2"}, "fingerprint was f1 and is f2"),
        ({"settings": {}}, r"retrieval\.top_k was 12 and is None; "),
    ],
    ids=["corpus", "settings", "code", "fingerprint", "fewer"],
)
def test_what_changed_is_named(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(RunFolderError, match=message):
        check_system(a_run(tmp_path), a_header(**{"fingerprint": "f1", **KNOWN, **changes}))


def test_of_many_changes_the_first_are_named_and_the_others_counted(tmp_path: Path) -> None:
    settings = {"answer": {str(number): number for number in range(9)}}
    now = {"answer": {str(number): -number - 1 for number in range(9)}}

    with pytest.raises(RunFolderError, match=r"answer\.3 was 3 and is -4; and 5 more"):
        check_system(a_run(tmp_path, settings=settings), a_header(**{**KNOWN, "settings": now}))


def test_a_folder_with_other_things_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("Mine.")

    with pytest.raises(RunFolderError, match=r"holds no run, but other things \(notes\.txt\)"):
        check_place(RunFolder(tmp_path))
    with pytest.raises(RunFolderError, match=r"notes\.txt is a file"):
        check_place(RunFolder(tmp_path / "notes.txt"))


def test_a_run_an_empty_folder_and_what_a_kill_left_before_the_first_reply_are_fit_for_a_run(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    killed = tmp_path / "killed"
    killed.mkdir()
    for name in (".lock", "cases.jsonl", "run.part"):
        (killed / name).touch()

    for folder in (a_run(tmp_path), RunFolder(tmp_path / "empty"), RunFolder(killed), RunFolder(tmp_path / "none")):
        check_place(folder)


def test_a_disk_that_refuses_is_told_with_what_to_do(tmp_path: Path) -> None:
    folder = a_run(tmp_path)
    (folder.path / "rows.jsonl").mkdir()  # even root cannot append to that

    with pytest.raises(RunFolderError, match=r"cannot be written: Is a directory\. .* the same command goes on"):
        Keeper(folder, a_header(), CASES).keep(a_row("q1"))
