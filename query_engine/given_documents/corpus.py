"""Fill a corpus in memory with the documents that came with a question.

Flow: `Engines.for_documents` -> `index/memory_stores.py` -> **here**: cut, embed -> `engine.py`, which answers from it
as from any other. Pages that a search engine found are read as HTML before they come here.
"""

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from hashlib import sha256

import numpy as np

from index.build import Embedding
from index.corpus import Corpus
from index.documents.splitter import TreeSplitter
from index.documents.store import Document, StoredDocument
from index.embedding.batch import embed_documents
from query_engine.given_documents.sentence_leaves import with_sentence_leaves
from settings import ChunkSettings

logger = logging.getLogger(__name__)

NAME = "given documents"


class DistinctDocuments:
    """Keeps texts from being read twice, and gives names that are not taken."""

    def __init__(self) -> None:
        self._texts: set[bytes] = set()
        self._names: set[str] = set()

    def take(self, document: Document) -> Document | None:
        """Return a document under a name that no other has, or None if its text was taken before.

        White space does not make a text another one.
        """
        digest = sha256("".join(document.text.split()).encode()).digest()
        if digest in self._texts:
            return None
        self._texts.add(digest)
        name, number = document.doc_id, 1
        while name in self._names:
            number += 1
            name = f"{document.doc_id} ({number})"
        self._names.add(name)
        return replace(document, doc_id=name)


def add_documents(
    corpus: Corpus, documents: Sequence[Document], chunk: ChunkSettings, embedding: Embedding, *, sentences: bool
) -> None:
    """Cut and embed documents into a corpus in memory; blocks.

    A text that is given twice is kept once. What holds no words is cut out of a text and logged. Of two texts with
    one `doc_id` the second is named `doc_id (2)`.

    Args:
        corpus: nobody else reads or writes it meanwhile.
        documents: their `doc_id`s are not in the corpus yet.
        chunk: sizes of the passages; the same for all of a corpus, as the next two.
        embedding: the model.
        sentences: make single sentences the leaves and ignore `chunk`'s leaf size. Of a sentence longer than the
            model's window only the beginning is embedded.

    Raises:
        ModelError: the model failed.
        IndexDamagedError: a store failed.
    """
    splitter = TreeSplitter(chunk, embedding.model.count_tokens, embedding.passage_tokens)
    pipeline = embedding.manifest.identity.fingerprint()
    distinct = DistinctDocuments()
    new = [one for one in map(distinct.take, documents) if one is not None]
    stored = list(_cut(new, splitter, pipeline, sentences=sentences))
    if stored:
        texts = [text for document in stored for text in splitter.leaf_texts(document)]
        corpus.replace(stored, np.asarray(embed_documents(embedding.embedder, texts), np.float32))


def _cut(
    documents: Iterable[Document], splitter: TreeSplitter, pipeline: str, *, sentences: bool
) -> Iterator[StoredDocument]:
    for given in documents:
        document, rest = given.without_blobs()
        if rest.left_out:
            logger.warning("%s: %s", document.doc_id, rest.left_out)
        if rest.blank:
            continue
        tree = splitter.split(document)
        if sentences:
            tree = with_sentence_leaves(document.text, tree)
        if len(tree):
            yield StoredDocument.of(document, document.hash(pipeline), tree)
