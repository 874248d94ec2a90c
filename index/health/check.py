"""Have a store of a corpus examined by a child process, and say what mends what it finds.

Flow: `maintenance/doctor.py`, and `folder_stores.py` where the vectors are not as the last clean close left them ->
**here** -> `child.py` in a child -> checks. Both ask for the same check of the vectors, so that their verdicts agree.

A damaged vector graph does not raise an error but kills the process that reads it. That is why children look, and why
a child's death is a finding.
"""

import json
import os
import signal
import subprocess
import sys
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal

from errors import IndexMismatchError, RagError, StorageError, StoreUnavailableError
from index.layout.locations import LOCAL, Servers

Name = Literal["manifest", "documents", "words", "vectors", "model"]
# What one child looks at: the manifest with the documents.
Store = Literal["documents", "words", "vectors"]

# Leaves whose vectors are read, and searched for, spread evenly over the corpus.
SAMPLE = 1000
_PROJECT_ROOT = Path(__file__).resolve().parents[2]


class Repair(StrEnum):
    """What mends a finding, in words for people."""

    NOTHING = "Nothing can: restore the corpus from a backup, or drop it and ingest again."
    COUNT = "Recount documents and leaves."
    SWEEP = "Remove what an interrupted ingestion left; the next ingestion does so, too."
    WORDS = "Rebuild the word index from the stored text."
    LEAVES = "Embed the missing leaves from the stored text, and remove what belongs to no document."
    VECTORS = "Rebuild the vector store: embed all leaves from the stored text."


WHOLE: dict[Store, Repair] = {
    "documents": Repair.NOTHING,
    "words": Repair.WORDS,
    "vectors": Repair.VECTORS,
}


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at.

    Attributes:
        store: where.
        question: what should be so.
        ok: it is so.
        finding: what was found: what is wrong, or the figure that was measured.
        repair: what mends it.
        share: what was measured, 0..1, where the check measures.
    """

    store: Name
    question: str
    ok: bool
    finding: str | None = None
    repair: Repair | None = None
    share: float | None = None


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """All checks of one corpus."""

    corpus: str
    checks: list[Check]

    @property
    def healthy(self) -> bool:
        """Whether nothing was found."""
        return all(check.ok for check in self.checks)

    @property
    def repairs(self) -> set[Repair]:
        """What has to be done."""
        return {check.repair for check in self.checks if check.repair}

    def to_dict(self) -> dict[str, Any]:
        """Return the diagnosis as JSON-ready values."""
        return asdict(self) | {"healthy": self.healthy}


def examine(folder: Path, servers: Servers = LOCAL, sample: int | None = SAMPLE) -> Diagnosis:
    """Examine a corpus whose lock this process holds, and whose words and vectors it has not opened.

    Args:
        folder: of the corpus.
        servers: where its documents and vectors are, if not in the folder.
        sample: how many leaves have their vectors read and searched for; None for all.

    Raises:
        StorageError: the disk is full, or refuses.
        StoreUnavailableError: a store on a server does not answer.
    """
    checks = examine_store(folder, servers, "documents", sample)
    # The others are compared with the documents.
    if all(check.repair is not Repair.NOTHING for check in checks):
        checks += examine_store(folder, servers, "words", sample) + examine_store(folder, servers, "vectors", sample)
    return Diagnosis(folder.name, checks)


def examine_store(folder: Path, servers: Servers, store: Store, sample: int | None) -> list[Check]:
    """Examine one store; see `examine`."""
    path = os.pathsep.join([str(_PROJECT_ROOT), *(entry for entry in sys.path if entry)])
    # By its input: arguments and environment can be seen by others, and the database's address may hold a password.
    request = {"folder": str(folder), "servers": asdict(servers), "store": store, "sample": sample}
    child = subprocess.run(  # a fixed command
        [sys.executable, "-P", "-m", "index.health.child"],
        input=json.dumps(request).encode(),
        capture_output=True,
        env={"PYTHONPATH": path},
        check=False,
    )
    lines = [json.loads(line) for line in child.stdout.splitlines()]
    for line in lines:
        if "code" in line:
            raise _REFUSALS[line["code"]](line["fact"], line["remedy"])
    checks = [Check(**line | {"repair": line["repair"] and Repair(line["repair"])}) for line in lines]
    if child.returncode > 0:
        raise RuntimeError(f"The examination failed: {child.stderr.decode(errors='replace')}")
    if child.returncode < 0:
        finding = f"The process that read it died ({signal.Signals(-child.returncode).name})."
        checks.append(Check(store, "It can be read.", ok=False, finding=finding, repair=WHOLE[store]))
    return checks


_REFUSALS: dict[str, type[RagError]] = {
    kind.code: kind for kind in (IndexMismatchError, StorageError, StoreUnavailableError)
}
