"""`failing("unknown_task")`: the block ends in a foreseen failure of this code."""

from typing import TYPE_CHECKING

import pytest

from errors import RagError

if TYPE_CHECKING:
    from _pytest.raises import RaisesExc


def failing(code: str, match: str | None = None) -> "RaisesExc[RagError]":
    """Expect a `RagError` of this code, whose text holds the pattern `match`."""
    return pytest.raises(RagError, match=match, check=lambda error: error.code == code)
