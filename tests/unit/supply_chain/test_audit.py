"""Exceptions of the audit: each has a package, a reason and an end."""

from datetime import date, timedelta

import pytest
from pydantic import ValidationError

from supply_chain.audit import AuditException, exceptions, options
from supply_chain.requirements import pinned

LISTED = exceptions()
ONE = {
    "id": "CVE-2026-1",
    "package": "tiny",
    "since": date(2026, 1, 1),
    "until": date(2026, 7, 1),
    "reason": "Its server is never started by Treeline.",
}


def test_every_exception_is_whole_and_of_a_package_in_use() -> None:
    assert {one.package for one in LISTED} <= pinned("constraints.txt").keys()
    assert len({one.id for one in LISTED}) == len(LISTED)


@pytest.mark.parametrize(
    "wrong",
    [
        {"id": "a bug"},
        {"package": ""},
        {"reason": ""},
        {"until": date(2026, 1, 1)},
        {"until": date(2027, 7, 1)},
        {"owner": "nobody"},
    ],
    ids=lambda wrong: next(iter(wrong)),
)
def test_an_exception_without_reason_or_end_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        AuditException.model_validate(ONE | wrong)


def test_an_exception_holds_until_its_last_day() -> None:
    one = AuditException.model_validate(ONE)

    assert options([one], one.until) == ["--ignore-vuln=CVE-2026-1"]
    assert options([one], one.until + timedelta(days=1)) == []
