"""Write an answer by quoting the document: the window that answers best, as it stands there.

Passages that passed the gate come in; `reader/reading.py` has read them and chosen the window. No language model:
nothing it says can be made up, and it needs neither download nor GPU.
"""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace

from query_engine.reader.reading import LeafReader
from query_engine.reader.window import ReadWindow, Window
from query_engine.schema.passage import Passage
from query_engine.synthesis.quoting import Quote, QuotingSynthesizer


class ExtractiveSynthesizer(QuotingSynthesizer):
    """Quotes the documents.

    Args:
        reader: reads the passages.
    """

    def __init__(self, reader: LeafReader) -> None:
        self._reader = reader

    def quotes(self, question: str, passages: Sequence[Passage], stop: threading.Event) -> Iterator[Quote]:
        """Yield the window that answers; nothing when the passages hold no sentence."""
        windows = self._reader.read(question, passages).windows
        for one in [*windows[:1], *_namesakes(windows)]:
            if stop.is_set():
                return
            window = one.window.below_its_heading()
            named = self._reader.naming(question)
            marks = one.marks or window.named_row(named)
            headings = window.best.leaf.layout.headings(window.best.place)
            yield Quote(_holding(window), window.start, window.end, window.text, window.shown(named), marks, headings)


def _namesakes(windows: Sequence[ReadWindow]) -> Sequence[ReadWindow]:
    """Return the best window that answers as well as the first and says something else, in another document.

    It is from another edition of the first one's document, else about something of the same name.
    """
    first = windows[0] if windows else None
    if first is None:
        return []
    own = first.window.best
    others = [
        one
        for one in windows[1:]
        if one.passage.document != first.passage.document
        and " ".join(own.text.split()) not in " ".join(one.window.text.split())
    ]
    editions = [one for one in others if one.updates(first)]
    named = [
        one for one in others if first.score >= 0 and one.window.best.covered >= own.covered and one.answers_like(first)
    ]
    return [*editions, *named][:1]


def _holding(window: Window) -> Passage:
    """Return the passage that was found, widened if the window reaches beyond it."""
    passage = window.best.leaf.passage
    first, last = min(window.start, passage.start), max(window.end, passage.end)
    if (first, last) == (passage.start, passage.end):
        return passage
    return replace(passage, start=first, end=last, text=window.best.leaf.layout.text[first:last])
