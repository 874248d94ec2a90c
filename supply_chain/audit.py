"""Print the options by which pip-audit passes over faults that do not reach Treeline: `python -m supply_chain.audit`.

Flow: `audit_exceptions.toml` -> **here** -> `make audit`. An exception whose day has passed is left out, so that its
fault is reported again.
"""

import tomllib
from datetime import date
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, model_validator

FILE = Path(__file__).with_name("audit_exceptions.toml")
MOST_DAYS = 366


class AuditException(BaseModel):
    """A known fault that does not reach Treeline.

    Attributes:
        id: as pip-audit names it.
        package: which has the fault.
        since: when somebody looked.
        until: the last day on which it is passed over; at most a year later.
        reason: why the fault does not reach Treeline.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(pattern=r"^(CVE|GHSA|PYSEC)-[\w-]+$")
    package: str = Field(min_length=1)
    since: date
    until: date
    reason: str = Field(min_length=20)

    @model_validator(mode="after")
    def _ends(self) -> "AuditException":
        if not 0 < (self.until - self.since).days <= MOST_DAYS:
            raise ValueError(f"{self.id}: `until` must be at most {MOST_DAYS} days after `since`")
        return self


def exceptions(file: Path = FILE) -> list[AuditException]:
    """Return the exceptions of a file.

    Raises:
        pydantic.ValidationError: one lacks a field, or has no end within a year.
    """
    listed = tomllib.loads(file.read_text(encoding="utf-8")).get("exception", [])
    return [AuditException.model_validate(one) for one in listed]


def options(listed: list[AuditException], today: date) -> list[str]:
    """Return pip-audit's options for the exceptions that still hold."""
    return [f"--ignore-vuln={one.id}" for one in listed if one.until >= today]


if __name__ == "__main__":
    print(*options(exceptions(), date.today()))  # noqa: T201
