"""Make a corpus in memory from the documents that came with a question.

Flow: `Engines.for_documents` -> **here**: cut, embed, `index/memory_stores.py` -> `engine.py`, which answers from it as
from any other. Pages that a search engine found are read as HTML before they come here.
"""

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from index.build import Embedding
from index.corpus import Corpus
from index.documents.splitter import TreeSplitter
from index.documents.store import Document, StoredDocument
from index.embedding.batch import embed_documents
from index.memory_stores import open_memory_corpus
from query_engine.given_documents.sentence_leaves import with_sentence_leaves
from settings import ChunkSettings

logger = logging.getLogger(__name__)

NAME = "given documents"


def corpus_for_documents(
    documents: Sequence[Document],
    chunk: ChunkSettings,
    embedding: Embedding,
    *,
    sentences: bool = False,
    name: str = NAME,
) -> Corpus:
    """Cut and embed documents, and return them as a corpus; close it after use. Blocks.

    A text that is given twice is kept once. What holds no words is cut out of a text and logged. Of two texts with
    one `doc_id` the second is named `doc_id (2)`.

    Args:
        documents: none makes an empty corpus.
        chunk: sizes of the passages.
        embedding: the model.
        sentences: make single sentences the leaves and ignore `chunk`'s leaf size. Of a sentence longer than the
            model's window only the beginning is embedded.
        name: of the corpus, for people.

    Raises:
        ModelError: the model failed.
        IndexDamagedError: a store failed.
    """
    corpus = open_memory_corpus(name, embedding.manifest)
    try:
        add_documents(corpus, documents, chunk, embedding, sentences=sentences)
    except BaseException:
        corpus.close()
        raise
    return corpus


def add_documents(
    corpus: Corpus, documents: Sequence[Document], chunk: ChunkSettings, embedding: Embedding, *, sentences: bool
) -> None:
    """Cut and embed further documents into a corpus made by `corpus_for_documents`; blocks.

    Args:
        corpus: nobody else reads or writes it meanwhile.
        documents: their `doc_id`s are not in the corpus yet.
        chunk: that of the corpus, as the next two.
        embedding: the model.
        sentences: make single sentences the leaves.

    Raises:
        ModelError: the model failed.
        IndexDamagedError: a store failed.
    """
    splitter = TreeSplitter(chunk, embedding.model.count_tokens, embedding.passage_tokens)
    pipeline = embedding.manifest.identity.fingerprint()
    stored = list(_cut(_distinct(documents), splitter, pipeline, sentences=sentences))
    if stored:
        texts = [text for document in stored for text in splitter.leaf_texts(document)]
        corpus.replace(stored, np.asarray(embed_documents(embedding.embedder, texts), np.float32))


def _distinct(documents: Iterable[Document]) -> Iterator[Document]:
    texts: set[str] = set()
    taken: set[str] = set()
    for document in documents:
        if document.text in texts:
            continue
        texts.add(document.text)
        name, number = document.doc_id, 1
        while name in taken:
            number += 1
            name = f"{document.doc_id} ({number})"
        taken.add(name)
        yield replace(document, doc_id=name)


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
