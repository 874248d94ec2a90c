"""The text of leaves that were found, cut from their documents.

Flow: hits -> **here** -> rerankers (with the title), feedback and other models of words (without).
"""

from collections.abc import Sequence

from index.documents.span_tree import split_node_id
from index.documents.store import DocumentStore


def leaf_texts(documents: DocumentStore, node_ids: Sequence[str], *, titled: bool = False) -> list[str]:
    """Return the leaves' texts, in the same order; the empty text for one whose document is gone meanwhile.

    Args:
        documents: hold the leaves.
        node_ids: of the leaves.
        titled: put the document's title on a line before the text.
    """
    places = [split_node_id(name) for name in node_ids]
    found = documents.get_versions(version for version, _ in places)
    texts = []
    for version, position in places:
        document = found.get(version)
        if document is None:
            texts.append("")
            continue
        span = document.tree[position]
        text = document.text[span.start : span.end]
        texts.append(f"{document.title}\n{text}" if titled and document.title else text)
    return texts
