"""Who sends the request that is being answered, and what that key is for.

Flow: `security/auth.py` finds the key of a request -> **here**, for the request's task and the threads it starts ->
whatever opens a corpus or lists some asks here. Work that outlives its request, as an ingestion job, has no caller:
what it may do was checked when it was submitted.
"""

from collections.abc import Iterable
from contextvars import ContextVar
from dataclasses import dataclass
from hashlib import sha256
from hmac import compare_digest
from pathlib import Path

from starlette.requests import Request
from starlette.types import Scope

from errors import RagError

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
        groups: whose documents it sees, beside those for everybody.
    """

    name: str
    sha256: str
    scopes: frozenset[str]
    corpora: frozenset[str] | None = None
    rate: str | None = None
    created_at: str = ""
    root: Path | None = None
    groups: frozenset[str] = frozenset()

    def allows(self, scope: str) -> bool:
        """Say whether the key is for this scope."""
        return scope in self.scopes or ADMIN in self.scopes


NOBODY = Key("nobody", "", frozenset(), frozenset())
"""Who has no key where keys are asked for."""

CALLER: ContextVar[Key | None] = ContextVar("caller", default=None)
"""The key of this request; None where none is asked for, and in work of the service itself."""


IN_SCOPE = "treeline.key"
"""Where a request's scope has its key, for work that does not run in the request's own task."""


def address_of(scope: Scope) -> str:
    """Return the address of a client, as RAG_SERVE__PROXIES tell it; empty if it has none."""
    client = scope.get("client")
    return str(client[0]) if client else ""


def caller_name(request: Request) -> str:
    """Return what tells clients apart that take turns: the name of the key, or without keys the address."""
    key = CALLER.get()
    return key.name if key else address_of(request.scope)


def may_use(corpus: str) -> bool:
    """Say whether the caller's key opens this corpus."""
    key = CALLER.get()
    return key is None or key.corpora is None or corpus in key.corpora


def groups_of_caller() -> frozenset[str] | None:
    """Return the groups whose documents the caller sees, beside those for everybody; None: it sees all documents."""
    key = CALLER.get()
    return None if key is None or key.allows(ADMIN) else key.groups


def require_corpus(corpus: str) -> None:
    """Refuse a caller whose key does not open this corpus, whether it exists or not.

    Raises:
        RagError: that is so.
    """
    if not may_use(corpus):
        raise RagError(
            "Your key does not open this corpus.", "Name one that it opens, or ask for another key.", "key_scope"
        )


def mark_of(id_: str, key: Key | None) -> str:
    """Return what is kept beside an id, so that the key that was given it is known again; empty without a key.

    It is another one for each id, so it does not tell which ids one key was given.
    """
    return "" if key is None else sha256(f"{id_} {key.sha256}".encode()).hexdigest()


def opens_id(key: Key | None, id_: str, mark: str, corpora: Iterable[str] = ()) -> bool:
    """Say whether a key opens what it names by an id; for others there is nothing of this id.

    An `admin` key for all corpora opens everything, any other key what it was given itself, and what was given while
    no key was asked for.

    Args:
        key: of the caller; None opens everything.
        id_: that it names.
        mark: kept beside the id, see `mark_of`.
        corpora: that the thing comes from.
    """
    if key is None or (key.allows(ADMIN) and key.corpora is None):
        return True
    if mark:
        return compare_digest(mark, mark_of(id_, key))
    return key.corpora is None or key.corpora.issuperset(corpora)
