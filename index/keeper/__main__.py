"""Hold the corpora of a service with several workers, and run a Chroma server over vectors that are in a folder.

Flow: `api/workers/` starts `python -m index.keeper SOCKET [--url URL] [--reads]` -> **here** -> workers ask for a
corpus through the socket (`client.py`) and get the address of its vectors. So a corpus stays held while a worker is
replaced, and its vectors stay open. One thread; it ends when its standard input does, which all processes of the
service hold open: after the last of them.
"""

import missing_packages  # noqa: F401, I001  # first, to tell which package the imports below lack

import argparse
import selectors
import signal
import socket
import sys
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

from errors import RagError, UnknownCorpusError
from index.build import servers_of
from index.corpus import corpus_names, exists
from index.documents.tables import closing_engine
from index.folder_stores import FolderStores
from index.health.seal import VectorsSeal
from index.keeper.chroma_process import ChromaProcess
from index.layout.access import Access, Lock, Reading, Writing
from index.layout.manifest import Manifest
from index.layout.swap import finish_swap
from settings import Settings, load_settings

# How soon a server that died is started again.
LOOK_S = 0.5
BACKLOG = 64


class _Kept(NamedTuple):
    lock: Lock
    server: ChromaProcess | None = None


class Keeper:
    """Holds corpora by name, until `close`.

    Args:
        settings: where corpora are.
        access: how they are held.
    """

    def __init__(self, settings: Settings, access: Access) -> None:
        self._settings, self._access = settings, access
        self._servers = servers_of(settings)
        self._kept: dict[str, _Kept] = {}

    def hold(self, name: str) -> str | None:
        """Hold a corpus; return the address of its own Chroma server, None if its vectors are where the settings say.

        Raises:
            UnknownCorpusError: there is no such folder.
            CorpusError: what keeps the corpus from being held.
        """
        if name not in self._kept:
            self._kept[name] = self._taken(self._settings.index.dir / name)
        server = self._kept[name].server
        return server.url if server else None

    def look_after(self) -> None:
        """Start servers again that have ended."""
        for name, kept in self._kept.items():
            if kept.server is not None and kept.server.restart_if_ended():
                sys.stderr.write(f"The Chroma server over corpus {name!r} ended; it was started again.\n")

    def let_go(self, name: str) -> None:
        """End the server of a corpus, and hold it no longer."""
        kept = self._kept.pop(name, None)
        if kept is None:
            return
        if kept.server is not None:
            kept.server.stop()
            with suppress(OSError):  # they are examined at the next opening
                VectorsSeal(kept.server.vectors.parent, kept.server.vectors).write()
        kept.lock.release()

    def close(self) -> None:
        """End the servers and let go of everything."""
        for name in list(self._kept):
            self.let_go(name)

    def _taken(self, folder: Path) -> _Kept:
        if not self._access.read_only:
            finish_swap(folder)
        if not folder.is_dir():
            raise UnknownCorpusError.of(folder.name, corpus_names(folder.parent))
        lock = self._access.acquire(folder, self._servers)
        try:
            if exists(folder) and not self._access.read_only:
                self._prepare(folder, lock)
            if self._servers.chroma_url:
                return _Kept(lock)
            return _Kept(lock, ChromaProcess(folder / "vectors", lock.lock_files))
        except BaseException:
            lock.release()
            raise

    def _prepare(self, folder: Path, lock: Lock) -> None:
        """Examine the vectors, and have their graph written, for the readers."""
        manifest = Manifest.read(folder)
        self._servers.check(manifest, folder.name)
        stores = FolderStores(folder, lock, manifest, self._servers)
        with closing_engine(stores.database):
            if (folder / "vectors").exists():
                stores.write_graph()  # so that searches find what they would find in one process


def main() -> None:
    """Serve the socket until standard input ends."""
    parser = argparse.ArgumentParser(prog="python -m index.keeper")
    parser.add_argument("socket", type=Path)
    parser.add_argument("--url")
    parser.add_argument("--reads", action="store_true")
    arguments = parser.parse_args()
    for number in (signal.SIGINT, signal.SIGTERM):  # the service's own processes end first
        signal.signal(number, signal.SIG_IGN)
    keeper = Keeper(load_settings(), Reading() if arguments.reads else Writing(arguments.url))
    try:
        with socket.socket(socket.AF_UNIX) as listener, selectors.DefaultSelector() as ready:
            listener.bind(str(arguments.socket))
            listener.listen(BACKLOG)
            ready.register(sys.stdin, selectors.EVENT_READ)
            ready.register(listener, selectors.EVENT_READ)
            sys.stdout.write("ready\n")
            sys.stdout.flush()
            while True:
                waiting = [key.fileobj for key, _ in ready.select(LOOK_S)]
                if sys.stdin in waiting:
                    return
                if waiting:
                    with Connection(listener.accept()[0].detach()) as connection:
                        _answer(connection, keeper)
                keeper.look_after()
    finally:
        keeper.close()


def _answer(connection: Connection, keeper: Keeper) -> None:
    try:
        name, hold = connection.recv()
        try:
            if not hold:
                keeper.let_go(name)
            connection.send(keeper.hold(name) if hold else None)
        except RagError as error:
            connection.send(error)
    except (OSError, EOFError):
        return  # the worker has gone


if __name__ == "__main__":
    main()
