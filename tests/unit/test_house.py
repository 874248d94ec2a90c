"""The house does not grow: no figure is above `tests/house.toml`."""

from pathlib import Path

import pytest

from tests import house


def test_no_figure_has_risen() -> None:
    assert house.risen(house.measured()) == [], "make it smaller, or raise tests/house.toml where a review sees it"


@pytest.fixture
def limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with limits of its own."""
    file = tmp_path / "house.toml"
    file.write_text('[lines]\n"api" = 10\n"eval" = 5\n\n[question]\n"files" = 3\n')
    monkeypatch.setattr(house, "FILE", file)
    return file


@pytest.mark.usefixtures("limits")
def test_what_rose_and_what_is_new_is_told() -> None:
    assert [line.split(":")[0] for line in house.risen({"lines": {"api": 11, "eval": 5, "annexe": 1}})] == [
        "lines, api",
        "lines, annexe",
    ]


def test_figures_are_lowered_and_never_raised(limits: Path) -> None:
    limits.write_text(house.lowered({"lines": {"api": 11, "eval": 4, "annexe": 1}}))

    assert house.allowed() == {"lines": {"api": 10, "eval": 4, "annexe": 1}, "question": {"files": 3}}


def test_each_file_is_counted_in_its_room(tmp_path: Path) -> None:
    for name in ("api/__init__.py", "api/routes/run.py", "notes/run.py", "main.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("class LostError(Exception):\n    pass\n")
    (tmp_path / "README.md").write_text("Two words.")

    found = house.measured(tmp_path)

    assert (found["lines"], found["files"]) == ({"api": 4, "top level": 2}, {"api": 2, "top level": 1})
    assert (found["words"]["README"], found["whole"]["error_classes"]) == (2, 3)
