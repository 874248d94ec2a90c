"""How a process has a corpus open: as its writer, as a reader, or as one of the processes of a service.

Flow: a program's `build.py` chooses one -> **here** -> `folder_stores.py` asks it for the hold on a folder, and lets
go of it last. The third kind, of a service with several workers, is `index/keeper/client.py`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from errors import SettingsError
from index.layout.locations import Servers
from index.layout.lock import CorpusLock, ReadersLock
from index.layout.registry import WriterLock


def _nothing() -> None:
    """Nothing is held by this process."""


@dataclass(frozen=True, slots=True)
class Lock:
    """A corpus that may be opened.

    Attributes:
        release: lets others in, when the stores are closed; a second call does nothing.
        lock_files: descriptors of the locks: a child that inherits them holds the corpus as long as it lives.
        vectors_url: of the Chroma server over the corpus's own folder, if one runs for this service.
    """

    release: Callable[[], None] = _nothing
    lock_files: tuple[int, ...] = ()
    vectors_url: str | None = None


class Access(Protocol):
    """How a process has corpora open."""

    @property
    def read_only(self) -> bool:
        """Whether it only reads, beside a process that writes."""
        ...

    def acquire(self, folder: Path, servers: Servers) -> Lock:
        """Take hold of the corpus in a folder that exists; blocks.

        Raises:
            CorpusLockedError: another process holds it.
            StorageError: the folder cannot be written.
            SettingsError: it cannot be had in this way.
        """
        ...

    def let_go(self, folder: Path) -> None:
        """Have others of the service let go of a corpus, which this process has closed, so that it can be deleted."""
        ...


@dataclass(frozen=True, slots=True)
class Writing:
    """The one writer. It lets readers in if its vectors are on a server.

    Attributes:
        url: base address of this process when it is a service.
        alone: keep readers out in any case.
    """

    url: str | None = None
    alone: bool = False
    read_only = False

    def acquire(self, folder: Path, servers: Servers) -> Lock:
        """See `Access.acquire`."""
        lock = CorpusLock(folder, self.url, beside_readers=bool(servers.chroma_url) and not self.alone)
        if not servers.database_url:
            return Lock(lock.release, lock.files())
        try:
            elsewhere = WriterLock(servers.database_url, folder.name)
        except BaseException:
            lock.release()
            raise

        def release() -> None:
            elsewhere.release()
            lock.release()

        return Lock(release, lock.files())

    def let_go(self, folder: Path) -> None:
        """See `Access.let_go`: nobody else holds it."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A reader beside the writer and other readers; vectors must be on a server."""

    read_only = True

    def acquire(self, folder: Path, servers: Servers) -> Lock:
        """See `Access.acquire`."""
        if not servers.chroma_url:
            raise SettingsError(
                "RAG_SERVE__ROLE=reader needs the vectors on a server: an embedded Chroma serves one process.",
                "Set RAG_INDEX__CHROMA_URL, here and where the corpus is written, and ingest into a new corpus.",
            )
        return Lock(ReadersLock(folder).release)

    def let_go(self, folder: Path) -> None:
        """See `Access.let_go`: nobody else holds it."""
