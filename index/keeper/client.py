"""How a worker of a service with several has a corpus open: the keeper holds it for all of them.

Flow: `api/workers/` makes one in each worker -> **here** -> the keeper's socket (`__main__.py`) -> `folder_stores.py`
opens the stores beside the other workers.
"""

from dataclasses import dataclass
from multiprocessing.connection import Client
from pathlib import Path

from errors import CorpusError, RagError
from index.layout.access import Lock
from index.layout.locations import Servers


@dataclass(frozen=True, slots=True)
class Member:
    """One of the workers of a service.

    Attributes:
        keeper: the keeper's socket.
        read_only: another worker writes.
    """

    keeper: Path
    read_only: bool = True

    def acquire(self, folder: Path, servers: Servers) -> Lock:  # noqa: ARG002  # the keeper has the same settings
        """See `Access.acquire`. The keeper holds a corpus to the end of the service, or to `let_go`."""
        return Lock(vectors_url=ask(self.keeper, folder.name))

    def let_go(self, folder: Path) -> None:
        """See `Access.let_go`. Workers that have it open find nothing there any more."""
        ask(self.keeper, folder.name, hold=False)


def ask(keeper: Path, corpus: str, *, hold: bool = True) -> str | None:
    """Have the keeper hold a corpus; return the address of its own Chroma server, if it needs one; blocks.

    Args:
        keeper: its socket.
        corpus: a name.
        hold: False: it lets go of the corpus.

    Raises:
        RagError: what keeps the corpus from being held.
        CorpusError: the keeper does not answer.
    """
    try:
        with Client(str(keeper), "AF_UNIX") as connection:
            connection.send((corpus, hold))
            answer = connection.recv()
    except (OSError, EOFError) as error:
        raise CorpusError(
            "The process that holds the service's corpora does not answer.", "Ask again when the service has restarted."
        ) from error
    if isinstance(answer, RagError):
        raise answer
    return None if answer is None else str(answer)
