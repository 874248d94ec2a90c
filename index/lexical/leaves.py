"""Documents -> the rows that the word index takes: one a leaf, with the names of its document."""

from collections.abc import Iterable, Iterator

from index.documents.span_tree import node_id
from index.documents.store import StoredDocument
from index.lexical.document_names import document_names


def word_rows(documents: Iterable[StoredDocument]) -> Iterator[tuple[str, str, str, str]]:
    """Yield (node id, version, text, names) of each leaf; its text begins with what its rows stand under."""
    for document in documents:
        names = document_names(document.title, document.doc_id)
        for position in document.tree.leaves:
            span = document.tree[position]
            own = document.text[span.start : span.end]
            text = "\n".join((*document.structure.names_missing(span.start, document.text), own))
            yield node_id(document.version, position), document.version, text, names
