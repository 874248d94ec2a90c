"""Documents with metadata of mixed kinds, and filters with the documents that meet them, for every database."""

from typing import Any

import numpy as np
import numpy.typing as npt

from index.documents.store import Document, Metadata, StoredDocument
from tests.fakes.corpora import tree_of

METADATA: dict[str, Metadata] = {
    "a": {"year": 2019, "tags": ["wind", "sea"], "draft": True, "name": "Ärger"},
    "b": {"year": 2024.5, "tags": [], "draft": False, "name": "100% sure"},
    "c": {"year": "n.d.", "tags": "wind", "odd key.[0]": 1},
    "d": {"name": ""},
}


def group(*entries: object, condition: str = "and") -> dict[str, Any]:
    """Join entries."""
    return {"filters": list(entries), "condition": condition}


def one(key: str, operator: str, value: object = None) -> dict[str, Any]:
    """A filter of one condition."""
    return {"filters": [{"key": key, "operator": operator, "value": value}]}


PARENTS: list[npt.NDArray[np.float32]] = [np.zeros((2, 4), np.float32)] * len(METADATA)


def filtered_documents() -> list[StoredDocument]:
    """Return the documents a, b, c, d."""
    return [
        StoredDocument.of(
            Document(
                name, f"Title {name}", "One. Two.", source=f"{name}.md", content_type="markdown", metadata=entries
            ),
            f"{position:020x}",
            tree_of("One. Two."),
        )
        for position, (name, entries) in enumerate(METADATA.items())
    ]


MEANINGS = [
    (one("year", "==", 2019), "a"),
    (one("year", "==", 2019.0), "a"),
    (one("year", "!=", 2019), "bc"),
    (one("year", ">", 2019), "b"),
    (one("year", ">=", 2019), "ab"),
    (one("year", "<", 2024.5), "a"),
    (one("year", "<=", 2024.5), "ab"),
    (one("year", ">", "a"), "c"),
    (one("year", "==", "2019"), ""),
    (one("year", "in", [2019, "n.d."]), "ac"),
    (one("year", "nin", [2019, "n.d."]), "b"),
    (one("draft", "==", True), "a"),
    (one("draft", "==", 1), ""),
    (one("draft", "!=", True), "b"),
    (one("tags", "contains", "wind"), "a"),
    (one("tags", "any", ["sun", "sea"]), "a"),
    (one("tags", "all", ["wind", "sea"]), "a"),
    (one("tags", "all", ["wind", "sun"]), ""),
    (one("tags", "is_empty"), "bd"),
    (one("name", "is_empty"), "cd"),
    (one("name", "text_match", "% s"), "b"),
    (one("name", "text_match", "SURE"), ""),
    (one("name", "text_match_insensitive", "SURE"), "b"),
    (one("name", "text_match_insensitive", "%"), "b"),
    (one("odd key.[0]", "==", 1), "c"),
    (one("doc_id", ">=", "c"), "cd"),
    (one("url", "is_empty"), "abcd"),
    (one("content_type", "==", "markdown"), "abcd"),
    (one("content_type", "==", 1), ""),
    (one("ingested_at", ">", "2000"), "abcd"),
    ({"filters": [{"key": "year", "value": 2019}]}, "a"),
    (group(one("year", ">", 0), one("year", "<", 2020)), "a"),
    (group(one("year", "==", 2019), one("doc_id", "==", "d"), condition="or"), "ad"),
    (group(one("year", ">", 0), one("doc_id", "==", "d"), condition="not"), "c"),
    (group(one("year", "!=", 2019), condition="not"), "ad"),
]
