"""Examples of the reader are the leaves that the service finds, labelled by the quotes of a question."""

from pathlib import Path
from typing import Any

import pytest

from settings import Settings, load_settings
from training.reader.found import found_examples

SUBJECTS = ("turbine", "battery", "boiler", "pump")


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    for number, subject in enumerate(SUBJECTS):
        text = (
            f"# The {subject}\n\nThe {subject} was built in {1900 + number}. It stands in the yard behind the house.\n"
        )
        (folder / f"{subject}.md").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    loaded = load_settings()
    return loaded.model_copy(update={"bench": loaded.bench.model_copy(update={"dir": tmp_path / "bench"})})


def row(question: str, *quotes: str) -> dict[str, Any]:
    form = "fact" if quotes else "near_miss"
    return {"question": question, "form": form, "doc": "boiler.md", "quotes": list(quotes)}


def test_the_leaf_that_answers_is_labelled_and_others_of_its_folder_are_left_out(
    documents: Path, settings: Settings
) -> None:
    asked = row("When was the boiler built?", "The boiler was built in 1902.")

    right, *wrong = found_examples("trial", documents, [asked], settings)

    assert [right.text[slice(*right.units[place])] for place in right.answering] == ["The boiler was built in 1902."]
    assert right.title == "The boiler"
    assert all("boiler" in one.text and not one.answering for one in wrong)


def test_leaves_of_another_project_do_not_answer(documents: Path, settings: Settings) -> None:
    (documents / "other").mkdir()
    (documents / "pump.md").rename(documents / "other" / "pump.md")

    found = list(found_examples("trial", documents, [row("When was the pump built?")], settings))

    assert any("pump" in one.text for one in found)
    assert not any(one.answering for one in found)
