"""Which addresses are asked without a proxy."""

import pytest

from loopback import may_use_proxy


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8000", "http://localhost/v1", "https://[::1]:8000/run", "http://127.9.9.9"]
)
def test_this_machine_is_asked_without_one(url: str) -> None:
    assert not may_use_proxy(url)


@pytest.mark.parametrize(
    "url", ["http://example.org", "https://10.0.0.1:8000", "http://localhost.example.org", "", "http://["]
)
def test_others_may_be_asked_through_one(url: str) -> None:
    assert may_use_proxy(url)
