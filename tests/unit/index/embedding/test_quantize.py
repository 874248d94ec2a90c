"""An int8 model must yield nearly the exact vectors, or it is refused."""

import numpy as np
import pytest

from index.embedding.quantize import require_close

EXACT = np.eye(4, 8, dtype=np.float32)


def test_close_vectors_pass() -> None:
    require_close(EXACT, EXACT * np.float32(0.995))


@pytest.mark.parametrize("spoilt", [EXACT[::-1], EXACT * np.float32(np.nan)])
def test_vectors_that_int8_spoilt_are_refused_with_their_cosine(
    spoilt: np.ndarray[tuple[int, int], np.dtype[np.float32]],
) -> None:
    with pytest.raises(SystemExit, match=r"mean cosine of (0\.000|nan) to the exact ones"):
        require_close(EXACT, spoilt)
