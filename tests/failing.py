"""`failing("unknown_task")`: the block ends in a foreseen failure of this code."""

import pytest

from errors import RagError


def failing(code: str, match: str | None = None) -> pytest.RaisesExc[RagError]:
    """Expect a `RagError` of this code, whose text holds the pattern `match`."""
    return pytest.raises(RagError, match=match, check=lambda error: error.code == code)
