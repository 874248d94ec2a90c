"""Questions that are asked while an ingestion replaces every document: whole documents of one generation each."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from llama_index.core.schema import NodeWithScore, QueryBundle

import ingestion.pipeline.chunk_embed
from query_engine.retrieval.hybrid import LeafRetriever
from query_engine.retrieval.merging.retriever import MergingRetriever
from query_engine.schema.hit import LeafHit
from query_engine.schema.query import Query
from settings import ChunkSettings, RetrievalSettings
from tests.fakes.library import Library

ASKING = 8
GENERATIONS = 4
DOCUMENTS = 12
TOPICS = ("river", "engine", "copper", "harbour")


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Library]:
    monkeypatch.setattr(ingestion.pipeline.chunk_embed, "BATCH_LEAVES", 12)
    library = Library(tmp_path, chunk=ChunkSettings(root_tokens=240, middle_tokens=120, leaf_tokens=60))
    yield library
    library.close()


def write(library: Library, generation: int) -> None:
    for number in range(DOCUMENTS):
        sentences = (
            f"The {topic} of generation{generation} is near the {topic} of place{number}." for topic in TOPICS * 5
        )
        (library.files / f"{number:02}.txt").write_text(" ".join(sentences))


def mixtures(found: list[NodeWithScore]) -> list[str]:
    """Return the documents that were seen in two generations, or in a text that is of two."""
    seen: dict[str, set[str]] = {}
    for hit in found:
        words = {word for word in hit.node.get_content().split() if word.startswith("generation")}
        seen.setdefault(hit.node.metadata["doc_id"], set()).update(words)
    return [doc_id for doc_id, generations in seen.items() if len(generations) != 1]


@pytest.mark.fault("A8")
@pytest.mark.slow
def test_no_answer_mixes_an_old_and_a_new_version_of_a_document(library: Library) -> None:
    write(library, 0)
    library.ingest()
    options = RetrievalSettings(candidates_k=200, budget_chars=100_000, top_k=200)
    retriever = MergingRetriever(library.corpus, LeafRetriever(library.corpus, library.embedder, options), options)
    done = threading.Event()
    problems: list[object] = []
    asked = [0] * ASKING

    def ask(who: int) -> None:
        try:
            while not done.is_set() or not asked[who]:
                found = retriever.retrieve(QueryBundle(TOPICS[who % len(TOPICS)]))
                problems.extend(mixtures(found))
                asked[who] += 1
        except Exception as error:  # noqa: BLE001  # the test tells it
            problems.append(error)

    threads = [threading.Thread(target=ask, args=(who,)) for who in range(ASKING)]
    for thread in threads:
        thread.start()
    try:
        for generation in range(1, GENERATIONS + 1):
            write(library, generation)
            library.ingest()
    finally:
        done.set()
        for thread in threads:
            thread.join()

    assert problems == []
    assert min(asked) > 0
    last = retriever.retrieve(QueryBundle("river"))
    assert len({hit.node.metadata["doc_id"] for hit in last}) == DOCUMENTS
    assert all(f"generation{GENERATIONS}" in hit.node.get_content() for hit in last)


class InterruptedLeaves(LeafRetriever):
    """A search after which, the first time, all that it found is replaced."""

    def __init__(self, library: Library, options: RetrievalSettings) -> None:
        super().__init__(library.corpus, library.embedder, options)
        self._library = library
        self._generation = 0

    def search(self, query: Query) -> list[LeafHit]:
        found = super().search(query)
        if not self._generation:
            self._generation = 1
            write(self._library, 1)
            self._library.ingest()
        return found


@pytest.mark.fault("A8")
def test_a_question_whose_finds_are_all_replaced_meanwhile_is_searched_again(library: Library) -> None:
    write(library, 0)
    library.ingest()
    options = RetrievalSettings()
    retriever = MergingRetriever(library.corpus, InterruptedLeaves(library, options), options)
    found = retriever.search(Query("river")).passages

    assert found
    assert all("generation1" in passage.text for passage in found)
