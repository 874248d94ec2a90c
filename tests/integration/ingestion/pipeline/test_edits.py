"""Any sequence of edits, ingestions and deletions leaves stores that agree; `make torture` tries many more."""

import pytest
from hypothesis import HealthCheck, settings

from tests.torture.edits import Edits

pytestmark = pytest.mark.fault("A6")

TestEdits = Edits.TestCase
TestEdits.settings = settings(
    max_examples=20, stateful_step_count=10, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
