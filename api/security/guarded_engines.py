"""The engines, as far as the caller's key opens their corpora and its groups see their documents.

Flow: a route or a question asks for a corpus -> **here** -> the service's engines. Every way to a corpus over HTTP
leads through here, so no route can forget to ask; jobs, which have no caller, were asked when they were submitted.
"""

from typing import Any, Protocol

from api.caller import groups_of_caller, may_use, require_corpus
from api.dependencies import Engine, Engines
from index.corpus import ALL, joined_name, member_names
from index.documents.rights import Groups
from query_engine.runtime.lease_pool import Lease


class WholeEngines(Engines, Protocol):
    """Engines that can leave out what some groups may not see."""

    def lease(
        self,
        name: str | None = None,
        *,
        create: bool = False,
        writer: str | None = None,
        groups: Groups | None = None,
    ) -> Lease[Engine]:
        """Return the engine of a corpus over what these groups may see; None: over all."""
        ...

    def lease_open(
        self, name: str | None = None, *, writer: str | None = None, groups: Groups | None = None
    ) -> Lease[Engine] | None:
        """Return the same if the corpus is open."""
        ...


class GuardedEngines:
    """Engines that refuse corpora which the caller's key does not open; raises RagError there.

    Args:
        engines: open corpora.
        default: the corpus that None means.

    Attributes:
        unguarded: the engines as they are.
    """

    def __init__(self, engines: WholeEngines, default: str) -> None:
        self.unguarded = engines
        self._default = default

    def lease(self, name: str | None = None, *, create: bool = False, writer: str | None = None) -> Lease[Engine]:
        """Return the engine of a corpus, None meaning the default one; blocks while it is opened, or made.

        All of them together (`*`) are those that the key opens.
        """
        return self.unguarded.lease(self._opened(name), create=create, writer=writer, groups=groups_of_caller())

    def lease_open(self, name: str | None = None, *, writer: str | None = None) -> Lease[Engine] | None:
        """Return the engine of a corpus if it is open."""
        return self.unguarded.lease_open(self._opened(name), writer=writer, groups=groups_of_caller())

    def names(self) -> list[str]:
        """Return the names of the corpora on disk that the caller may know of."""
        return [name for name in self.unguarded.names() if may_use(name)]

    def drop(self, name: str) -> None:
        """Delete a corpus with all that belongs to it; blocks until nobody asks it any more."""
        require_corpus(name)
        self.unguarded.drop(name)

    def rename(self, old: str, new: str) -> None:
        """Give a corpus another name; blocks until nobody asks it any more."""
        require_corpus(old)
        require_corpus(new)
        self.unguarded.rename(old, new)

    def _opened(self, name: str | None) -> str | None:
        if name == ALL and (own := self.names()):
            return joined_name(own)
        for member in member_names(name or self._default):
            require_corpus(member)
        return name

    def status(self) -> dict[str, Any]:
        """Return the last known state of all corpora and models, for the service itself; waits for nothing."""
        return self.unguarded.status()

    def look_at_disk(self) -> None:
        """Look for a corpus that holds a document, and ask silent servers; `status` tells of it; blocks."""
        self.unguarded.look_at_disk()
