"""Cuts texts in this process, for tests that count words instead of tokens."""

from collections.abc import Sequence
from typing import Self

from errors import UnreadableError
from index.documents.splitter import TreeSplitter
from ingestion.pipeline.cutter import Cut


class DirectCutter:
    """What `Cutter` does, without a child process."""

    def __init__(self, splitter: TreeSplitter) -> None:
        self._splitter = splitter

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        pass

    def trees(self, texts: Sequence[str]) -> list[Cut]:
        """Return the tree of each text, or why it has none."""
        return [self._tree(text) for text in texts]

    def _tree(self, text: str) -> Cut:
        try:
            return self._splitter.split(text)
        except UnreadableError as error:
            return error
