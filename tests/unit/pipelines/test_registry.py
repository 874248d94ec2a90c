import re
from pathlib import Path

import pytest

from errors import SettingsError
from pipelines.registry import BUILT_IN, Registry, all_steps
from tests.fakes.pipelines import ScriptedStep

STEP = """
from pipelines.step import RowStep


class Shout(RowStep):
    id, name, category = "shout", "Shout", "Pre-Processing"
    description = "Writes in capitals."

    def transform_row(self, text, state, handler):
        return text.upper()
"""


def test_steps_of_a_folder_are_found(tmp_path: Path) -> None:
    (tmp_path / "shout.py").write_text(STEP)
    (tmp_path / "notes.txt").write_text("no step")

    found = all_steps(tmp_path)

    assert found.ids()[-1] == "shout"
    assert found.info()["shout"]["parameters"]["output_column"]["default"] == "result"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("import nothing_of_this_name", "ModuleNotFoundError"),
        (STEP.replace('"shout"', '"word_counter"'), "Two steps are called 'word_counter'"),
        (STEP.replace('description = "Writes in capitals."', ""), "has no description"),
    ],
)
def test_a_broken_file_stops_the_start(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "shout.py").write_text(text)

    with pytest.raises(SettingsError, match=reason):
        all_steps(tmp_path)


def test_a_folder_that_is_not_there_stops_the_start(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="There is no folder"):
        all_steps(tmp_path / "none")


def test_no_two_steps_have_one_id() -> None:
    assert len(Registry().ids()) == len(BUILT_IN)
    with pytest.raises(SettingsError, match="Two steps"):
        Registry([ScriptedStep, ScriptedStep])


def test_the_guide_lists_every_step() -> None:
    guide = (Path(__file__).parents[3] / "docs" / "pipelines.md").read_text()
    table = re.search(r"\| step \| what it does \|\n\|---\|---\|\n((?:\|.*\n)+)", guide)
    assert table is not None

    listed = [name for row in table[1].splitlines() for name in re.findall(r"`(\w+)`", row.split("|")[1])]

    assert sorted(listed) == sorted(step.id for step in BUILT_IN)
