"""Find what a request wants ingested, and refuse paths outside the folders that the operator opened for its key.

Flow: `POST /ingest` -> **here** -> a job reads the path. The same check runs again when the job begins: it may have
waited, and a folder may have become a link meanwhile.

What lies outside is refused before anybody looks whether it exists, so that the answers map no foreign folders.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from api.caller import Key
from errors import IngestRefusedError, UnknownPathError
from ingestion.uploads import Uploads
from settings import Settings

SAMPLE = "treeline:sample"
"""The path that stands for the project's sample corpus, which every key with the scope `ingest` may bring in."""
SAMPLE_FOLDER = Path(__file__).parents[2] / "data" / "corpus"


@dataclass(frozen=True, slots=True)
class IngestPaths:
    """What a key may have ingested into a corpus: everybody's folders, or one if the key is limited.

    Attributes:
        key: of the caller, kept because a job has none; None opens everything.
        corpus: that is written.
        settings: have RAG_INGEST__ROOT, whose folder of the corpus's name is the one for a key that is limited to
            corpora, unless the key names another one.
        roots: everybody's folders.
    """

    key: Key | None
    corpus: str
    settings: Settings
    roots: Sequence[Path]

    def locate(self, given: str) -> Path:
        """Return the real path of `given`; see the function of this name.

        Raises:
            IngestRefusedError: the path leads out of the folders. A limited key gets the same for what does not exist,
                and where its folder is absent.
            UnknownPathError: there is nothing at this path.
        """
        if given == SAMPLE and SAMPLE_FOLDER.is_dir():
            return SAMPLE_FOLDER
        if not self._limited:
            return locate(self.roots, given)
        try:
            return locate(self._folder(), given, beside=self.roots)
        except (IngestRefusedError, UnknownPathError) as error:
            raise IngestRefusedError(
                "There is nothing at this path that your key may have ingested.",
                "Name a file or folder by its path below the folder of your key: the one of the corpus's name below "
                "RAG_INGEST__ROOT, or what `treeline keys add --root` named; or upload it by POST /documents.",
            ) from error

    def retried(self) -> Sequence[Path] | None:
        """Return the folders whose files may be read again, beside the uploaded ones; None for all."""
        if not self._limited:
            return None
        return (*self._folder(), Uploads(self.settings).folder(self.corpus))

    @property
    def _limited(self) -> bool:
        return self.key is not None and (self.key.corpora is not None or self.key.root is not None)

    def _folder(self) -> tuple[Path, ...]:
        """Return the folder of a limited key, if it is there."""
        root = self.settings.ingest.root
        folder = self.key.root if self.key is not None else None
        if folder is None and root is not None:
            folder = root.resolve() / self.corpus
            if os.path.islink(folder):  # never raises; it may lead to another corpus's folder
                return ()
        return (folder,) if folder is not None and os.path.isdir(folder) else ()  # never raises


def locate(roots: Sequence[Path], given: str, beside: Sequence[Path] = ()) -> Path:
    """Return the real path of `given`, links resolved.

    Args:
        roots: the folders that may be read; none when ingestion over HTTP is off.
        given: absolute, or relative to a root, a folder of `beside` or the working directory: the first of these that
            exists counts. Taken as it stands: `%2e` is not a dot.
        beside: folders that relative paths may begin at, and that are not read themselves.

    Raises:
        IngestRefusedError: ingestion is off, or the path leads out of the roots.
        UnknownPathError: there is nothing at this path.
    """
    if not roots:
        raise IngestRefusedError(
            "This service ingests nothing over HTTP.",
            "Set RAG_INGEST__ROOT to the folder that clients may name paths in, and start the service again.",
        )
    try:
        homes = [root.resolve() for root in roots]
        named = [(folder / given).resolve() for folder in (*homes, *beside, Path.cwd())]
        inside = [path for path in named if any(map(path.is_relative_to, homes))]
        if not inside:
            raise IngestRefusedError(
                "The path leads out of the folders that may be ingested.",
                "Name something below RAG_INGEST__ROOT, or the folder the service was started with by --ingest, and "
                "nothing that is a link to elsewhere.",
            )
        there = [path for path in inside if path.exists()]
    except (OSError, ValueError, RuntimeError):
        there = []  # too long, not encodable, a loop of links: no file can have such a name
    if not there:
        raise UnknownPathError(
            "There is nothing at this path.",
            "Name a file or folder by its path below RAG_INGEST__ROOT or the folder of --ingest.",
        )
    return there[0]
