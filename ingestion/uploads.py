"""Files that clients have sent: one folder a corpus, in which they stay, so that they can be read again.

Flow: `POST /documents` fills a staging folder -> **here**, in its job: moved into the corpus's folder -> a run reads
them, and no other file of the folder. A document's deletion deletes its file.
"""

import os
import shutil
import tempfile
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from errors import UnreadableError, UploadError
from index.corpus import Corpus
from index.disk import private_folder
from index.documents.normalization import normalize
from index.documents.row_filter import keys_of, meeting
from ingestion.reading.files import BUFFER_BYTES
from ingestion.reading.format_table import FORMATS, format_of
from ingestion.reading.kind import check_size
from settings import Settings

ROOT_NAME = "uploads"
"""Prefix of the doc_ids, which keeps them apart from those of every folder that is ingested."""
# Hidden, so that it is not a corpus of the index folder.
FOLDER = ".uploads"
# File systems take 255.
MAX_NAME_BYTES = 240
# Age at which an incoming upload counts as abandoned; none waits in the queue this long.
STALE_S = 7 * 24 * 3600
_ARRIVING = ".arriving-"

Result = dict[str, Any]


class Uploads:
    """The uploaded files of all corpora.

    Args:
        settings: where they are.
    """

    def __init__(self, settings: Settings) -> None:
        self._root = settings.index.dir / FOLDER

    def folder(self, corpus: str) -> Path:
        """Return the folder of a corpus, absolute and without links; it need not exist."""
        return self._root.resolve() / corpus

    @contextmanager
    def staging(self) -> Iterator[Path]:
        """Make a folder for files on their way, which vanishes with what is left in it.

        Those that a killed process left behind go as well, once they are old.
        """
        private_folder(self._root)
        for left in self._root.glob(f"{_ARRIVING}*"):
            with suppress(FileNotFoundError):
                if time.time() - left.stat().st_mtime > STALE_S:
                    shutil.rmtree(left, ignore_errors=True)
        with tempfile.TemporaryDirectory(prefix=_ARRIVING, dir=self._root) as folder:
            yield Path(folder)

    def take(self, staged: Path, corpus: Corpus, run: Callable[[Path, tuple[str, ...]], Result]) -> Result:
        """Move staged files into the corpus's folder, over those of the same names, and run their ingestion.

        What the run did not bring into the corpus is put back as it was: all files, if it failed or was stopped, and
        those that it could not read. Documents of new files go as well; only a file of many records that replaced
        another one stays, with what was committed of it.

        Args:
            staged: made by `staging`; nothing else may write into it by now.
            corpus: nobody else writes it meanwhile.
            run: given the corpus's folder and the names in it; its result says whether it was `stopped`.
        """
        folder, replaced = self.folder(corpus.name), staged / ".replaced"
        names = tuple(sorted(path.name for path in staged.iterdir()))
        before = {name: corpus.documents.versions(_source(name)) for name in names}
        private_folder(folder)
        replaced.mkdir()
        complete = False
        try:
            for name in names:
                if (folder / name).exists():
                    os.replace(folder / name, replaced / name)
                os.replace(staged / name, folder / name)
            result = run(folder, names)
            complete = not result["stopped"]
            return result
        finally:
            unread = {note.source for note in corpus.ledger.failed()}
            for name in names:
                if not complete or _source(name) in unread:
                    self._put_back(corpus, name, replaced / name, before[name], complete=complete)

    def delete(self, corpus: Corpus, doc_ids: Iterable[str]) -> int:
        """Delete what `find` found: documents with their uploaded files, and files; return how many of them there were.

        A file of many records goes with the first of them: it cannot be cut, and read again it would bring all back.
        """
        doc_ids = list(dict.fromkeys(doc_ids))
        sources = corpus.catalogue.sources(doc_ids)
        orphans = self._orphans(corpus, [doc_id for doc_id in doc_ids if doc_id not in sources])
        files = {*sources.values(), *orphans}
        found = {source: path for source in files if (path := self._file(corpus, source))}
        for path in found.values():
            path.unlink()
        # Without their notes no later run counts them as vanished.
        corpus.ledger.forget(found)
        return corpus.delete(sources) + len(orphans)

    def find(self, corpus: Corpus, filters: object) -> list[str]:
        """Return the ids of the documents that meet a filter, and after them those of files that never became any.

        A process that was killed in the middle of an upload leaves such files. They have an id and a source only, so
        no filter of other fields means them.

        Raises:
            FilterError: the filter has no meaning.
        """
        found, folder = corpus.catalogue.find(filters), self.folder(corpus.name)
        if not folder.is_dir() or not {"doc_id", "source"}.issuperset(keys_of(filters)):
            return found
        lost = self._orphans(corpus, sorted(_source(path.name) for path in folder.iterdir()))
        met = meeting([{"doc_id": source, "source": source} for source in lost], filters)
        return found + [source for source, meets in zip(lost, met, strict=True) if meets]

    def holds(self, corpus: Corpus, source: str) -> bool:
        """Say whether a document's file was uploaded."""
        return self._file(corpus, source) is not None

    def drop(self, corpus: str) -> None:
        """Delete all files of a corpus."""
        shutil.rmtree(self.folder(corpus), ignore_errors=True)

    def rename(self, old: str, new: str) -> None:
        """Give the files of a corpus to its new name, beside those that a failed first upload may have left there."""
        if self.folder(old).is_dir():
            private_folder(self.folder(new))
            for path in sorted(self.folder(old).iterdir()):
                os.replace(path, self.folder(new) / path.name)
            self.folder(old).rmdir()

    def _put_back(
        self, corpus: Corpus, name: str, replaced: Path, before: Mapping[str, str], *, complete: bool
    ) -> None:
        """Undo one file of an upload, unless some of it is in the corpus for good."""
        source, path = _source(name), self.folder(corpus.name) / name
        after = corpus.documents.versions(source)
        if after != before and (before or complete):
            return
        if replaced.exists():
            os.replace(replaced, path)
        else:
            path.unlink(missing_ok=True)
            corpus.hide(after)
            corpus.ledger.forget([source])

    def _orphans(self, corpus: Corpus, sources: Iterable[str]) -> list[str]:
        return [source for source in sources if self._file(corpus, source) and not corpus.documents.versions(source)]

    def _file(self, corpus: Corpus, source: str) -> Path | None:
        """Return the uploaded file that is called so, if there is one."""
        root_name, _, name = source.partition("/")
        path = self.folder(corpus.name) / name
        return path if root_name == ROOT_NAME and "/" not in name and path.is_file() else None


def _source(name: str) -> str:
    return f"{ROOT_NAME}/{name}"


def check_name(name: str, *, images: bool = False) -> str:
    """Return the name under which an uploaded file is kept.

    Args:
        name: as the client sends it.
        images: pictures are read too.

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
    if format_of(name, images=images) is None:
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
