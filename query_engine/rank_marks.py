"""Turn the rank marks a language model writes into citation numbers, while the text streams.

Flow: the model's visible text -> **here** -> the answer. A model cites the documents of its prompt by rank: `[2]`,
`[1, 3]`, `[DOC 1]`; readers get the numbers of `citing.py`. Marks without a document are dropped. Text is held back
only while it may still become a mark, with the white space before it.
"""

import re
from collections.abc import Callable

_LABELS = ("documents", "document", "docs", "doc", "ranks", "rank", "sources", "source", "passages", "passage", "and")
_FILLER = rf"\s|[,;&#=:._–-]|{'|'.join(_LABELS)}"
_MARK = re.compile(rf"\[(?:{_FILLER})*\d{{1,3}}(?!\d)(?:{_FILLER}|\d{{1,3}}(?!\d))*\]", re.IGNORECASE)
_MAX_MARK_CHARS = 48
_BEGUN = re.compile(r"\[[\w\s,;&#=:.–-]*\Z", re.ASCII)
_TAIL_CHARS = 800


class RankMarks:
    """Rewrites one answer.

    Args:
        cite: called with a mark's rank and the text before it; returns the citation number, or None to drop the mark.

    Attributes:
        text: what was let through so far, without marks.
        cited: whether any mark was kept.
    """

    def __init__(self, cite: Callable[[int, str], int | None]) -> None:
        self._cite = cite
        self._held = ""
        self._space = ""
        self._group: list[int] = []
        self.text = ""
        self.cited = False

    def feed(self, piece: str) -> str:
        """Take the next piece of text and return what can be shown."""
        buffer = self._held + piece
        shown, position = "", 0
        for match in _MARK.finditer(buffer):
            if len(match[0]) > _MAX_MARK_CHARS:
                continue
            shown += self._plain(buffer[position : match.start()]) + self._mark(match[0])
            position = match.end()
        rest = buffer[position:]
        self._held = _possible_mark(rest)
        return shown + self._plain(rest[: len(rest) - len(self._held)])

    def finish(self) -> str:
        """Return what was held back; the text is over."""
        rest, self._held = self._held, ""
        return self._plain(rest)

    def _plain(self, text: str) -> str:
        visible = text.rstrip()
        if not visible:
            self._space += text
            return ""
        shown = self._space + visible
        self._space = text[len(visible) :]
        self._group = []
        self.text += shown
        return shown

    def _mark(self, mark: str) -> str:
        statement = self.text[-_TAIL_CHARS:]
        numbers = []
        for rank in map(int, re.findall(r"\d+", mark)):
            number = self._cite(rank, statement)
            if number is not None and number not in self._group:
                self._group.append(number)
                numbers.append(f"[{number}]")
        if not numbers:
            # A paragraph break must survive the mark that stood before it.
            self._space = self._space if "\n" in self._space else ""
            return ""
        self.cited = True
        space, self._space = self._space, ""
        return space + "".join(numbers)


def _possible_mark(text: str) -> str:
    """The end of `text` that may be the beginning of a mark; empty if there is none."""
    begun = _BEGUN.search(text, max(0, len(text) - _MAX_MARK_CHARS))
    if begun is None:
        return ""
    *words, last = re.findall(r"[a-z]+", begun[0].lower()) or [""]
    unfinished = begun[0][-1].isalpha() or not last
    possible = any(label.startswith(last) for label in _LABELS) if unfinished else last in _LABELS
    return begun[0] if possible and all(word in _LABELS for word in words) else ""
