"""Cuts documents in this process, for tests that count words instead of tokens."""

from collections.abc import Sequence
from typing import Self

from errors import UnreadableError
from index.documents.splitter import TreeSplitter
from index.documents.store import Document
from ingestion.pipeline.cutter import Cut


class DirectCutter:
    """What `Cutter` does, without a child process."""

    def __init__(self, splitter: TreeSplitter) -> None:
        self._splitter = splitter

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        pass

    def start(self) -> None:
        """Do nothing."""

    def trees(self, documents: Sequence[Document]) -> list[Cut]:
        """Return the tree of each document, or why it has none."""
        return [self._tree(document) for document in documents]

    def _tree(self, document: Document) -> Cut:
        try:
            return self._splitter.split(document)
        except UnreadableError as error:
            return error
