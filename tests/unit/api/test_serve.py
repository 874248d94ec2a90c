"""What the service says at its start of a corpus that it cannot open."""

import pytest

from api.serve import describe
from errors import CorpusError, IndexDamagedError, StorageError
from query_engine.build import Engines
from tests.fakes.engines import FakeEngines


def engines_failing(error: CorpusError) -> Engines:
    return FakeEngines(failures={"default": error})  # type: ignore[return-value]  # only `lease` is asked


def test_a_full_disk_is_told_and_no_reason_not_to_start() -> None:
    assert "The disk is full." in describe(engines_failing(StorageError("The disk is full.", "Make room.")))


def test_a_damaged_index_is_one() -> None:
    with pytest.raises(IndexDamagedError):
        describe(engines_failing(IndexDamagedError("It is damaged.", "Repair it.")))
