"""The measurement of an embedding server's throughput: what is sent, and the table."""

from bench.speed.http_embedding import Measured, _documents, table
from index.documents.splitter import TreeSplitter
from settings import ChunkSettings

TEXTS = ["One sentence of wind. " * 60, "Another one of water. " * 40]


def test_passages_are_as_many_as_asked_for_and_no_title_is_there_twice() -> None:
    splitter = TreeSplitter(ChunkSettings(), lambda text: len(text.split()), 500)

    changes = list(_documents(TEXTS, splitter, 30))
    passages = [text for change in changes for text in splitter.leaf_texts(change.stored())]

    assert 30 <= len(passages) < 40
    assert len({change.document.title for change in changes}) == len(changes)


def test_the_table_shows_medians_and_their_share() -> None:
    measured = Measured("1 ms a text", 1000, bare_s=[1.0, 0.5, 2.0], ours_s=[1.25, 1.25, 1.25])

    assert table([measured]).splitlines()[2] == ("| 1 ms a text | 1,000 | 1,000 (500–2,000) | 800 (800–800) | 0.80 |")
