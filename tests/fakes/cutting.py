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

    def trees(self, texts: Sequence[str], papers: Sequence[bool] = ()) -> list[Cut]:
        """Return the tree of each text, or why it has none."""
        return [self._tree(text, paper) for text, paper in zip(texts, papers or [False] * len(texts), strict=True)]

    def _tree(self, text: str, paper: bool) -> Cut:
        try:
            return self._splitter.split(text, paper=paper)
        except UnreadableError as error:
            return error
