"""A training's folder: nothing is overwritten, and only the same run goes on."""

import json
from pathlib import Path

import pytest

from training.unfinished import TrainingError, finish, unfinished


def test_a_run_that_ended_leaves_only_what_it_made(tmp_path: Path) -> None:
    target = tmp_path / "made"
    with unfinished(target, {"seed": 1}) as folder:
        (folder / "model").mkdir()
        (folder / "model" / "weights").write_text("w")
        finish(folder, folder / "model", target)

    assert [path.name for path in tmp_path.iterdir()] == ["made"]
    assert (target / "weights").read_text() == "w"


def test_an_interrupted_run_finds_its_folder_again(tmp_path: Path) -> None:
    with unfinished(tmp_path / "made", {"seed": 1, "rows": None}) as folder:
        (folder / "rows").write_text("r")
    with unfinished(tmp_path / "made", {"seed": 1, "rows": None}) as again:
        assert (again / "rows").read_text() == "r"


def test_what_exists_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "made").mkdir()
    with pytest.raises(TrainingError, match="exists, and is not overwritten"), unfinished(tmp_path / "made", {}):
        pass


@pytest.mark.parametrize("other", [{"seed": 2}, {}, {"seed": 1, "limit": 3}])
def test_a_run_with_other_arguments_does_not_go_on(tmp_path: Path, other: dict[str, int]) -> None:
    with unfinished(tmp_path / "made", {"seed": 1}):
        pass
    with pytest.raises(TrainingError, match="begun with"), unfinished(tmp_path / "made", other):
        pass


def test_two_processes_do_not_train_the_same(tmp_path: Path) -> None:
    with (
        unfinished(tmp_path / "made", {}),
        pytest.raises(TrainingError, match="Another process"),
        unfinished(tmp_path / "made", {}),
    ):
        pass


def test_the_arguments_are_kept_for_people_too(tmp_path: Path) -> None:
    with unfinished(tmp_path / "made", {"seed": 1}) as folder:
        assert json.loads((folder / "arguments.json").read_text()) == {"seed": 1}
