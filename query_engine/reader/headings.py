"""The headings that places of a document stand under, as its structure has them. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from index.documents.guess import NUMBERED_LEVEL
from index.documents.structure import Structure


@dataclass(frozen=True, slots=True)
class HeadingPath:
    """The headings that a place of a document stands under, the outermost first.

    Attributes:
        titles: all of them.
        marked: how many are headings by the document's own marks; those that a number alone makes stand below them.
    """

    titles: tuple[str, ...] = ()
    marked: int = 0


def heading_paths(structure: Structure, text: str, offsets: Sequence[int]) -> list[HeadingPath]:
    """Return the headings that each of these offsets of a document stands under."""
    found = []
    for offset in offsets:
        position = structure.place(offset)
        above = structure.headings_above(position) if structure.blocks else ()
        marked = sum(structure.blocks[one].level <= NUMBERED_LEVEL for one in above)
        found.append(HeadingPath(structure.heading_path(position, text) if above else (), marked))
    return found


def marked_headings(structure: Structure) -> list[tuple[int, int, int]]:
    """Return where the titles of headings begin and end, each with its level; without those by numbers alone."""
    headings = (one for one in structure.blocks if one.kind == "heading" and one.level <= NUMBERED_LEVEL)
    return [(*one.inner, one.level) for one in headings]
