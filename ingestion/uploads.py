"""Files that clients have sent: one folder a corpus, in which they stay, so that they can be read again.

Flow: `POST /documents` fills a staging folder -> **here**, moved into the corpus's folder -> a run reads that folder. A
document's deletion deletes its file here, or the next run would bring it back.
"""

import os
import shutil
import tempfile
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from errors import UnreadableError, UploadError
from index.corpus import Corpus
from index.documents.normalization import normalize
from ingestion.reading.files import BUFFER_BYTES, FORMATS, format_of
from ingestion.reading.kind import check_size
from settings import Settings

ROOT_NAME = "uploads"
"""Prefix of the doc_ids, which keeps them apart from those of every folder that is ingested."""
# Hidden, so that it is no corpus of the index folder.
DEFAULT_FOLDER = ".uploads"
# File systems take 255.
MAX_NAME_BYTES = 240


class Uploads:
    """The uploaded files of all corpora.

    Args:
        settings: where they are.
    """

    def __init__(self, settings: Settings) -> None:
        self._root = settings.ingest.upload_dir or settings.index.dir / DEFAULT_FOLDER

    def folder(self, corpus: str) -> Path:
        """Return the folder of a corpus, absolute and without links; it need not exist."""
        return self._root.resolve() / corpus

    @contextmanager
    def staging(self) -> Iterator[Path]:
        """Make a folder for files on their way, which vanishes with what is left in it."""
        self._root.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".arriving-", dir=self._root) as folder:
            yield Path(folder)

    @contextmanager
    def kept(self, staged: Path, corpus: str) -> Iterator[Path]:
        """Move staged files into the corpus's folder, over those of the same names; undone if the body raises.

        Args:
            staged: made by `staging`; nothing else may write into it by now.
            corpus: its name.
        """
        folder, replaced = self.folder(corpus), staged / ".replaced"
        names = sorted(path.name for path in staged.iterdir())
        folder.mkdir(parents=True, exist_ok=True)
        replaced.mkdir()
        with ExitStack() as undo:
            for name in names:
                if (folder / name).exists():
                    os.replace(folder / name, replaced / name)
                    undo.callback(os.replace, replaced / name, folder / name)
                else:
                    undo.callback((folder / name).unlink, missing_ok=True)
                os.replace(staged / name, folder / name)
            yield folder
            undo.pop_all()

    def discard(self, corpus: Corpus, doc_ids: Iterable[str]) -> None:
        """Delete the uploaded files of these documents, which are about to be deleted.

        A file of many records goes with the first of them: it cannot be cut, and read again it would bring all back.
        """
        sources = set(corpus.catalogue.sources(doc_ids).values())
        self._delete(corpus, sources)

    def discard_unreadable(self, corpus: Corpus) -> None:
        """Delete the uploaded files of which nothing could be read: nobody could name them to delete them."""
        failed = (note.source for note in corpus.ledger.failed())
        self._delete(corpus, [source for source in failed if not corpus.documents.versions(source)])

    def drop(self, corpus: str) -> None:
        """Delete all files of a corpus."""
        shutil.rmtree(self.folder(corpus), ignore_errors=True)

    def rename(self, old: str, new: str) -> None:
        """Give the files of a corpus to its new name, beside those that a failed first upload may have left there."""
        if self.folder(old).is_dir():
            self.folder(new).mkdir(exist_ok=True)
            for path in sorted(self.folder(old).iterdir()):
                os.replace(path, self.folder(new) / path.name)
            self.folder(old).rmdir()

    def _delete(self, corpus: Corpus, sources: Iterable[str]) -> None:
        gone = []
        for source in sources:
            root_name, _, name = source.partition("/")
            path = self.folder(corpus.name) / name
            if root_name == ROOT_NAME and "/" not in name and path.is_file():
                path.unlink()
                gone.append(source)
        # Without their notes no later run counts them as vanished.
        corpus.ledger.forget(gone)


def check_name(name: str) -> str:
    """Return the name under which an uploaded file is kept.

    Args:
        name: as the client sends it.

    Raises:
        UploadError: it is none, a path or a hidden file, is too long, has control characters, or names no known format.
    """
    name = normalize(name.strip())
    if not name or name.startswith(".") or "/" in name or "\\" in name:
        raise UploadError(
            "The name of an uploaded file is empty, hidden or a path.", "Send the plain name of the file."
        )
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in name):
        raise UploadError("The name of an uploaded file has control characters.", "Give the file another name.")
    if len(name.encode()) > MAX_NAME_BYTES:
        raise UploadError(f"The name of an uploaded file has more than {MAX_NAME_BYTES} bytes.", "Shorten it.")
    if format_of(name) is None:
        raise UploadError(f"The format of {name!r} is not known.", f"These are: {', '.join(FORMATS)}.")
    return name


def check_staged(path: Path, max_bytes: int) -> None:
    """Refuse a file that no reader would take for its size.

    Args:
        path: of the whole file.
        max_bytes: of a file that is read as a whole.

    Raises:
        UploadError: it is empty or too large.
    """
    size = path.stat().st_size
    if not size:
        raise UploadError(f"The file {path.name!r} is empty.", "Leave it out.")
    with path.open("rb") as file:
        try:
            check_size(path.name, file.read(BUFFER_BYTES), size, max_bytes)
        except UnreadableError as error:
            limit = f"{max_bytes // 1_000_000:,} MB"
            remedy = "Split it, or raise RAG_INGEST__MAX_FILE_MB."
            raise UploadError(f"The file {path.name!r} is larger than {limit}.", remedy) from error
