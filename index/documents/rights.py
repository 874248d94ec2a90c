"""Who may see a document: everybody, unless its metadata name the groups that may.

Flow: the groups of a caller -> **here** -> the condition that `catalogue.py` puts to the database, and the same for a
document at hand. Which groups a caller is in is not known here. A value that is neither a text nor a list of texts
names a group that nobody is in.
"""

from collections.abc import Mapping
from typing import Any

from index.documents.filters import Clause, missing_or_among

ALLOW = "allow"
"""The metadata key: a list of names of groups."""

Groups = frozenset[str]


def is_allowed(metadata: Mapping[str, Any], groups: Groups) -> bool:
    """Say whether these groups may see a document with these metadata."""
    named = metadata.get(ALLOW)
    return named is None or not groups.isdisjoint(named if isinstance(named, list) else [named])


def allowed(groups: Groups) -> Clause:
    """Return the condition that `is_allowed` is, for documents in a database."""
    return missing_or_among(ALLOW, sorted(groups))
