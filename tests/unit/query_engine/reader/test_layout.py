"""How a stretch of a document is laid out in units."""

from index.documents.guess import guessed_blocks
from index.documents.structure import Structure
from query_engine.reader.layout import Layout, lay_out
from query_engine.reader.leaves import passage_text

MINUTES = """# Board meeting

Present were Ada and Bo. The meeting began at 18:30.

## Decisions

The following was decided:

- Ada signs the contract. She has time until May.
- Bo orders posters.

1. Open the gate.
2. Close the gate.

| Item | Price | Stock |
|---|---|---|
| Rope | 12.50 | 3 |
| Bell | 40.00 | 1 |

Contacts
Reception: ext. 10
Workshop: ext. 11
"""


def laid_out(text: str) -> Layout:
    return lay_out(text, Structure(guessed_blocks(text)), 0, len(text))


def place_of(layout: Layout, text: str) -> int:
    return next(place for place in range(len(layout.units)) if layout.words(place).startswith(text))


def test_sentences_items_rows_and_lines_are_units_of_their_own() -> None:
    layout = laid_out(MINUTES)

    assert [(layout.block_of(place).kind, layout.words(place)) for place in range(len(layout.units))] == [
        ("heading", "Board meeting"),
        ("paragraph", "Present were Ada and Bo."),
        ("paragraph", "The meeting began at 18:30."),
        ("heading", "Decisions"),
        ("paragraph", "The following was decided:"),
        ("item", "Ada signs the contract."),
        ("item", "She has time until May."),
        ("item", "Bo orders posters."),
        ("item", "1. Open the gate."),
        ("item", "2. Close the gate."),
        ("row", "| Item | Price | Stock |"),
        ("row", "| Rope | 12.50 | 3 |"),
        ("row", "| Bell | 40.00 | 1 |"),
        ("paragraph", "Contacts"),
        ("pair", "Reception: ext. 10"),
        ("pair", "Workshop: ext. 11"),
    ]


def test_headings_headers_and_questions_are_labels() -> None:
    layout = laid_out(f"{MINUTES}\nWho may come?\n")

    labels = [layout.words(place) for place, unit in enumerate(layout.units) if unit.label]
    assert labels == ["Board meeting", "Decisions", "| Item | Price | Stock |", "Who may come?"]


def test_units_of_a_list_a_table_and_a_record_are_groups() -> None:
    layout = laid_out(MINUTES)
    groups = [unit.group for unit in layout.units]

    ada, rope, reception = (place_of(layout, text) for text in ("Ada signs", "| Rope", "Reception"))
    assert groups[ada] == groups[ada + 1] == groups[ada + 2]
    assert groups[rope - 1] == groups[rope] == groups[rope + 1]
    assert groups[reception] == groups[reception + 1]
    assert len({groups[ada], groups[rope], groups[reception], groups[0]}) == 4


def test_a_unit_knows_its_headings_and_what_it_goes_on_from() -> None:
    layout = laid_out(MINUTES)

    assert layout.headings(place_of(layout, "Bo orders")) == ("Board meeting", "Decisions")
    assert list(layout.texts_before(place_of(layout, "Bo orders"))) == ["The following was decided:"]
    assert list(layout.texts_before(place_of(layout, "| Bell"))) == ["Item | Price | Stock"]
    assert list(layout.texts_before(place_of(layout, "The meeting began"))) == ["Present were Ada and Bo."]
    assert list(layout.texts_before(place_of(layout, "Workshop"))) == []


def test_units_of_a_span_are_those_of_which_most_lies_in_it() -> None:
    layout = laid_out(MINUTES)
    start = MINUTES.index("Present")

    assert [layout.words(place) for place in layout.inside(start, start + 30)] == ["Present were Ada and Bo."]


def test_a_leaf_within_one_unit_still_holds_it() -> None:
    layout = laid_out("a sentence that goes on " * 20 + "and ends.")

    assert layout.inside(100, 150) == range(1)


def test_code_is_read_line_by_line() -> None:
    layout = laid_out("Run:\n\n```\na | b\n\n  c | d\n```\n\nDone it is.")

    assert [layout.words(place) for place in range(len(layout.units))] == ["Run:", "a | b", "c | d", "Done it is."]


def a_wide_table(columns: int) -> str:
    """Return a table as it is read from CSV: a record of `column: value` lines for each row."""
    rows = [[f"Hotel: Hotel {name}", *(f"Column {k}: value {k} of it" for k in range(columns))] for name in "ABC"]
    return "\n\n".join("\n".join(row) for row in rows)


def test_a_row_is_one_unit_unless_it_is_long() -> None:
    narrow, long = laid_out(a_wide_table(3)), laid_out(a_wide_table(40))

    assert len(narrow.units) == 3
    assert len(long.units) == 3 * 41


def test_only_what_stands_near_is_laid_out() -> None:
    text = "\n\n".join(f"Paragraph {number} stands here, by itself." for number in range(400))
    place = text.index("Paragraph 200 ")

    layout = lay_out(text, Structure(guessed_blocks(text)), place, place + 20, around_chars=200)

    assert 5 <= len(layout.units) <= 15
    assert [layout.words(one) for one in layout.inside(place, place + 20)] == ["Paragraph 200 stands here, by itself."]


def test_the_reader_sees_cells_with_the_names_of_their_columns() -> None:
    layout = laid_out(MINUTES)
    rows = range(place_of(layout, "| Rope"), place_of(layout, "| Bell") + 1)

    shown = passage_text("Minutes", layout, rows)

    assert [shown.text[slice(*unit)] for unit in shown.units] == [
        "Item: Rope; Price: 12.50; Stock: 3",
        "Item: Bell; Price: 40.00; Stock: 1",
    ]


def test_a_table_that_names_would_make_too_long_is_read_as_it_stands() -> None:
    rows = "".join(f"| {number} | {number} |\n" for number in range(40))
    layout = laid_out(f"| {'Width ' * 4}| {'Height ' * 4}|\n|---|---|\n{rows}")

    shown = passage_text("Sizes", layout, range(1, 41))

    assert shown.text == layout.text[layout.units[1].start : layout.units[40].end]
    assert [shown.text[slice(*unit)] for unit in shown.units] == [layout.words(place) for place in range(1, 41)]
