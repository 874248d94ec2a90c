"""How a process has a corpus open: as its writer, as a reader, or as one of the processes of a service.

Flow: a program's `build.py` chooses one -> **here** -> `folder_stores.py` asks it for the hold on a folder, and closes
the hold last. The third kind, of a service with several workers, is `index/keeper/client.py`.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from errors import SettingsError
from index.layout.locations import Servers
from index.layout.lock import CorpusLock, ReadersLock
from index.layout.registry import WriterLock


class Hold(Protocol):
    """Keeps others from a corpus as far as they must be kept."""

    def files(self) -> tuple[int, ...]:
        """Descriptors of the locks: a child that inherits them holds the corpus as long as it lives."""
        ...

    def release(self) -> None:
        """Let others in; a second call does nothing."""
        ...


@dataclass(frozen=True, slots=True)
class Held:
    """A corpus that may be opened.

    Attributes:
        hold: released when the stores are closed.
        vectors_url: of the Chroma server over the corpus's own folder, if one runs for this service.
    """

    hold: Hold
    vectors_url: str | None = None


class Access(Protocol):
    """How a process has corpora open."""

    @property
    def read_only(self) -> bool:
        """Whether it only reads, beside a process that writes."""
        ...

    def take(self, folder: Path, servers: Servers) -> Held:
        """Take hold of the corpus in a folder that exists; blocks.

        Raises:
            CorpusLockedError: another process holds it.
            StorageError: the folder cannot be written.
            SettingsError: it cannot be had in this way.
        """
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

    def take(self, folder: Path, servers: Servers) -> Held:
        """See `Access.take`."""
        lock = CorpusLock(folder, self.url, beside_readers=bool(servers.chroma_url) and not self.alone)
        if not servers.database_url:
            return Held(lock)
        try:
            return Held(_Both(lock, WriterLock(servers.database_url, folder.name)))
        except BaseException:
            lock.release()
            raise


@dataclass(frozen=True, slots=True)
class _Both:
    """The hold on this machine, and on all others."""

    here: CorpusLock
    elsewhere: WriterLock

    def files(self) -> tuple[int, ...]:
        return self.here.files()

    def release(self) -> None:
        self.elsewhere.release()
        self.here.release()


@dataclass(frozen=True, slots=True)
class Reading:
    """A reader beside the writer and other readers; vectors must be on a server."""

    read_only = True

    def take(self, folder: Path, servers: Servers) -> Held:
        """See `Access.take`."""
        if not servers.chroma_url:
            raise SettingsError(
                "RAG_SERVE__ROLE=reader needs the vectors on a server: an embedded Chroma serves one process.",
                "Set RAG_INDEX__CHROMA_URL, here and where the corpus is written, and ingest into a new corpus.",
            )
        return Held(ReadersLock(folder))
