"""Who sends the request that is being answered, and what that key is for.

Flow: `security/auth.py` finds the key of a request -> **here**, for the request's task and the threads it starts ->
whatever opens a corpus or lists some asks here. Work that outlives its request, as an ingestion job, has no caller:
what it may do was checked when it was submitted.
"""

from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from errors import KeyScopeError

READ, INGEST, ADMIN = "read", "ingest", "admin"
SCOPES = (READ, INGEST, ADMIN)


@dataclass(frozen=True, slots=True)
class Key:
    """What is known of a key; not the key itself.

    Attributes:
        name: for people.
        sha256: of the key, 64 hex digits.
        scopes: some of `SCOPES`; `admin` includes the others.
        corpora: the only ones it opens; None: all of them.
        rate: requests that it may send, as `60/minute`; None: no limit.
        created_at: in ISO 8601, UTC; empty for one of the settings.
        root: the only folder that it may have ingested, absolute; None: `security/ingest_paths.py` says which.
    """

    name: str
    sha256: str
    scopes: frozenset[str]
    corpora: frozenset[str] | None = None
    rate: str | None = None
    created_at: str = ""
    root: Path | None = None

    def allows(self, scope: str) -> bool:
        """Say whether the key is for this scope."""
        return scope in self.scopes or ADMIN in self.scopes


NOBODY = Key("nobody", "", frozenset(), frozenset())
"""Who has no key where keys are asked for."""

CALLER: ContextVar[Key | None] = ContextVar("caller", default=None)
"""The key of this request; None where none is asked for, and in work of the service itself."""


IN_SCOPE = "treeline.key"
"""Where a request's scope has its key, for work that does not run in the request's own task."""


def may_use(corpus: str) -> bool:
    """Say whether the caller's key opens this corpus."""
    key = CALLER.get()
    return key is None or key.corpora is None or corpus in key.corpora


def require_corpus(corpus: str) -> None:
    """Refuse a caller whose key does not open this corpus, whether it exists or not.

    Raises:
        KeyScopeError: that is so.
    """
    if not may_use(corpus):
        raise KeyScopeError("Your key does not open this corpus.", "Name one that it opens, or ask for another key.")
