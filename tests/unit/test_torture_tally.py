"""The long torture run tells what failed, and goes on."""

from collections.abc import Mapping
from typing import Never

import pytest

from tests.torture.cases import Case, Result, Scenario
from tests.torture.faults import Fault
from tests.torture.tally import Tally

CASE = Case("first", Fault("words stored", 2, "after", "no space"))


class Player:
    """Plays nothing; answers with what it was given."""

    embedded: Mapping[Scenario, int] = {"first": 10}

    def __init__(self, *answers: Result | Exception) -> None:
        self._answers = list(answers)

    def play(self, case: Case, seed: int = 0) -> Result:  # noqa: ARG002  # the port's
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def test_a_case_with_problems_is_counted_and_told_with_the_command_that_repeats_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    tally = Tally(Player(Result(struck=True, problems=["3 documents lost"], stop_s=1.5)), seed=7)

    assert tally.play("no space", CASE, 2)

    assert (tally.rows["no space"]["corrupt"], tally.rows["no space"]["slowest_s"]) == (1, 1.5)
    (failure,) = tally.failures
    assert failure["problems"] == ["3 documents lost"]
    assert "--point 'words stored' --call 2" in failure["command"]
    assert "3 documents lost" in capsys.readouterr().out


def test_a_fault_that_did_not_come_to_pass_is_no_case() -> None:
    tally = Tally(Player(Result(struck=False)), seed=7)

    assert not tally.play("no space", CASE, 9)
    assert tally.rows == {}


def test_a_case_that_cannot_be_played_is_counted_as_failed_and_the_next_one_played() -> None:
    tally = Tally(Player(ValueError("no view"), Result(struck=True)), seed=7)

    tally.play("no space", CASE, 1)
    tally.play("no space", CASE, 2)

    assert (tally.rows["no space"]["cases"], tally.rows["no space"]["corrupt"]) == (2, 1)
    assert tally.failures[0]["problems"][-1] == "ValueError: no view"


def test_a_part_that_fails_is_told_with_all_that_was_noted_of_it() -> None:
    def edits() -> Never:
        error = AssertionError("two of them")
        error.add_note("state.ingest(prune=True)")
        raise error

    tally = Tally(Player(), seed=7)
    tally.part("edits", edits)

    assert tally.rows["edits"]["corrupt"] == 1
    assert tally.failures[0]["problems"][-2:] == ["AssertionError: two of them", "state.ingest(prune=True)"]
    assert "edits" in tally.table()
