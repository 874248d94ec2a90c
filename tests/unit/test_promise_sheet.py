"""Every promise has a test, every mark a promise, and the page says so."""

from pathlib import Path

from tests.marked import marked
from tests.promises.sheet import PAGE, page, problems

SOURCE = """
import pytest

pytestmark = pytest.mark.promise("A1")

@pytest.mark.promise("A2", "A3")
async def test_one() -> None: ...

@pytest.mark.parametrize("n", [1, pytest.param(2, marks=pytest.mark.promise("A2"))])
def test_two(n: int) -> None: ...

def test_three() -> None:
    "Not mark.promise('A4')."
"""


def test_promises_and_tests_fit() -> None:
    assert problems() == []


def test_the_page_is_what_the_command_writes() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run `python -m tests.promises`"


def test_marks_of_files_tests_and_parameters_are_found_without_importing(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(SOURCE)

    assert marked("promise", tmp_path) == {
        "A1": ["test_it.py"],
        "A2": ["test_it.py::test_one", "test_it.py::test_two"],
        "A3": ["test_it.py::test_one"],
    }
