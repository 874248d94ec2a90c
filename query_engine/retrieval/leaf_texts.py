"""The text of leaves that were found, cut from their documents.

Flow: hits -> **here** -> rerankers (with the title), feedback and other models of words (without).
"""

from collections.abc import Sequence

from index.documents.span_tree import split_node_id
from index.documents.store import DocumentStore

# Longer than the longest leaf that is made today, of 512 tokens.
MAX_LEAF_CHARS = 8192


def leaf_texts(documents: DocumentStore, node_ids: Sequence[str], *, titled: bool = False) -> list[str]:
    """Return the leaves' texts, at most 8,192 characters of each, in the same order.

    The text is empty for a leaf whose document is gone meanwhile.

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
        # Older indexes hold leaves of any length.
        text = document.text[span.start : min(span.end, span.start + MAX_LEAF_CHARS)]
        texts.append(f"{document.title}\n{text}" if titled and document.title else text)
    return texts
