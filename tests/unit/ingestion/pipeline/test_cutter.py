"""Cutting in a child process: the same trees, limits, and an end when the run ends."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

from errors import UnreadableError
from index.documents.splitter import TreeSplitter
from index.documents.store import Document
from index.embedding.model import load_embedding_model
from ingestion.pipeline.cutter import Cutter
from ingestion.schema import RunStopped
from settings import ChunkSettings, IngestSettings

CHUNK = ChunkSettings()
MODEL = load_embedding_model("minilm")
PROSE = "Sentence number one says something about wind and water. " * 400


@contextmanager
def cutter(stop: threading.Event | None = None, **limits: float) -> Iterator[Cutter]:
    with Cutter(IngestSettings.model_validate(limits), CHUNK, MODEL, 254, stop=stop) as made:
        yield made


def test_trees_are_those_that_this_process_would_make() -> None:
    texts = [PROSE, "One sentence.", "", "a: 70.44\n" * 5000, PROSE * 30]
    documents = [Document(str(number), "", text) for number, text in enumerate(texts)]
    here = TreeSplitter(CHUNK, MODEL.count_tokens, 254)

    with cutter() as there:
        trees = there.trees(documents)

    assert [tree.to_bytes() for tree in trees if not isinstance(tree, UnreadableError)] == [
        here.split(document).to_bytes() for document in documents
    ]


def test_papers_are_cut_into_paragraphs_and_their_neighbours_are_not() -> None:
    here = TreeSplitter(CHUNK, MODEL.count_tokens, 254)
    other_document = Document("b", "", PROSE)
    paper_document = Document("a", "", PROSE, metadata={"paper_id": "1"})

    with cutter() as there:
        paper, other = there.trees([paper_document, other_document])

    assert not isinstance(paper, UnreadableError)
    assert not isinstance(other, UnreadableError)
    assert paper.to_bytes() == here.split(paper_document).to_bytes()
    assert other.to_bytes() == here.split(other_document).to_bytes()


@pytest.mark.fault("D12")
@pytest.mark.slow
def test_a_text_that_takes_too_long_costs_itself_only() -> None:
    with cutter(parse_timeout_s=0.5) as there:
        first, long, last = there.trees(
            [Document("", "", text) for text in ("One sentence.", "a b, c. " * 1_000_000, "Another one.")]
        )

    assert isinstance(long, UnreadableError)
    assert "Cutting the text took longer than 0.5 s" in long.fact
    assert "RAG_INGEST__PARSE_TIMEOUT_S" in (long.remedy or "")
    assert not isinstance(first, UnreadableError)
    assert not isinstance(last, UnreadableError)


@pytest.mark.fault("D12")
def test_a_text_that_ends_the_process_is_not_cut_again(monkeypatch: pytest.MonkeyPatch) -> None:
    with cutter() as there:
        whole = there._sandbox.items
        asked: list[list[str]] = []

        def items(request: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
            """Die at each text named so, as the child process does: what came before it is there."""
            asked.append(request["texts"])
            for number, text in enumerate(request["texts"]):
                if text == "Deadly.":
                    raise UnreadableError("Cutting the text took longer than 1 s.", "Split it.")
                one = {name: values[number : number + 1] for name, values in request.items()}
                yield from whole(one)

        monkeypatch.setattr(there._sandbox, "items", items)
        texts = ["One.", "Deadly.", "Two.", "Three.", "Deadly.", "Deadly."]
        trees = there.trees([Document(str(number), "", text) for number, text in enumerate(texts)])

    assert [isinstance(tree, UnreadableError) for tree in trees] == [text == "Deadly." for text in texts]
    assert asked == [texts, texts[2:], texts[5:]]


def test_a_stopped_run_ends_the_cutting() -> None:
    stop = threading.Event()
    timer = threading.Timer(0.5, stop.set)
    timer.start()

    with cutter(stop) as there, pytest.raises(RunStopped):
        there.trees([Document("", "", "a b, c. " * 2_000_000)])
    timer.join()
