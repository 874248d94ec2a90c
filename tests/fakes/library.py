"""A folder of files, a corpus with real stores, and an ingestion between the two that needs no model."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from errors import UnreadableError
from index.documents.blobs import LeftOut
from index.documents.splitter import TreeSplitter
from index.documents.store import Document
from index.folder_stores import open_folder
from ingestion.pipeline.chunk_embed import LocalPreparation
from ingestion.pipeline.diff import Change, Comparison, FileDone
from ingestion.pipeline.pipeline import Pipeline, stages
from ingestion.reading.containers import Begun
from ingestion.reading.files import SourceFile, list_files
from ingestion.reading.formats import read_file
from ingestion.reading.reader import Reader
from ingestion.schema import RunOptions, Summary
from settings import ChunkSettings, IngestSettings
from tests.fakes.corpora import MANIFEST
from tests.fakes.cutting import DirectCutter
from tests.fakes.embedding import WordHashEmbedding


class OwnReader(Reader):
    """Parses in this process: quicker to start than a process for parsing."""

    def read(self, file: SourceFile) -> Iterator[Document | LeftOut | UnreadableError]:
        try:
            for item in read_file(file.path, file.doc_id, self._options):
                assert not isinstance(item, Begun)
                yield item
        except UnreadableError as error:
            yield error


class Library:
    """A folder of files, a corpus, and the means to bring one into the other; close it.

    Attributes:
        reader: reads the files; may be replaced between two ingestions.
    """

    def __init__(self, folder: Path, reader: Reader | None = None, chunk: ChunkSettings | None = None) -> None:
        self.files = folder / "files"
        self.files.mkdir()
        self.folder = folder / "books"
        self.corpus = open_folder(self.folder, MANIFEST, create=True)
        self.embedder = WordHashEmbedding()
        self.reader = reader or OwnReader(IngestSettings())
        self._chunk = chunk or ChunkSettings()

    def ingest(
        self, root_name: str = "", files: Path | None = None, only: tuple[str, ...] | None = None, **options: Any
    ) -> Summary:
        """Ingest the folder, or another one, and look whether the stores agree."""
        files = files or self.files
        chosen = RunOptions(root_name=root_name, files=only, **options)
        self.embedder.texts_embedded = 0
        entries = list_files(files, only=chosen.files)
        summary = self.pipeline().run(entries, str(files), chosen, whole=chosen.files is None)
        self.check_stores_agree()
        return summary

    def ingest_step_by_step(self) -> list[str]:
        """Ingest the folder with each step committed before the next one is compared; return why records failed."""
        comparison = Comparison(self.corpus, self.reader, str(self.files), RunOptions())
        failures: list[str] = []
        for step in comparison.steps(list_files(self.files)):
            list(stages(iter([step]), self.corpus, self._preparation(), threading.Event()))
            if isinstance(step, Change):
                del comparison.under_way[step.document.doc_id]
            elif isinstance(step, FileDone):
                failures += step.failures
        self.check_stores_agree()
        return failures

    def pipeline(self) -> Pipeline:
        """Return a run that has not begun."""
        return Pipeline(self.corpus, self.reader, self._preparation())

    def _preparation(self) -> LocalPreparation:
        splitter = TreeSplitter(self._chunk, lambda text: len(text.split()), 254)
        return LocalPreparation(self.corpus, self, splitter, DirectCutter(splitter))

    def check_stores_agree(self) -> None:
        leaves = self.corpus.documents.leaf_count()
        assert leaves == self.corpus.vectors.count() == self.corpus.lexical_index.count()
        assert self.corpus.documents.pending() == []

    def doc_ids(self) -> list[str]:
        return list(self.corpus.documents.versions())

    def close(self) -> None:
        self.corpus.close()
