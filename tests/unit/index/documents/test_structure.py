"""Blocks of a document: they tile its text, survive storing, and know the headings above them."""

import random
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa

from errors import UnreadableError
from index.documents.guess import guessed_blocks
from index.documents.span_tree import Span, SpanTree
from index.documents.store import Document, DocumentStore, StoredDocument
from index.documents.structure import Block, Structure, check_blocks
from index.documents.tables import open_file, structures

TEXT = """# Boats

Hire one.

## Prices

- per hour
- per day
  - with a skipper

| Boat | Seats |
| --- | --- |
| Gannet | 4 |

```sh
hire --all
```

Harbour: Ness
Office: Pier 2
"""


def kinds(text: str) -> list[str]:
    return [block.kind for block in guessed_blocks(text)]


def words(text: str, kind: str) -> list[str]:
    return [text[slice(*block.inner)] for block in guessed_blocks(text) if block.kind == kind]


def test_each_kind_is_told_from_its_marks() -> None:
    assert kinds(TEXT) == [
        "heading", "paragraph", "heading", "item", "item", "item", "row", "row", "row", "code", "pair", "pair",
    ]  # fmt: skip
    assert words(TEXT, "heading") == ["Boats", "Prices"]
    assert words(TEXT, "item") == ["per hour", "per day", "with a skipper"]
    assert words(TEXT, "code") == ["hire --all"]


def test_cells_have_the_names_of_their_columns() -> None:
    *_, row = (block for block in guessed_blocks(TEXT) if block.kind == "row")
    assert row.columns == ("Boat", "Seats")
    assert [TEXT[slice(*cell)] for cell in row.cells] == ["Gannet", "4"]


def test_a_place_knows_the_headings_above_it() -> None:
    structure = Structure(guessed_blocks(TEXT))
    place = structure.place(TEXT.index("skipper"))
    assert structure.heading_path(place, TEXT) == ("Boats", "Prices")
    assert structure.heading_path(structure.place(0), TEXT) == ()


def test_what_is_packed_is_unpacked_the_same() -> None:
    structure = Structure(guessed_blocks(TEXT))
    assert Structure(structure.to_bytes()) == structure
    assert Structure(structure.to_bytes()).digest() == structure.digest()
    assert not Structure(Structure().to_bytes())


def test_blocks_of_any_text_tile_it() -> None:
    pieces = ["# a", "```", "- x", "| a | b |", "| --- |", "k: v", "1. s", "2 Go", "> q", "\n", "\n\n", "   ", "Word. "]
    pieces += ["A longer line of prose that is wrapped somewhere", "\tx\ty", "~~~~", "a    b    3", "1984. Dam", "|"]
    chosen = random.Random(7)
    for _ in range(3000):
        text = "".join(chosen.choice(pieces) + chosen.choice(["\n", "\n\n", ""]) for _ in range(chosen.randint(1, 12)))
        blocks = guessed_blocks(text)
        if text.strip():
            check_blocks(blocks, text)
            assert Structure(Structure(blocks).to_bytes()).blocks == blocks
        else:
            assert blocks == ()


@pytest.mark.parametrize(
    "blocks",
    [
        (Block("paragraph", 0, 3, (0, 3)),),
        (Block("paragraph", 0, 2, (0, 2)), Block("paragraph", 3, 5, (3, 5))),
        (Block("paragraph", 0, 5, (3, 2)),),
        (Block("row", 0, 5, (0, 5), cells=((2, 9),)),),
    ],
)
def test_blocks_that_do_not_tile_are_refused(blocks: tuple[Block, ...]) -> None:
    with pytest.raises(UnreadableError):
        check_blocks(blocks, "12345")


def test_documents_of_an_earlier_release_are_counted_and_guessed(tmp_path: Path) -> None:
    engine = open_file(tmp_path / "documents.sqlite")
    store = DocumentStore(engine)
    document = Document("a.md", "A", "# A\n\nText.")
    tree = SpanTree([Span(0, 0, 10, -1), Span(1, 0, 10, 0), Span(2, 0, 10, 1)])
    store.publish([StoredDocument.of(document, "a1" * 10, tree)], [np.zeros((2, 4), np.float32)])
    assert store.unstructured() == 0
    with engine.begin() as connection:
        connection.execute(sa.delete(structures))

    found = DocumentStore(engine).get("a.md")

    assert store.unstructured() == 1
    assert found is not None
    assert [block.kind for block in found.structure.blocks] == ["heading", "paragraph"]


@pytest.mark.parametrize(
    ("text", "headings"),
    [
        (
            "Release 7.2\n===========\nThe pump hums less.\n\nRelease 7.1\n===========\nNew seals.\n",
            ["Release 7.2", "Release 7.1"],
        ),
        ("The keeper and his lamp, a longer title\n---------------------------------------\nHe lit it\nat dusk.", None),
        ("A sum\n\n12\n-----------\n24 in all", []),  # the rule is not as long
        ("The wages of this week and of the next\nadd up\n======\nto 12.", []),
        ("Name | Age\n----------\nBob | 3", []),
        ("Kind regards\n\n--\nBo", []),
    ],
)
def test_a_line_with_a_rule_of_its_length_below_it_is_a_heading(text: str, headings: list[str] | None) -> None:
    found = [text[slice(*block.inner)] for block in guessed_blocks(text) if block.kind == "heading"]

    assert found == ([text.partition("\n")[0]] if headings is None else headings)
