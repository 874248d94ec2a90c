"""Search a corpus as if it lacked something: documents, or the leaves that give an answer away.

Flow: a question -> **here** (our retriever) -> passages -> `examples.py`. The usual search within the usual
budget: what is found instead of what is hidden is nearly what would be found if it were not there.
"""

from collections.abc import Callable, Collection

from llama_index.core.base.embeddings.base import BaseEmbedding

from eval.metrics import file_name
from index.corpus import Corpus
from index.documents.span_tree import split_node_id
from query_engine.retrieval.hybrid import LeafRetriever
from query_engine.retrieval.merging.retriever import MergingRetriever
from query_engine.schema.hit import LeafHit
from query_engine.schema.passage import Passage
from query_engine.schema.query import Query
from settings import RetrievalSettings

Hides = Callable[[str, str], bool]
"""Whether a leaf is hidden, by its document's id and its text."""


class HidingSearch:
    """Our retrieval with something hidden from it.

    Args:
        corpus: what to search.
        embedder: the model the corpus was built with.
        options: as in the service.
    """

    def __init__(self, corpus: Corpus, embedder: BaseEmbedding, options: RetrievalSettings) -> None:
        self._corpus = corpus
        self._embedder = embedder
        self._options = options

    def __call__(
        self, question: str, *, documents: Collection[str] = (), hides: Hides = lambda _doc_id, _text: False
    ) -> list[Passage]:
        """Return passages, best first.

        Args:
            question: to search for.
            documents: file names of hidden documents.
            hides: says which leaves of the others are hidden.
        """
        versions = self._corpus.documents.versions()
        visible = frozenset(version for doc_id, version in versions.items() if file_name(doc_id) not in documents)
        leaves = _HidingLeaves(self._corpus, self._embedder, self._options, hides)
        retriever = MergingRetriever(self._corpus, leaves, self._options)
        return list(retriever.search(Query(question, versions=visible)).passages)


class _HidingLeaves(LeafRetriever):
    def __init__(self, corpus: Corpus, embedder: BaseEmbedding, options: RetrievalSettings, hides: Hides) -> None:
        super().__init__(corpus, embedder, options)
        self._hides = hides

    def search(self, query: Query) -> list[LeafHit]:
        hits = super().search(query)
        documents = self._corpus.documents.get_versions(split_node_id(hit.node_id)[0] for hit in hits)
        shown = []
        for hit in hits:
            version, position = split_node_id(hit.node_id)
            document = documents[version]
            span = document.tree[position]
            if not self._hides(document.doc_id, document.text[span.start : span.end]):
                shown.append(hit)
        return shown
