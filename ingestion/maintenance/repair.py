"""Repair a corpus: what is derived from its documents is rebuilt from them.

Flow: `python -m ingestion doctor --repair` -> **here**: examine, mend what was found, examine again. Nothing is read
from source files. The documents themselves cannot be mended.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from errors import IndexDamagedError
from index.build import Embeddings, open_corpus, servers_of
from index.corpus import Corpus, check_corpus_name
from index.documents.span_tree import node_id, split_node_id
from index.documents.splitter import TreeSplitter
from index.documents.store import StoredDocument
from index.embedding.batch import embed_documents
from index.health.check import Diagnosis, Repair, examine
from index.layout.access import Writing
from index.maintenance.doctor import diagnose
from ingestion.pipeline.batching import grouped
from ingestion.pipeline.chunk_embed import BATCH_LEAVES, BATCH_STEPS
from ingestion.pipeline.embed import EmbedderSource
from settings import Settings


@dataclass(frozen=True, slots=True)
class RepairReport:
    """What was found, what was done about it, and what is found now."""

    before: Diagnosis
    done: list[str]
    after: Diagnosis

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON-ready values."""
        return asdict(self) | {"healthy": self.after.healthy}


def repair(name: str, settings: Settings) -> RepairReport:
    """Mend the named corpus; stopped or killed, the same command goes on where it ended.

    Raises:
        UnknownCorpusError: there is no such corpus.
        CorpusLockedError: another process holds it.
        IndexMismatchError: the settings embed otherwise than the corpus was.
        IndexDamagedError: the documents themselves are damaged.
        StorageError: the disk is full, or refuses.
        ModelError: leaves have to be embedded, and the model cannot be loaded.
    """
    check_corpus_name(name)
    embedding = Embeddings(settings).of(name)
    corpus = open_corpus(name, settings, embedding.opening_manifest(), access=Writing(alone=True))
    try:
        before = examine(settings.index.dir / name, servers_of(settings))
        splitter = TreeSplitter(settings.chunk, embedding.model.count_tokens, embedding.passage_tokens)
        done = Mender(corpus, embedding, splitter.leaf_texts).mend(before)
    finally:
        corpus.close()
    return RepairReport(before, done, diagnose(name, settings) if done else before)


class Mender:
    """Mends one corpus.

    Args:
        corpus: open, without its words and vectors.
        embedding: gives the embedder the corpus was made with, once a leaf has to be embedded.
        leaf_texts: what is embedded for each leaf of a document.
    """

    def __init__(
        self, corpus: Corpus, embedding: EmbedderSource, leaf_texts: Callable[[StoredDocument], list[str]]
    ) -> None:
        self._corpus = corpus
        self._embedding = embedding
        self._leaf_texts = leaf_texts

    def mend(self, diagnosis: Diagnosis) -> list[str]:
        """Do what the checks say; return what was done, in words.

        Raises:
            IndexDamagedError: the documents are damaged.
        """
        if Repair.NOTHING in diagnosis.repairs:
            findings = " ".join(check.finding or "" for check in diagnosis.checks if check.repair is Repair.NOTHING)
            raise IndexDamagedError(f"Corpus {diagnosis.corpus!r} cannot be mended: {findings}", Repair.NOTHING)
        steps: dict[Repair, Callable[[], object]] = {
            Repair.COUNT: self._corpus.recount,
            Repair.WORDS: self._words,
            Repair.VECTORS: self._vectors,
            Repair.LEAVES: self._leaves,
            # Last, because it writes to the other stores.
            Repair.SWEEP: self._corpus.sweep,
        }
        wanted = [step for step in steps if step in diagnosis.repairs]
        self._corpus.skip_examination()
        for step in wanted:
            steps[step]()
        return [str(step) for step in wanted]

    def _words(self) -> None:
        self._corpus.reset_words()
        for documents in _batches(self._corpus.documents.each()):
            self._corpus.add_words(documents)

    def _vectors(self) -> None:
        self._corpus.reset_vectors()
        self._leaves()

    def _leaves(self) -> None:
        places = self._corpus.leaf_places()
        orphans = []
        for name in self._corpus.vectors.ids():
            version, position = split_node_id(name)
            if position not in places.get(version, ()):
                orphans.append(name)
        self._corpus.vectors.delete_ids(orphans)
        for documents in _batches(self._corpus.documents.each()):
            self._embed_missing(documents)

    def _embed_missing(self, documents: list[StoredDocument]) -> None:
        texts: dict[str, str] = {}
        for document in documents:
            names = [node_id(document.version, position) for position in document.tree.leaves]
            texts |= zip(names, self._leaf_texts(document), strict=True)
        present = self._corpus.vectors.fetch(list(texts))
        missing = [name for name in texts if name not in present]
        for start in range(0, len(missing), BATCH_LEAVES):
            part = missing[start : start + BATCH_LEAVES]
            rows = embed_documents(self._embedding.embedder, [texts[name] for name in part])
            self._corpus.vectors.upsert(part, rows)


def _batches(documents: Iterable[StoredDocument]) -> Iterator[list[StoredDocument]]:
    return grouped(documents, lambda one: len(one.tree.leaves), max_weight=BATCH_LEAVES, max_items=BATCH_STEPS)
